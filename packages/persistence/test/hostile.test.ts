// Code and data that do what they should not, wherever persistence calls or takes them: refused by name, and nothing else is harmed.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ActorRef, ActorSystem, receive, same } from '@troupe/core'
import {
  type CommandContext,
  durableState,
  EventSourced,
  eventSourced,
  type Journal,
  type JournalSource,
  JournalUnavailable,
  type KeepOptions,
  type Kind,
  memory,
  persistence,
  sqliteJournal,
  type Write,
} from '@troupe/persistence'
import { expect, test } from 'vitest'
import { environment, event, run } from './contract/stage.ts'
import { counter, kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type Ctx = CommandContext<number, { type: 'added'; by: unknown }, Odd>
type Odd = { type: 'do'; act: (ctx: Ctx) => void; replyTo: ActorRef<number> }

const odd = (more: Partial<KeepOptions<never>> & { apply?: (n: number, by: unknown) => number; initial?: () => number } = {}): Kind<Odd> => {
  const { apply = (n, by) => n + (by as number), initial = () => 0, ...keep } = more
  return eventSourced('odd', {
    initial,
    events: { added: (n, e: { by: unknown }) => apply(n, e.by) },
    commands: {
      do(ctx, m) {
        m.act(ctx as unknown as Ctx)
        ctx.tell(m.replyTo, ctx.state)
      },
    },
    ...(keep as object),
  })
}

/** Runs a command, and says how it ended. */
async function attempt(kit: ReturnType<typeof kitWith>, ref: ActorRef<Odd>, act: (ctx: Ctx) => void): Promise<unknown> {
  const asked = ref.ask({ type: 'do', act }, { timeout: 20_000 }).catch((cause: { code?: string; message: string }) => cause.code ?? cause.message)
  await kit.advance(15_000)
  return asked
}

test('an event handler that persists, a context that is used by somebody else or later, and a command within a command are refused', async () => {
  const source = memory()
  const kit = kitWith(source)
  let leaked: Ctx | undefined
  let within: (() => void) | undefined
  const apply = (n: number, by: unknown): number => {
    within?.()
    return n + (by as number)
  }
  const ref = kit.system.spawn(odd({ apply })('a'))
  const other = kit.system.spawn(odd()('b'))
  expect(
    await attempt(kit, ref, (ctx) => {
      leaked = ctx
      within = () => {
        within = undefined
        ctx.persist({ type: 'added', by: 100 })
      }
      ctx.persist({ type: 'added', by: 1 })
    }),
  ).toBe('not-allowed')
  expect(await attempt(kit, ref, (ctx) => ctx.persist({ type: 'added', by: 1 }))).toBe(1)
  expect(await attempt(kit, other, () => leaked!.persist({ type: 'added', by: 50 }))).toBe('not-allowed')
  for (const late of [
    () => leaked!.persist({ type: 'added', by: 5 }),
    () => leaked!.tell(other as never, {} as never),
    () => leaked!.timers,
    () => leaked!.stop(),
  ])
    expect(late).toThrow(/only while a command runs/)
  expect(source.eventsOf('odd/a')).toHaveLength(1)
  expect(source.eventsOf('odd/b')).toEqual([])
  await kit.end()
})

test('an event above maxEventBytes is refused before it is encoded, nothing of its command is stored, and the actor goes on', async () => {
  const source = memory()
  const kit = kitWith(source, { maxEventBytes: 1000 })
  const ref = kit.system.spawn(odd({ apply: (n) => n + 1 })('a'))
  const persist = (...all: unknown[]): Promise<unknown> =>
    attempt(kit, ref, (ctx) => {
      for (const by of all) ctx.persist({ type: 'added', by })
    })
  expect(await persist('small', 'x'.repeat(1000))).toBe('event-too-large')
  expect(await persist(Array.from({ length: 10 }, () => 'y'.repeat(101)))).toBe('event-too-large')
  expect(await persist('small')).toBe(1)
  expect(source.eventsOf('odd/a').map(({ data }) => data)).toEqual(['{"type":"added","by":"small"}'])
  await kit.end()
})

test('values that cannot be kept are refused with their place, and the actor goes on; huge ones are kept', async () => {
  const source = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(odd({ apply: (n) => n + 1 })('a'))
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)])
  const bad = [
    () => undefined,
    Symbol('x'),
    circle,
    deep(5000),
    new (class Money {})(),
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('bang')
        },
      },
    ),
    {
      get price() {
        throw new Error('bang')
      },
    },
    new WeakMap(),
    Promise.resolve(1),
  ]
  for (const by of bad) expect(await attempt(kit, ref, (ctx) => ctx.persist({ type: 'added', by }))).toBe('not-storable')
  const mute = new Proxy(
    {},
    {
      get: () => {
        throw new Error('bang')
      },
    },
  )
  for (const wrong of [null, 5, 5n, circle, mute, 'added', {}, { type: 5 }, { type: '$sent' }, { type: 'removed' }, { type: '__proto__' }])
    expect(await attempt(kit, ref, (ctx) => ctx.persist(wrong as never))).toBe('not-allowed')
  const fine = [
    new Map([[new Date(0), new Set([1n])]]),
    new Uint8Array(3),
    -0,
    Number.NaN,
    { $: 'date', v: 1 },
    { toJSON: 5 },
    JSON.parse('{"__proto__":{"x":1}}') as unknown,
  ]
  for (const by of fine) expect(typeof (await attempt(kit, ref, (ctx) => ctx.persist({ type: 'added', by })))).toBe('number')
  expect(await attempt(kit, ref, (ctx) => ctx.persist({ type: 'added', by: 'x'.repeat(5_000_000) }))).toBe(fine.length + 1)
  expect(source.eventsOf('odd/a')).toHaveLength(fine.length + 1)
  expect(({} as { x?: number }).x).toBeUndefined()
  await kit.end()
})

