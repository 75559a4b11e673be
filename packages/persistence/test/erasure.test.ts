// Erasing a subject: its events, states and snapshots can no longer be read, wherever copies of them are.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ActorRef, ActorSystem } from '@troupe/core'
import {
  durableState,
  eraseSubject,
  eventSourced,
  type Journal,
  journalEvents,
  type JournalSource,
  type Kind,
  memory,
  persistence,
  projection,
  sqliteJournal,
} from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { environment } from './contract/stage.ts'
import { kitWith } from './counter.ts'

type Guests =
  | { type: 'enter'; who: string; name: string; replyTo: ActorRef<readonly string[]> }
  | { type: 'ring'; replyTo: ActorRef<readonly string[]> }
  | { type: 'list'; replyTo: ActorRef<readonly string[]> }

const guestbook = (snapshotEvery: number, erased?: 'told'): Kind<Guests> =>
  eventSourced('guests', {
    initial: (): readonly string[] => [],
    events: {
      entered: (names, e: { who: string; name: string }) => [...names, e.name],
      rung: (names) => [...names, 'bell'],
    },
    commands: {
      enter(ctx, m) {
        ctx.persist({ type: 'entered', who: m.who, name: m.name })
        ctx.tell(m.replyTo, ctx.state)
      },
      ring(ctx, m) {
        ctx.persist({ type: 'rung' })
        ctx.tell(m.replyTo, ctx.state)
      },
      list: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    },
    snapshotEvery,
    subject: (e) => (e.type === 'entered' ? e.who : undefined),
    erased: erased === undefined ? undefined : ({ type, seq }) => ({ type, who: '', name: `somebody (${seq})` }),
  })

async function settled<T>(kit: TestKit, promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  await kit.settle()
  return promise
}
const list = (kit: TestKit, ref: ActorRef<Guests>): Promise<readonly string[]> => settled(kit, ref.ask({ type: 'list' }))
async function enter(kit: TestKit, ref: ActorRef<Guests>, ...guests: string[]): Promise<void> {
  for (const name of guests) await settled(kit, ref.ask({ type: 'enter', who: name.toLowerCase(), name }))
}

for (const snapshotEvery of [0, 2])
  describe(`with ${snapshotEvery === 0 ? 'no snapshots' : 'snapshots'}`, () => {
    test('events with a subject are sealed, others are not; all of it recovers; an erased subject is gone, and what was not its own is there', async () => {
      const source = memory()
      const kit = kitWith(source)
      const kind = guestbook(snapshotEvery)
      const ref = kit.system.spawn(kind('1'))
      await enter(kit, ref, 'Anna', 'Bert')
      await settled(kit, ref.ask({ type: 'ring' }))
      await enter(kit, ref, 'Anna')
      const texts = source.eventsOf('guests/1').map(({ data }) => data)
      expect(texts.map((text) => /Anna|Bert/.test(text))).toEqual([false, false, false, false])
      expect(texts[2]).toBe('{"type":"rung"}')
      expect(new Set(texts).size).toBe(4)
      kit.system.restart(ref)
      expect(await list(kit, ref)).toEqual(['Anna', 'Bert', 'bell', 'Anna'])
      const journal = await source.open(environment)
      const [head] = await journal.heads(['guests/1'])
      if (snapshotEvery > 0) expect(head!.snapshot!.data).not.toMatch(/Anna|Bert/)
      await settled(kit, eraseSubject(kit.system, 'anna'))
      await kit.advance(100)
      // The actor began anew by itself.
      expect(await list(kit, ref)).toEqual(['Bert', 'bell'])
      await enter(kit, ref, 'Carl')
      const refused = ref.ask({ type: 'enter', who: 'anna', name: 'Anna' })
      await expect(settled(kit, refused)).rejects.toMatchObject({ code: 'subject-erased' })
      await kit.advance(1000)
      expect(await list(kit, ref)).toEqual(['Bert', 'bell', 'Carl'])
      await kit.end()
      const later = kitWith(source)
      expect(await list(later, later.system.spawn(kind('1')))).toEqual(['Bert', 'bell', 'Carl'])
      await later.end()
    })
  })

