// The source that everybody who looks subscribes to: idle while nobody does, one round for all, flow and traces where they are wanted.

import { Actor, type ActorRef, type Behavior, type LedgerReport, receive, same, setup } from '@troupe/core'
import { coreOf, fuse } from '@troupe/core/internal'
import { ObservationSource } from '../src/source/source.ts'
import type { Update } from '../src/source/update.ts'
import { eventSourced, type Kind, persistence } from '@troupe/persistence'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { heldJournal } from '../../persistence/test/held-journal.ts'

function sourceOf(kit: TestKit): ObservationSource {
  return new ObservationSource(kit.system, { every: 1000, mute: [] })
}
const sink = (): Behavior<unknown> => receive(() => same)

test('nothing is armed before somebody subscribes, and after the last has gone', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const core = coreOf(kit.system)
  const armed = (): readonly unknown[] => [core.stirred !== undefined, fuse.sampler !== undefined, kit.system.metrics().subscriptions]
  expect(armed()).toEqual([false, false, 0])
  const first = source.subscribe(() => {})
  const second = source.subscribe(() => {}, { flow: true })
  await kit.settle()
  expect(armed()).toEqual([true, true, 1])
  second()
  expect(armed()).toEqual([true, false, 1])
  first()
  await kit.settle()
  expect(armed()).toEqual([false, false, 0])
})

test('every round tells all who look the same, once a second, with a number that has no gaps', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const [a, b]: Update[][] = [[], []]
  const ends = [source.subscribe((u) => a!.push(u)), source.subscribe((u) => b!.push(u))]
  await kit.advance(5000)
  expect(a!.map((u) => u.seq)).toEqual([1, 2, 3, 4, 5, 6])
  expect(b).toEqual(a)
  expect(a![0]!.parts[0]!.whole).toBe(true)
  expect(a![1]!.parts[0]!.whole).toBe(false)
  for (const end of ends) end()
})

test('where looking takes long actors are looked at more rarely, and the system is told of all the same', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const map = kit.system.spawn(sink(), { name: 'map' })
  await kit.settle()
  const updates: Update[] = []
  const end = source.subscribe((update) => {
    updates.push(update)
    // As if a page had worked for a tenth of a second: a fiftieth of five seconds.
    if (update.surveyed !== false) source.work(100)
  })
  await kit.settle()
  for (let i = 0; i < 10; i++) {
    map.tell({ type: 'position' })
    await kit.advance(1000)
  }
  // The second does not wait for what the first took: only then anybody knows how fast actors are.
  expect(updates.map(({ surveyed }) => (surveyed === false ? '-' : 'S')).join('')).toBe('SS----S----')
  expect(updates.filter(({ surveyed, parts }) => parts.length !== (surveyed === false ? 0 : 1))).toEqual([])
  const handled = updates.map(({ metrics }) => metrics.messages.handled)
  expect(handled.map((n, i) => n - (handled[i - 1] ?? n)).slice(1)).toEqual(Array.from({ length: 10 }, () => 1))
  expect(source.picture.get(map.uid, 'processed')).toBe(6)
  // Whoever comes later does not wait for it.
  const late: Update[] = []
  const leave = source.subscribe((update) => late.push(update))
  await kit.advance(1000)
  expect(late.map(({ surveyed }) => surveyed)).toEqual([true])
  expect(source.picture.get(map.uid, 'processed')).toBe(10)
  leave()
  end()
})

test('a thread that does not answer delays no round: the ledger is reported in the round after it was counted', async () => {
  await using kit = createTestKit()
  const core = coreOf(kit.system)
  const report = await kit.system.ledger()
  let count = (_report: LedgerReport): void => {}
  let counts = 0
  const look = { survey: async () => ({ parts: [], silent: [1] }), names: async () => [], waits: async () => [], leave: () => {} }
  core.otherPlaces = { look, ledger: () => (counts++, new Promise<LedgerReport>((resolve) => (count = resolve))) } as never
  const updates: Update[] = []
  const end = sourceOf(kit).subscribe((update) => updates.push(update))
  await kit.advance(12_000)
  expect(updates.map(({ seq }) => seq)).toEqual(Array.from({ length: 13 }, (_, i) => i + 1))
  // One count at a time.
  expect([updates.filter(({ ledger }) => ledger !== undefined), counts]).toEqual([[], 1])
  count(report)
  await kit.advance(3000)
  expect(updates.flatMap(({ seq, ledger }) => (ledger === undefined ? [] : [[seq, ledger]]))).toEqual([[14, report]])
  expect(counts).toBe(2)
  end()
  core.otherPlaces = undefined
})