test('what is wrong with how stored events are read ends the start by name: upcasts and schemas that throw or return nonsense, a beginning that cannot be made', async () => {
  const source = memory()
  const journal = await source.open(environment)
  await journal.raise('default', 1)
  await journal.append([run('odd/a', 1, 0, { events: [event(1, { data: '{"type":"added","by":1}' })] })])
  const bang = (): never => {
    throw new Error('bang')
  }
  const schema = (validate: (value: unknown) => unknown): object => ({ schema: { '~standard': { version: 1, vendor: 'x', validate } } })
  const trials: Record<string, object> = {
    'upcast from version 1 failed': { version: 2, upcast: bang },
    'it became null': { version: 2, upcast: () => null },
    'it became 5': { version: 2, upcast: () => [5] },
    'which is not an event': { version: 2, upcast: () => ({}) },
    'applying added failed': { apply: bang },
    'its initial state could not be made': { initial: bang },
    'the schema threw': schema(bang),
    'the schema refuses it: no': schema(() => ({ issues: [{ message: 'no' }] })),
    'validates asynchronously': schema(() => Promise.resolve({ value: 1 })),
  }
  for (const [why, more] of Object.entries(trials)) {
    const kit = kitWith(source)
    const ref = kit.system.spawn(odd(more as never)('a'))
    const started = kit.system.started(ref).then(
      () => 'started',
      (cause: { cause: unknown }) => cause.cause,
    )
    await kit.settle()
    expect(await started).toMatchObject({ code: 'recovery-failed', id: 'odd/a', message: expect.stringMatching(why) as string })
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  }
})

test('a write that the journal could not take at any time fails alone, also where a journal that is away is waited for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-hostile-'))
  const system = ActorSystem.create('odd', {
    extensions: [persistence({ journal: sqliteJournal(join(folder, 'journal.db')), whenAway: 'wait' })],
    logger: false,
  })
  // As it is stored each NUL takes two bytes.
  const long = system.spawn(counter('漢\0'.repeat(200)))
  const [failed, fine] = await Promise.all([
    long.ask({ type: 'add', by: 1 }).catch((cause: { code: string }) => cause.code),
    system.spawn(counter('a')).ask({ type: 'add', by: 1 }),
  ])
  expect([failed, fine]).toEqual(['persist-failed', 1])
  await system.shutdown()
  rmSync(folder, { recursive: true, force: true })
})

test('P4: nothing gets past the gate by forwarding, offering, stopping or killing another, or by an adapter', async () => {
  const seen: string[] = []
  const source = memory({ faults: { delay: 100 } })
  const kit = kitWith(source)
  const witness = kit.system.spawn(
    receive<unknown>((_ctx, m) => {
      seen.push(`saw ${JSON.stringify(m)}`)
      return same
    }),
  )
  const victim = kit.system.spawn(receive<unknown>(() => same))
  class Leaky extends EventSourced<number, { type: 'x' }> {
    static readonly persistence = { kind: 'leaky' }
    protected initial(): number {
      return 0
    }
    protected apply(n: number): number {
      return n + 1
    }
    try(how: string): string {
      this.persist({ type: 'x' })
      if (how === 'forward') this.ctx.forward(witness)
      if (how === 'offer') void witness.offer('offered').catch((cause: { code: string }) => void seen.push(cause.code))
      if (how === 'tell') this.ctx.adapt((m: string) => m as never).tell('adapted')
      if (how === 'stop') victim.stop()
      if (how === 'publish') witness.tell('told')
      return how
    }
  }
  const ref = kit.system.spawn(Leaky, { args: ['1'] })
  await kit.advance(500)
  const ended = async (how: string): Promise<unknown> => {
    const asked = ref.ask.try(how).catch((cause: { code: string }) => cause.code)
    // Memory has it, and the journal may not have it yet.
    await kit.settle()
    expect(seen.filter((one) => one.startsWith('saw'))).toEqual(shown)
    await kit.advance(2000)
    return asked
  }
  let shown: string[] = []
  expect(await ended('forward')).toBe('not-allowed')
  expect(await ended('offer')).toBe('offer')
  expect(seen).toEqual(['not-allowed'])
  const phases: string[] = [kit.system.phaseOf(victim)]
  const stopping = ref.ask.try('stop')
  await kit.settle()
  phases.push(kit.system.phaseOf(victim))
  await kit.advance(1000)
  phases.push(kit.system.phaseOf(victim))
  await stopping
  expect(phases).toEqual(['running', 'running', 'terminated'])
  expect(await ended('publish')).toBe('publish')
  shown = ['saw "told"']
  expect(seen.filter((one) => one.startsWith('saw'))).toEqual(shown)
  await kit.end()
})