test('something may stand for what was erased; readers and projections are given that, or nothing', async () => {
  const source = memory()
  const kit = kitWith(source)
  const kind = guestbook(0, 'told')
  const ref = kit.system.spawn(kind('1'))
  await enter(kit, ref, 'Anna', 'Bert')
  await settled(kit, eraseSubject(kit.system, 'anna'))
  await kit.advance(100)
  expect(await list(kit, ref)).toEqual(['somebody (1)', 'Bert'])
  const names = async (query: object): Promise<string[]> => {
    const seen: string[] = []
    for await (const { event } of journalEvents<{ type: 'entered'; name: string }>(kit.system, { once: true, ...query })) seen.push(event.name)
    return seen
  }
  expect(await names({ kind })).toEqual(['somebody (1)', 'Bert'])
  expect(await names({ kind: 'guests' })).toEqual(['Bert'])
  const seen: string[] = []
  kit.system.spawn(
    projection<{ type: string; name: string }>({ name: 'x', handle: (events) => void seen.push(...events.map(({ event }) => event.name)) }),
  )
  await kit.settle()
  expect(seen).toEqual(['Bert'])
  await kit.end()
})

/** A journal that waits, where a test says so, after it has read something and before it gives that away. */
function slowReader(source: JournalSource): JournalSource & { hold(what: 'replay' | 'key' | 'nothing'): void; go(): void } {
  let held: 'replay' | 'key' | 'nothing' = 'nothing'
  let go: () => void = () => undefined
  const wait = (what: string): Promise<void> => (held === what ? new Promise((resolve) => (go = resolve)) : Promise.resolve())
  return {
    name: 'slow',
    hold: (what) => void (held = what),
    go: () => go(),
    async open(given) {
      const journal = await source.open(given)
      return new Proxy(journal, {
        get(target, name: keyof Journal) {
          if (name === 'replay')
            return async function* (...args: Parameters<Journal['replay']>) {
              for await (const part of target.replay(...args)) {
                if ('damage' in part || held !== 'replay') {
                  yield part
                  continue
                }
                // In the middle of an actor: the first event is applied before the others are read.
                yield { ...part, events: part.events.slice(0, 1) }
                await wait('replay')
                yield { ...part, first: part.first + 1, events: part.events.slice(1) }
              }
            }
          if (name === 'key')
            return async (subject: string) => {
              const found = await target.key(subject)
              await wait('key')
              return found
            }
          const value = target[name] as unknown
          return typeof value === 'function' ? (value as (...of: unknown[]) => unknown).bind(target) : value
        },
      })
    },
  }
}

test.each(['replay', 'key'] as const)(
  'a subject that is erased while an actor recovers (%s) is not in its memory afterwards, and has no key',
  async (when) => {
    const source = memory()
    const before = kitWith(source)
    await enter(before, before.system.spawn(guestbook(0)('1')), 'Anna', 'Bert')
    await before.end()
    const journal = slowReader(source)
    const kit = kitWith(journal)
    await kit.settle()
    journal.hold(when)
    const ref = kit.system.spawn(guestbook(0)('1'))
    await kit.settle()
    journal.hold('nothing')
    await settled(kit, eraseSubject(kit.system, 'anna'))
    journal.go()
    await kit.advance(1000)
    expect(await list(kit, ref)).toEqual(['Bert'])
    const late = ref.ask({ type: 'enter', who: 'anna', name: 'Anna' }).catch((cause: { code: string }) => cause.code)
    await kit.advance(1000)
    expect(await late).toBe('subject-erased')
    await kit.end()
  },
)

test('a subject that was erased elsewhere fails the write that finds out, and nothing of it is stored', async () => {
  const source = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(guestbook(0)('1'))
  await kit.settle()
  await (await source.open(environment)).eraseKey('anna')
  const entering = ref.ask({ type: 'enter', who: 'anna', name: 'Anna' })
  await expect(settled(kit, entering)).rejects.toMatchObject({ code: 'subject-erased', subject: 'anna' })
  await kit.advance(1000)
  expect(await list(kit, ref)).toEqual([])
  expect(source.eventsOf('guests/1')).toEqual([])
  await kit.end()
})