test('one that throws is logged, and the others are told all the same', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  let told = 0
  const ends = [
    source.subscribe(() => {
      throw new Error('no')
    }),
    source.subscribe(() => void told++),
  ]
  await kit.advance(1000)
  expect(told).toBe(2)
  kit.expectLog('somebody who looks on failed')
  for (const end of ends) end()
})

test('flow says who sends what to whom: actors, timers, and whoever is no actor', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const map = kit.system.spawn(sink(), { name: 'map' })
  const drone = kit.system.spawn(
    receive<{ type: 'fly' | 'start' }>((ctx, m) => {
      if (m.type === 'start') ctx.timers.every('fly', 100, { type: 'fly' })
      else map.tell({ type: 'position' })
      return same
    }),
    { name: 'drone' },
  )
  drone.tell({ type: 'start' })
  await kit.settle()
  const flows: Update['flow'][number][] = []
  const end = source.subscribe((u) => flows.push(...u.flow), { flow: true })
  await kit.settle()
  map.tell({ type: 'hello' })
  await kit.advance(2000)
  const sum = (from: unknown, to: number, type: string): number =>
    flows.filter((f) => f.from === from && f.to === to && f.type === type).reduce((all, f) => all + f.messages, 0)
  expect(sum('outside', map.uid, 'hello')).toBe(1)
  expect(sum('timers', drone.uid, 'fly')).toBe(20)
  expect(sum(drone.uid, map.uid, 'position')).toBe(20)
  expect(flows.every((f) => f.from !== map.uid)).toBe(true)
  end()
})

test('under load one of many is looked at, at random, and what that comes to is about right', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const core = coreOf(kit.system)
  let spent = 0
  const now = core.runtime.now.bind(core.runtime)
  core.runtime.now = () => now() + spent
  const [a, b] = ['a', 'b'].map((name) => kit.system.spawn(sink(), { name }))
  await kit.settle()
  const updates: Update[] = []
  const end = source.subscribe((u) => updates.push(u), { flow: true })
  await kit.settle()
  const messages = 400_000
  for (let i = 0; i < messages; i++) {
    // One after the other, as in a ring: a fixed gap would see only one of them. A million a second.
    ;(i % 2 === 0 ? a : b)!.tell('x')
    spent += 0.001
    if (i % 1000 === 999) await kit.settle()
  }
  await kit.advance(1000)
  const flows = updates.flatMap((u) => u.flow)
  const seen = (uid: number): number => flows.filter((f) => f.to === uid).reduce((all, f) => all + f.messages, 0)
  expect(updates.at(-1)!.sampling).toBeGreaterThan(50)
  for (const ref of [a, b]) {
    expect(seen(ref!.uid)).toBeGreaterThan(messages / 2 / 1.5)
    expect(seen(ref!.uid)).toBeLessThan((messages / 2) * 1.5)
  }
  end()
})

test('the next message of a type is found also where it is sent by a handler that is followed already', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const planner = kit.system.spawn(
    receive<unknown>(() => same),
    { name: 'planner' },
  )
  const orders = kit.system.spawn(
    receive<unknown>(() => {
      planner.tell({ type: 'plan' })
      return same
    }),
    { name: 'orders' },
  )
  const end = source.subscribe(() => {}, { traces: true })
  await kit.advance(5000)
  let found: number | undefined
  void source.traceNext('plan').then((id) => (found = id))
  orders.tell({ type: 'order' })
  await kit.settle()
  const trace = source.traces.find((t) => t.type === 'order')
  expect(trace?.spans.map(({ type }) => type)).toEqual(['order', 'plan'])
  expect(found).toBe(trace!.id)
  end()
})

