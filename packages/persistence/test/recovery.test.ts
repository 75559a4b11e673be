// From the journal to memory: events, snapshots, versions, permits, damage; P2 and P3 as properties.

import type { ActorRef } from '@troupe/core'
import {
  eventSourced,
  type Journal,
  type JournalSource,
  type KeepOptions,
  type Kind,
  memory,
  type MemorySource,
  type StoredForm,
} from '@troupe/persistence'
import { run } from '@troupe/persistence/testing'
import type { TestKit } from '@troupe/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { environment, event, run as runOf } from './contract/stage.ts'
import { type Counter, counter, kitWith } from './counter.ts'

async function value(kit: TestKit, ref: ActorRef<Counter>): Promise<number> {
  const answer = ref.ask({ type: 'get' })
  await kit.settle()
  return answer
}

/** A journal with events of an id, written by hand. */
async function filled(write: (journal: Journal) => Promise<void>): Promise<MemorySource> {
  const source = memory()
  const journal = await source.open(environment)
  await journal.raise('default', 1)
  await write(journal)
  return source
}
const added = (by: number, version = 1) => event(0, { version, data: JSON.stringify({ type: 'added', by }) })

async function startError(source: JournalSource, kind: Kind<Counter> = counter): Promise<{ message: string; cause: unknown; code: string }> {
  const kit = kitWith(source)
  const ref = kit.system.spawn(kind('a'))
  const started = kit.system.started(ref).then(
    () => undefined,
    (cause: { cause: unknown }) => cause.cause,
  )
  await kit.settle()
  const error = await started
  await kit.end()
  return error as never
}