test('what another system erased is refused though its key is still known here: nothing is acknowledged that nobody could read', async () => {
  const source = memory()
  const [one, two] = [kitWith(source, { scope: 'one' }), kitWith(source, { scope: 'two' })]
  const [lobby, bar] = [one.system.spawn(guestbook(0)('lobby')), two.system.spawn(guestbook(0)('bar'))]
  const garden = two.system.spawn(guestbook(0)('garden'))
  await enter(one, lobby, 'Anna')
  await enter(two, bar, 'Anna', 'Bert')
  await enter(two, garden, 'Anna')
  await settled(one, eraseSubject(one.system, 'anna'))
  const asked = [
    bar.ask({ type: 'enter', who: 'anna', name: 'Anna again' }).catch((cause: { code: string }) => cause.code),
    garden.ask({ type: 'enter', who: 'carl', name: 'Carl' }),
  ]
  await two.advance(1000)
  expect(await Promise.all(asked)).toEqual(['subject-erased', ['Anna', 'Carl']])
  expect(source.eventsOf('guests/bar').length).toBe(2)
  // Whoever had her in memory has not any more, and knows at once from now on.
  expect([await list(two, bar), await list(two, garden)]).toEqual([['Bert'], ['Carl']])
  await expect(settled(two, garden.ask({ type: 'enter', who: 'anna', name: 'Anna' }))).rejects.toMatchObject({ code: 'subject-erased' })
  await one.end()
  await two.end()
})

test('what another system erased is gone from the memory of actors that stay alive, within a minute', async () => {
  const source = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(guestbook(2)('1'))
  await enter(kit, ref, 'Anna', 'Bert', 'Carl')
  await kit.advance(100_000)
  await (await source.open(environment)).eraseKey('anna')
  await kit.advance(60_000)
  expect(await list(kit, ref)).toEqual(['Bert', 'Carl'])
  // Also where it has only recovered, and while the journal cannot be read for a while.
  kit.system.restart(ref)
  await (await source.open(environment)).eraseKey('bert')
  source.faults.read = 1
  await kit.advance(100_000)
  source.faults.read = 0
  await kit.advance(60_000)
  expect(await list(kit, ref)).toEqual(['Carl'])
  await kit.end()
})

test('a write for somebody whose key is missing, and was not erased, is refused: nobody could read it', async () => {
  const source = memory()
  const blind: JournalSource = {
    name: 'blind',
    open: async (of) =>
      new Proxy(await source.open(of), {
        get(target, name: keyof Journal) {
          if (name === 'keyless') return async (subjects: readonly string[]) => subjects.map((subject) => ({ subject, is: 'none' }))
          const value = target[name] as unknown
          return typeof value === 'function' ? (value as (...of: unknown[]) => unknown).bind(target) : value
        },
      }),
  }
  const kit = kitWith(blind)
  const ref = kit.system.spawn(guestbook(0)('1'))
  await expect(settled(kit, ref.ask({ type: 'enter', who: 'anna', name: 'Anna' }))).rejects.toMatchObject({
    code: 'persist-failed',
    cause: { code: 'journal-damaged' },
  })
  await kit.advance(100)
  await settled(kit, ref.ask({ type: 'ring' }))
  expect(source.eventsOf('guests/1').length).toBe(1)
  await kit.end()
})

test('keys that cannot be had now fail what needs them, or are waited for', async () => {
  for (const whenAway of ['reject', 'wait'] as const) {
    const source = memory()
    const kit = kitWith(source, { whenAway })
    const ref = kit.system.spawn(guestbook(0)('1'))
    await kit.settle()
    source.faults.read = 1
    const entering = settled(kit, ref.ask({ type: 'enter', who: 'anna', name: 'Anna' }, { timeout: 60_000 })).then(
      () => 'answered',
      (cause: { code: string }) => cause.code,
    )
    await kit.advance(500)
    source.faults.read = 0
    await kit.advance(30_000)
    expect(await entering).toBe(whenAway === 'reject' ? 'persist-failed' : 'answered')
    expect(await list(kit, ref)).toEqual(whenAway === 'reject' ? [] : ['Anna'])
    await kit.end()
  }
})