test('in flight is bounded in bytes too: an actor with a megabyte on its way takes no further message', async () => {
  const source = memory({ faults: { delay: 50 } })
  const kit = kitWith(source)
  const ref = kit.system.spawn(odd({ apply: (n) => n + 1 })('a'))
  await kit.advance(200)
  const big = 'x'.repeat(400_000)
  for (let i = 0; i < 10; i++) ref.tell({ type: 'do', act: (ctx) => ctx.persist({ type: 'added', by: big }), replyTo: kit.probe<number>().ref })
  await kit.settle()
  expect((await kit.system.ledger()).queued).toBeGreaterThanOrEqual(6)
  await kit.advance(5000)
  expect(source.eventsOf('odd/a')).toHaveLength(10)
  await kit.end()
})

test('a state or a delivery that cannot be written any more, because somebody changed it since, fails its own actor; the others go on', async () => {
  const journal = heldJournal()
  journal.through = true
  const kit = kitWith(journal, { find: () => undefined })
  type Cell = { at: Record<string, unknown> }
  type Box =
    | { type: 'put'; state: Cell; replyTo: ActorRef<string> }
    | { type: 'later'; replyTo: ActorRef<string> }
    | { type: 'send'; what: Cell; replyTo: ActorRef<string> }
    | { type: 'ring' }
  const box: Kind<Box> = durableState('box', {
    initial: (): Cell => ({ at: {} }),
    commands: {
      put(ctx, m) {
        ctx.set(m.state)
        ctx.tell(m.replyTo, 'put')
      },
      later(ctx, m) {
        ctx.timers.once('t', 1e6, { type: 'ring' })
        ctx.tell(m.replyTo, 'set')
      },
      send(ctx, m) {
        ctx.deliver(box, 'c', m.what as never)
        ctx.tell(m.replyTo, 'sent')
      },
      ring: () => undefined,
    },
  })
  const ref = kit.system.spawn(box('a'))
  const other = kit.system.spawn(counter('b'))
  const later = async (): Promise<unknown> => {
    const asked = ref.ask({ type: 'later' }, { timeout: 5000 }).catch((cause: { code: string }) => cause.code)
    await kit.advance(6000)
    return asked
  }
  const state: Cell = { at: {} }
  const put = ref.ask({ type: 'put', state })
  await kit.settle()
  expect(await put).toBe('put')
  state.at['self'] = state
  const added = other.ask({ type: 'add', by: 3 }, { timeout: 5000 })
  expect(await later()).toBe('not-storable')
  expect(await added).toBe(3)
  // What is delivered is read when its record is written, which has to wait for the write of another.
  journal.through = false
  const busy = other.ask({ type: 'add', by: 4 }, { timeout: 5000 })
  await kit.settle()
  const what: Cell = { at: {} }
  const sent = ref.ask({ type: 'send', what }, { timeout: 5000 }).catch((cause: { code: string }) => cause.code)
  await kit.settle()
  what.at['self'] = what
  journal.through = true
  await journal.waiting[0]!.end('store')
  await kit.advance(100)
  expect([await busy, await sent]).toEqual([7, 'persist-failed'])
  // It began anew from what is stored.
  expect(await later()).toBe('set')
  await kit.end()
})

test('a system that ends waits out no pause that its journal is given, whether that cannot be written or cannot be opened', async () => {
  for (const away of ['append', 'open'] as const) {
    const inner = memory()
    const journal: JournalSource = {
      name: 'away',
      async open(given) {
        if (away === 'open') throw new JournalUnavailable('away', 'it is away')
        const opened = await inner.open(given)
        return new Proxy(opened, {
          get(target, name: keyof Journal) {
            if (name === 'append') return async (group: readonly Write[]) => group.map(() => ({ is: 'failed', cause: new Error('away') }))
            const value = target[name] as unknown
            return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
          },
        })
      },
    }
    const kit = kitWith(journal, { whenAway: 'wait' })
    kit.system.spawn(counter('a')).tell({ type: 'inc', by: 1 })
    await kit.advance(30_000)
    const standing = { ended: false }
    void kit.system.shutdown({ deadline: 100 }).then(() => (standing.ended = true))
    await kit.advance(200)
    expect([away, standing.ended]).toEqual([away, true])
  }
})