describe('recovery', () => {
  test('P2, P3: at every event, from any snapshot, what recovers is what was; run says the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 25 }),
        fc.integer({ min: 0, max: 7 }),
        async (amounts, snapshotEvery) => {
          const source = memory()
          const kind: Kind<Counter> = eventSourced('counter', {
            initial: (): { n: number; seen: readonly number[] } => ({ n: 0, seen: [] }),
            events: { added: (s, e: { by: number }) => ({ n: s.n * 3 + e.by, seen: [...s.seen, e.by] }) },
            commands: {
              inc: (ctx, m) => ctx.persist({ type: 'added', by: m.by }),
              add: (ctx, m) => ctx.tell(m.replyTo, ctx.state.n),
              twice: (ctx) => ctx.unhandled(),
              get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.n * 1000 + ctx.seq + ctx.state.seen.length),
              fail: (ctx) => ctx.unhandled(),
              huh: (ctx) => ctx.unhandled(),
              pass: (ctx) => ctx.unhandled(),
              end: (ctx) => ctx.stop(),
              effect: (ctx) => ctx.unhandled(),
            },
            snapshotEvery,
          })
          const kit = kitWith(source)
          const ref = kit.system.spawn(kind('a'))
          let pure = 0
          for (const [i, by] of amounts.entries()) {
            ref.tell({ type: 'inc', by })
            const live = await value(kit, ref)
            kit.system.restart(ref)
            expect(await value(kit, ref)).toBe(live)
            const events = amounts.slice(0, i + 1).map((n) => ({ type: 'added', by: n }))
            const { outputs } = run(kind, events, { type: 'get', replyTo: ref as never })
            pure = (outputs[0] as { message: number }).message
            expect(pure).toBe(live)
          }
          await kit.end()
        },
      ),
      { numRuns: 15 },
    )
  })

  test('many actors are read together, within permits; waiting for one is no part of the timeout', async () => {
    let reads = 0
    let most = 0
    const sizes: number[] = []
    const inner = memory({ faults: { delay: 100 } })
    const counted: JournalSource = {
      name: 'counted',
      async open(given) {
        const journal = await inner.open(given)
        return new Proxy(journal, {
          get(target, name: keyof Journal) {
            const member = target[name] as unknown
            if (name !== 'heads') return typeof member === 'function' ? (member.bind(target) as unknown) : member
            return async (ids: readonly string[]) => {
              sizes.push(ids.length)
              most = Math.max(most, ++reads)
              try {
                return await target.heads(ids)
              } finally {
                reads--
              }
            }
          },
        })
      },
    }
    const kit = kitWith(counted, { recovery: { permits: 2, timeout: 150 } })
    const refs = Array.from({ length: 2000 }, (_, i) => kit.system.spawn(counter(`${i}`)))
    await kit.advance(20_000)
    expect(refs.every((ref) => kit.system.phaseOf(ref) === 'running')).toBe(true)
    expect(sizes.length).toBeLessThanOrEqual(10)
    expect(Math.max(...sizes)).toBe(256)
    expect(most).toBe(2)
    await kit.end()
  })

  test('actors that are stopped while they wait for a permit take none', async () => {
    const kit = kitWith(memory({ faults: { delay: 100 } }), { recovery: { permits: 1 } })
    kit.system.spawn(counter('first'))
    await kit.settle()
    for (let i = 0; i < 3; i++) {
      const late = kit.system.spawn(counter(`late ${i}`))
      await kit.settle()
      kit.system.kill(late)
    }
    await kit.advance(1000)
    const last = kit.system.spawn(counter('last'))
    await kit.advance(1000)
    expect(kit.system.phaseOf(last)).toBe('running')
    await kit.end()
  })

  test('a small actor starts with its own last event, however long the largest of its batch takes', async () => {
    const inner = await filled(async (journal) => {
      await journal.append([runOf('counter/big', 1, 0, { events: Array.from({ length: 3500 }, () => added(1)) })])
      for (const key of ['a', 'b']) await journal.append([runOf(`counter/${key}`, 1, 0, { events: [added(2), added(3)] })])
    })
    let go: () => void = () => undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    let parts = 0
    const source: JournalSource = {
      name: 'slow',
      async open(given) {
        const journal = await inner.open(given)
        return new Proxy(journal, {
          get(target, name: keyof Journal) {
            const member = target[name] as unknown
            if (name === 'replay')
              return async function* (...args: Parameters<Journal['replay']>) {
                for await (const part of target.replay(...args)) {
                  if (part.id === 'counter/big' && ++parts > 1) await held
                  yield part
                }
              }
            return typeof member === 'function' ? (member.bind(target) as unknown) : member
          },
        })
      },
    }
    const kit = kitWith(source)
    const [big, a, b] = ['big', 'a', 'b'].map((key) => kit.system.spawn(counter(key)))
    await kit.settle()
    expect(parts).toBe(2)
    expect([await value(kit, a!), await value(kit, b!), kit.system.phaseOf(big!)]).toEqual([5, 5, 'starting'])
    go()
    expect(await value(kit, big!)).toBe(3500)
    await kit.end()
  })

  test('a journal that does not answer ends the start after recovery.timeout, and it is tried again', async () => {
    const inner = memory()
    let deaf = true
    const source: JournalSource = {
      name: 'deaf',
      async open(given) {
        const journal = await inner.open(given)
        return new Proxy(journal, {
          get(target, name: keyof Journal) {
            const member = target[name] as unknown
            if (name === 'heads' && deaf) return () => new Promise(() => undefined)
            return typeof member === 'function' ? (member.bind(target) as unknown) : member
          },
        })
      },
    }
    const kit = kitWith(source, { recovery: { timeout: 1000 } })
    const ref = kit.system.spawn(counter('a'))
    await kit.advance(1100)
    expect(kit.system.failures.list().at(-1)?.cause).toMatchObject({ code: 'recovery-stalled', id: 'counter/a' })
    deaf = false
    await kit.advance(1000)
    expect(await value(kit, ref)).toBe(0)
    await kit.end()
  })

  test('P8: what cannot be read is refused by name; nothing is guessed', async () => {
    const damaged = await filled(async (journal) => void (await journal.append([runOf('counter/a', 1, 0, { events: [added(1), added(2)] })])))
    damaged.damage('counter/a', 2)
    expect(await startError(damaged)).toMatchObject({ code: 'journal-damaged', where: 'counter/a event 2' })
    const garbled = await filled(async (journal) => void (await journal.append([runOf('counter/a', 1, 0, { events: [event(1, { data: '{' })] })])))
    expect(await startError(garbled)).toMatchObject({ code: 'recovery-failed', id: 'counter/a', seq: 1 })
    const foreign = await filled(
      async (journal) => void (await journal.append([runOf('counter/a', 1, 0, { events: [event(1, { data: '{"type":"moved"}' })] })])),
    )
    expect((await startError(foreign)).message).toMatch(/nothing is known of events of type "moved"/)
    const newer = await filled(async (journal) => void (await journal.append([runOf('counter/a', 1, 0, { events: [added(1, 2)] })])))
    expect((await startError(newer)).message).toMatch(/version 2 of counter, and this is version 1/)
  })

  test('a snapshot that cannot be read, or of another version, is not used: an earlier one, or all events, are; without events it is refused', async () => {
    const owner = { scope: 'default', epoch: 1 }
    const base = async (journal: Journal): Promise<void> => {
      await journal.append([runOf('counter/a', 1, 0, { events: [added(1), added(2), added(3), added(4)] })])
    }
    const snapshot = (seq: number, data: string, version = 1) => ({ id: 'counter/a', seq, version, data, time: 0, ...owner })
    const total = async (source: MemorySource): Promise<number> => {
      const kit = kitWith(source)
      const n = await value(kit, kit.system.spawn(counter('a')))
      await kit.end()
      return n
    }
    const good = await filled(async (journal) => {
      await base(journal)
      await journal.saveSnapshot(snapshot(2, '{"state":300}'))
    })
    expect(await total(good)).toBe(307)
    const older = await filled(async (journal) => {
      await base(journal)
      await journal.saveSnapshot(snapshot(2, '{"state":300}'))
      await journal.saveSnapshot(snapshot(3, '{broken'))
    })
    expect(await total(older)).toBe(307)
    const others = await filled(async (journal) => {
      await base(journal)
      await journal.saveSnapshot(snapshot(2, '{"state":300}', 7))
      await journal.saveSnapshot(snapshot(3, '{broken'))
    })
    expect(await total(others)).toBe(10)
    const gone = await filled(async (journal) => {
      await base(journal)
      await journal.saveSnapshot(snapshot(3, '{"state":300}', 7))
      await journal.deleteEvents('counter/a', 3, owner)
    })
    expect(await startError(gone)).toMatchObject({ code: 'recovery-failed', message: expect.stringMatching(/up to 3 were deleted/) as string })
    const compacted = await filled(async (journal) => {
      await base(journal)
      await journal.saveSnapshot(snapshot(4, '{"state":300}'))
      await journal.deleteEvents('counter/a', 4, owner)
    })
    const kit = kitWith(compacted)
    const ref = kit.system.spawn(counter('a'))
    const answer = ref.ask({ type: 'add', by: 1 })
    await kit.settle()
    await expect(answer).resolves.toBe(301)
    await kit.end()
    const journal = await compacted.open(environment)
    expect((await journal.heads(['counter/a']))[0]).toMatchObject({ seq: 5, deleted: 4 })
  })

  test('a snapshot is of what is durable, is kept beside the commands, and one that fails costs nothing but time', async () => {
    const source = memory({ faults: { snapshot: 1 } })
    const kit = kitWith(source)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    for (let i = 0; i < 25; i++) ref.tell({ type: 'inc', by: 1 })
    await kit.settle()
    kit.expectLog('a snapshot was not kept; recovery replays more events until the next one is')
    source.faults.snapshot = 0
    for (let i = 0; i < 25; i++) ref.tell({ type: 'inc', by: 1 })
    await kit.settle()
    const journal = await source.open(environment)
    const [head] = await journal.heads(['counter/a'])
    expect(JSON.parse(head!.snapshot!.data)).toEqual({ state: head!.snapshot!.seq })
    await kit.end()
  })
})