test('a state with a subject is sealed; erased, it is as before its first change, and its revision and timers go on', async () => {
  type Box = { type: 'put'; what: string; replyTo: ActorRef<number> } | { type: 'remind' } | { type: 'look'; replyTo: ActorRef<string> }
  const box: Kind<Box> = durableState('box', {
    initial: () => 'empty',
    commands: {
      put(ctx, m) {
        ctx.set(m.what)
        ctx.tell(m.replyTo, ctx.seq)
      },
      remind: (ctx) => ctx.timers.once('x', 5000, { type: 'remind' }),
      look: (ctx, m) => ctx.tell(m.replyTo, `${ctx.state} ${ctx.timers.has('x')}`),
    },
    subject: (state) => (state === 'empty' ? undefined : 'anna'),
  })
  const source = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(box('1'))
  await settled(kit, ref.ask({ type: 'put', what: 'a letter' }))
  ref.tell({ type: 'remind' })
  await kit.settle()
  const journal = await source.open(environment)
  expect((await journal.heads(['box/1']))[0]!.state!.data).not.toContain('letter')
  kit.system.restart(ref)
  expect(await settled(kit, ref.ask({ type: 'look' }))).toBe('a letter true')
  await settled(kit, eraseSubject(kit.system, 'anna'))
  await kit.advance(100)
  expect(await settled(kit, ref.ask({ type: 'look' }))).toBe('empty true')
  await expect(settled(kit, ref.ask({ type: 'put', what: 'another' }))).rejects.toMatchObject({ code: 'subject-erased' })
  await kit.end()
})

describe('beside a SQLite journal', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-erasure-'))
    file = join(folder, 'journal.db')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const everything = (at: string): string =>
    readdirSync(at, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
      .join('\n')

  test('keys are files of their own: no copy of the journal has one, and none is left of one that was erased; a lost or damaged one is refused', async () => {
    const first = await sqliteJournal(file).open(environment)
    const secret = new Uint8Array(32).map((_, i) => i + 100)
    const hex = Buffer.from(secret).toString('hex')
    expect(await first.addKey('anna', secret)).toEqual({ is: 'key', key: secret })
    expect(everything(`${file}-keys`)).toContain(hex)
    // Read when it is closed: closing the file here would drop the locks that SQLite has on it.
    await first.close()
    const bytes = readFileSync(file)
    expect(bytes.includes(Buffer.from(secret)) || bytes.includes(hex)).toBe(false)
    const second = await sqliteJournal(file).open(environment)
    await second.eraseKey('anna')
    await second.close()
    expect(everything(folder)).not.toContain(hex)
    const journal = await sqliteJournal(file).open(environment)
    expect(await journal.key('anna')).toEqual({ is: 'erased' })
    await journal.addKey('bert', secret)
    const path = readdirSync(`${file}-keys`, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .find((one) => readFileSync(one, 'latin1').includes(hex))
    writeFileSync(path!, readFileSync(path!, 'latin1').replace(hex, `ff${hex.slice(2)}`))
    await expect(journal.key('bert')).rejects.toMatchObject({ code: 'journal-damaged', where: path })
    expect((await journal.verify()).damages).toMatchObject([{ where: path, problem: 'it is not a key' }])
    await journal.close()
  })

  test('what another process erased is refused, and no longer known, though its key was read before', async () => {
    const system = ActorSystem.create('hotel', { extensions: [persistence({ journal: sqliteJournal(file) })], logger: false })
    const ref = system.spawn(guestbook(0)('lobby'))
    await ref.ask({ type: 'enter', who: 'anna', name: 'Anna' })
    const beside = await sqliteJournal(file).open(environment)
    await beside.eraseKey('anna')
    await beside.close()
    await expect(ref.ask({ type: 'enter', who: 'anna', name: 'Anna again' })).rejects.toMatchObject({ code: 'subject-erased' })
    expect(await ref.ask({ type: 'list' })).toEqual([])
    expect(await ref.ask({ type: 'enter', who: 'bert', name: 'Bert' })).toEqual(['Bert'])
    await system.shutdown()
  })

  test('a backup without its keys says so, and is not taken for an erased one', async () => {
    const extensions = [persistence({ journal: sqliteJournal(file) })]
    const system = ActorSystem.create('guests', { extensions })
    expect(await system.spawn(guestbook(0)('1')).ask({ type: 'enter', who: 'anna', name: 'Anna' })).toEqual(['Anna'])
    await system.shutdown()
    rmSync(`${file}-keys`, { recursive: true })
    const again = ActorSystem.create('guests', { extensions, logger: false })
    await expect(again.started(again.spawn(guestbook(0)('1')))).rejects.toMatchObject({
      cause: { code: 'journal-damaged', where: 'the key of "anna"' },
    })
    await again.shutdown()
  })
})