test('messages that leave with one commit of a journal are each in the trace of their own command', async () => {
  const journal = heldJournal()
  await using kit = createTestKit({ extensions: [persistence({ journal })] })
  const source = sourceOf(kit)
  const heard = kit.system.spawn(sink(), { name: 'heard' })
  type Save = { type: 'first' } | { type: 'mine' } | { type: 'theirs' } | { type: 'others' }
  const saved = (ctx: { persist(event: { type: 'saved' }): void; tell(ref: ActorRef<unknown>, m: unknown): void }, m: Save): void => {
    ctx.persist({ type: 'saved' })
    ctx.tell(heard, { type: `${m.type}-saved` })
  }
  const saver: Kind<Save> = eventSourced('saver', {
    initial: () => 0,
    events: { saved: (n) => n + 1 },
    commands: { first: saved, mine: saved, theirs: saved, others: saved },
  })
  const [a, b, c] = ['a', 'b', 'c'].map((id) => kit.system.spawn(saver(id))) as [ActorRef<Save>, ActorRef<Save>, ActorRef<Save>]
  await kit.settle()
  const end = source.subscribe(() => {}, { traces: true })
  await kit.advance(1000)
  const stored = async (): Promise<void> => {
    await kit.settle()
    while (journal.waiting.length > 0) {
      await journal.waiting[0]!.end('store')
      await kit.settle()
    }
  }
  const spansOf = (type: string): string[] | undefined =>
    source.traces.find((trace) => trace.type === type)?.spans.map((span) => `${span.type} of ${span.parent}`)
  // The command that is followed begins the commit, and others leave with it.
  void source.traceNext('first')
  a.tell({ type: 'first' })
  b.tell({ type: 'theirs' })
  c.tell({ type: 'others' })
  await stored()
  expect(spansOf('first')).toEqual(['first of undefined', 'first-saved of 0'])
  // It leaves with a commit that another began.
  void source.traceNext('mine')
  for (const [ref, type] of [
    [b, 'theirs'],
    [c, 'mine'],
    [a, 'others'],
  ] as const)
    ref.tell({ type })
  await stored()
  expect(spansOf('mine')).toEqual(['mine of undefined', 'mine-saved of 0'])
  end()
})

test('a trace follows a message through mailboxes and handlers, forwards, questions and answers', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  type Plan = { type: 'plan'; replyTo: ActorRef<string> }
  const planner = kit.system.spawn(
    receive<Plan>((_ctx, m) => {
      m.replyTo.tell('route')
      return same
    }),
    { name: 'planner' },
  )
  const district = kit.system.spawn(
    receive<unknown>(async (ctx) => {
      await ctx.ask(planner, { type: 'plan' })
      return same
    }),
    { name: 'district' },
  )
  const orders = kit.system.spawn(
    receive<unknown>((ctx) => {
      ctx.forward(district)
      return same
    }),
    { name: 'orders' },
  )
  await kit.settle()
  const end = source.subscribe(() => {}, { traces: true })
  await kit.settle()
  const next = source.traceNext('order')
  orders.tell({ type: 'order' })
  await kit.settle()
  const trace = source.traces.find((t) => t.type === 'order')!
  expect(await next).toBe(trace.id)
  expect(trace.spans.map(({ how, type, from, to, parent }) => [how, type, from, to, parent])).toEqual([
    ['tell', 'order', 'outside', orders.uid, undefined],
    ['forward', 'order', orders.uid, district.uid, 0],
    ['ask', 'plan', district.uid, planner.uid, 1],
    ['answer', 'answer', planner.uid, district.uid, 2],
  ])
  for (const span of trace.spans) {
    expect(span.takenAt).toBeGreaterThanOrEqual(span.sentAt)
    expect(span.doneAt).toBeGreaterThanOrEqual(span.takenAt!)
  }
  end()
  await kit.checkLedger()
})

test('several requests for the next message of a type are pending at once; one that is aborted, or outlives the last subscription, rejects', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const actor = kit.system.spawn(sink(), { name: 'actor' })
  const end = source.subscribe(() => {}, { traces: true })
  const given = new AbortController()
  const [first, second, gone, never] = [
    source.traceNext('one'),
    source.traceNext('two'),
    source.traceNext('one', { signal: given.signal }).catch((cause: Error) => cause.name),
    source.traceNext('three').catch((cause: Error) => cause.message),
  ]
  given.abort()
  expect(await gone).toBe('AbortError')
  actor.tell({ type: 'two' })
  await kit.settle()
  actor.tell({ type: 'one' })
  await kit.settle()
  const idOf = (type: string): number => source.traces.find((trace) => trace.type === type)!.id
  expect(await Promise.all([first, second])).toEqual([idOf('one'), idOf('two')])
  end()
  expect(await never).toMatch(/No message of type three was traced: the last subscription/)
})