describe('evolution', () => {
  const stored = [
    added(1),
    added(2),
    event(0, { type: 'noise', data: '{"type":"noise"}' }),
    event(0, { type: 'pair', data: '{"type":"pair","a":10,"b":20}' }),
  ]
  const upcast = ({ type, event: old, version }: StoredForm) => {
    expect(version).toBe(1)
    const { by, a, b } = old as { by: number; a: number; b: number }
    if (type === 'noise') return undefined
    if (type === 'pair') return [a, b].map((n) => ({ type: 'added' as const, by: n * 100 }))
    return { type: 'added' as const, by: by * 100 }
  }
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (given: unknown) => ((given as { by: number }).by >= 100 ? { value: given } : { issues: [{ message: 'by is below 100' }] }),
    },
  }
  const ignored = (): void => undefined
  const others = { inc: ignored, add: ignored, twice: ignored, fail: ignored, huh: ignored, pass: ignored, end: ignored, effect: ignored }
  const cents = (more: Pick<KeepOptions<{ type: 'added'; by: number }>, 'upcast' | 'schema'>): Kind<Counter> =>
    eventSourced('counter', {
      initial: () => 0,
      events: { added: (n, e: { by: number }) => n + e.by },
      commands: { ...others, get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
      version: 2,
      upcast: more.upcast,
      schema: more.schema,
    })

  test('events of an earlier version become none, one or several of today, checked after that', async () => {
    const source = await filled(async (journal) => void (await journal.append([runOf('counter/a', 1, 0, { events: stored })])))
    const kit = kitWith(source)
    expect(await value(kit, kit.system.spawn(cents({ upcast, schema })('a')))).toBe(3300)
    await kit.end()
    expect((await startError(source, cents({ schema }))).message).toMatch(/the schema refuses it: by is below 100/)
  })
})