test('what a timer sends is a trace of its own, which says whose handler set the timer; of one that is set again and again, not every tick', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  type Bell = { type: 'start' | 'ring' | 'again' }
  const other = kit.system.spawn(sink(), { name: 'other' })
  const bell = kit.system.spawn(
    receive<Bell>((ctx, m) => {
      if (m.type === 'start') {
        ctx.timers.once('later', 500, { type: 'ring' })
        ctx.timers.once('elsewhere', 300, { type: 'x' }, { to: other })
      }
      // Set anew by each tick: a chain of them must not be followed for ever at its own pace.
      if (m.type !== 'start') ctx.timers.once('again', 1, { type: 'again' })
      return same
    }),
    { name: 'bell' },
  )
  await kit.settle()
  const end = source.subscribe(() => {}, { traces: true })
  await kit.settle()
  void source.traceNext('start')
  bell.tell({ type: 'start' })
  await kit.advance(1000)
  const [start, ring, elsewhere] = ['start', 'ring', 'x'].map((type) => source.traces.find((t) => t.type === type)!)
  for (const [trace, to] of [
    [ring, bell.uid],
    [elsewhere, other.uid],
  ] as const) {
    const [first] = trace!.spans
    expect(first).toMatchObject({ from: 'timers', to, parent: undefined, setBy: { trace: start!.id, id: 0, type: 'start' } })
    expect(first!.doneAt).toBeDefined()
  }
  expect(start!.spans[0]!.setBy).toBeUndefined()
  // At most ten a second because of that, and ten by chance.
  const again = source.traces.filter((t) => t.type === 'again')
  expect(again.length).toBeGreaterThan(1)
  expect(again.length).toBeLessThan(25)
  end()
  // Nobody looks any more: what was set while somebody did ticks as ever.
  bell.tell({ type: 'start' })
  await kit.advance(1000)
  kit.system.kill(bell)
  await kit.checkLedger()
})

test('a name is looked for below those above it alone, and what sort each actor is costs no names', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const leaf = (): Behavior<unknown> => receive(() => same)
  const halls = ['a', 'b'].map((name) =>
    kit.system.spawn(
      setup<unknown>((ctx) => {
        for (let i = 0; i < 300; i++) ctx.spawn(leaf(), { name: `leaf-${i}` })
        return leaf()
      }),
      { name },
    ),
  )
  await kit.settle()
  const end = source.subscribe(() => {})
  await kit.settle()
  const uids = [...source.picture.uids].filter((uid) => source.picture.get(uid, 'parent') === halls[1]!.uid)
  const wanted = uids[200]!
  const walked: number[] = []
  // Where one goes below a hall, the last of its children comes first.
  const restore = halls.map((hall, i) => {
    const children = coreOf(kit.system).mine(hall, 'look at').children!
    const { last } = children
    const get = (): typeof last => {
      walked.push(i)
      return last
    }
    Object.defineProperty(children, 'last', { configurable: true, get })
    return () => Object.defineProperty(children, 'last', { configurable: true, enumerable: true, writable: true, value: last })
  })
  expect((await source.names([wanted])).get(wanted)?.path).toMatch(/^\/user\/b\/leaf-/)
  expect(walked).toEqual([1])
  const { kinds } = await source.kinds()
  expect(kinds.filter((kind) => kind === 'leaf-*')).toHaveLength(600)
  for (const back of restore) back()
  end()
})

test('following messages changes nothing about them: senders, headers, restarts, stashes and class actors are as without', async () => {
  const run = async (looked: boolean): Promise<unknown> => {
    await using kit = createTestKit()
    const source = sourceOf(kit)
    const end = looked ? source.subscribe(() => {}, { traces: true, flow: true }) : () => {}
    await kit.settle()
    const seen: unknown[] = []
    class Cart extends Actor {
      add(item: string): number {
        seen.push(['cart', item])
        if (item === 'bad') throw new Error('bad')
        return item.length
      }
    }
    const cart = kit.system.spawn(Cart, { name: 'cart' })
    let open = false
    const door = kit.system.spawn(
      receive<{ type: string }>((ctx, m) => {
        seen.push([m.type, ctx.sender?.path, ctx.headers['k'], ctx.incarnation])
        if (m.type === 'fail') throw new Error('broken')
        if (m.type === 'open') {
          open = true
          ctx.stash.unstashAll()
        } else if (!open) ctx.stash.add(m)
        return same
      }),
      { name: 'door' },
    )
    for (const type of ['a', 'b', 'fail', 'open', 'c']) {
      door.tell({ type }, { sender: cart, headers: { k: type } })
      // Far enough apart that each begins a trace.
      await kit.advance(200)
    }
    seen.push(await Promise.all([cart.ask.add('book'), kit.advance(200)]).then(([n]) => n))
    cart.tell.add('bad')
    await kit.advance(2000)
    const report = await kit.checkLedger()
    end()
    return [seen, report]
  }
  expect(await run(true)).toEqual(await run(false))
})

test('a recording holds copies, says what it could not copy, and whether it has all of the present incarnation', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const ref = kit.system.spawn(
    receive<{ type: string; list?: number[]; to?: unknown }>((_ctx, m) => {
      if (m.type === 'fail') throw new Error('broken')
      m.list?.push(99)
      return same
    }),
    { name: 'it' },
  )
  await kit.settle()
  ref.tell({ type: 'before' })
  await kit.settle()
  const recording = source.record('/user/it', 4)!
  ref.tell({ type: 'add', list: [1] }, ref)
  ref.tell({ type: 'send', to: () => {} })
  await kit.settle()
  expect(recording.recorded).toMatchObject([
    { what: 'message', type: 'add', sender: '/user/it', value: { type: 'add', list: [1] }, copied: true },
    { what: 'message', type: 'send', value: undefined, copied: false },
  ])
  // Something came before it was recorded.
  expect(recording.complete).toBe(false)
  ref.tell({ type: 'fail' })
  await kit.advance(1000)
  expect(recording.complete).toBe(true)
  // What led to the failure is kept beside what came after it.
  expect(recording.before?.complete).toBe(false)
  expect(recording.before?.recorded.filter(({ what }) => what === 'message').map(({ type }) => type)).toContain('fail')
  for (let i = 0; i < 10; i++) ref.tell({ type: `n${i}` })
  await kit.settle()
  expect(recording.recorded.map((r) => r.type)).toEqual(['n6', 'n7', 'n8', 'n9'])
  expect(recording.complete).toBe(false)
  recording.stop()
  ref.tell({ type: 'after' })
  await kit.settle()
  expect(recording.recorded.at(-1)!.type).toBe('n9')
  expect(source.record('/user/nobody')).toBeUndefined()
})

test('several record one actor, and who ends first takes nothing from the others; with the last the actor is as it was', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const ref = kit.system.spawn(
    receive<string>(() => same),
    { name: 'it' },
  )
  await kit.settle()
  const cell = coreOf(kit.system).mine(ref, 'look')
  const { options } = cell
  const first = source.record('/user/it')!
  const second = source.record('/user/it')!
  ref.tell('a')
  await kit.settle()
  first.stop()
  first.stop()
  ref.tell('b')
  await kit.settle()
  const said = (recording: typeof first): string[] => recording.recorded.map(({ value }) => String(value))
  expect([said(first), said(second)]).toEqual([['a'], ['a', 'b']])
  second.stop()
  expect(cell.options).toBe(options)
  expect(cell.extras?.flight).toBeUndefined()
})

test('of two systems of one process both are sampled, each by those who look at it', async () => {
  await using one = createTestKit()
  await using other = createTestKit()
  const kits = [one, other]
  const seen = kits.map((): Update['flow'][number][] => [])
  const sinks = kits.map(({ system }) => system.spawn(sink(), { name: 'sink' }))
  const sources = kits.map(sourceOf)
  const ends = sources.map((source, i) => source.subscribe((update) => seen[i]!.push(...update.flow), { flow: true, traces: true }))
  for (const kit of kits) await kit.settle()
  for (let i = 0; i < 10; i++) for (const [k, ref] of sinks.entries()) ref.tell({ type: k === 0 ? 'first' : 'second' })
  const followed = sources.map((source) => source.traceNext('late'))
  for (const ref of sinks) ref.tell({ type: 'late' })
  for (const kit of kits) await kit.advance(1000)
  const types = seen.map((flows) => flows.map(({ type, messages }) => `${type} ${messages}`))
  expect(types).toEqual([
    ['first 10', 'late 1'],
    ['second 10', 'late 1'],
  ])
  expect((await Promise.all(followed)).every((id) => id > 0)).toBe(true)
  ends[1]!()
  expect(fuse.sampler).toBeDefined()
  ends[0]!()
  expect(fuse.sampler).toBeUndefined()
})
