import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  ActorSystem,
  type ActorRef,
  AskRefused,
  bounded,
  buffered,
  Cancelled,
  grow,
  InvalidOption,
  mailboxOf,
  type MailboxOwner,
  type MailboxQueue,
  type Observation,
  OfferRefused,
  type Overflow,
  priority,
  receive,
  same,
  setup,
  unbounded,
} from '@troupe/core'

/** What a promise rejects with; watched from the start, so that it may reject before it is looked at. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (cause: unknown) => cause,
  )

/** Lets promise callbacks run, without giving any actor a turn. */
const microtasks = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

const collector = (seen: number[]) =>
  receive<number>((_ctx, n) => {
    seen.push(n)
    return same
  })

describe('43. each overflow policy at capacity, one over, and in a burst of a million: bound kept, every drop counted with its reason', () => {
  const burst = 1_000_000
  const cases: readonly { policy: string; overflow: Overflow; bound: number; first: number; lost: 'dropped' | 'deadLettered' }[] = [
    { policy: 'drop-newest', overflow: 'drop-newest', bound: 10, first: 0, lost: 'dropped' },
    { policy: 'drop-oldest', overflow: 'drop-oldest', bound: 10, first: burst - 10, lost: 'dropped' },
    { policy: 'reject', overflow: 'reject', bound: 10, first: 0, lost: 'deadLettered' },
    { policy: 'block', overflow: 'block', bound: 10, first: 0, lost: 'deadLettered' },
    { policy: 'grow', overflow: grow(2.5), bound: 25, first: 0, lost: 'deadLettered' },
  ]
  for (const { policy, overflow, bound, first, lost } of cases) {
    test(`${policy} takes all up to its bound and loses nothing there`, async () => {
      const kit = createTestKit()
      const seen: number[] = []
      const ref = kit.system.spawn(collector(seen), { mailbox: bounded(10, overflow) })
      for (let i = 0; i < bound; i++) ref.tell(i)
      expect((await kit.checkLedger()).queued).toBe(bound)
      await kit.settle()
      expect(seen).toEqual(Array.from({ length: bound }, (_, i) => i))
      expect(await kit.checkLedger()).toMatchObject({ dropped: 0, deadLettered: 0 })
      await kit.end()
    })
    test(`${policy} one over its bound loses exactly one, counted as ${lost}`, async () => {
      const kit = createTestKit()
      const seen: number[] = []
      const ref = kit.system.spawn(collector(seen), { mailbox: bounded(10, overflow) })
      for (let i = 0; i <= bound; i++) ref.tell(i)
      expect(await kit.checkLedger()).toMatchObject({ queued: bound, [lost]: 1 })
      await kit.settle()
      expect(seen).toEqual(Array.from({ length: bound }, (_, i) => i + (policy === 'drop-oldest' ? 1 : 0)))
      if (lost === 'deadLettered') expect(kit.system.deadLetters.list()[0]).toMatchObject({ reason: 'mailbox-full', message: bound, recipient: ref })
      await kit.end()
    })
    test(`${policy} keeps its bound in a burst of a million and counts every loss`, async () => {
      const kit = createTestKit()
      const seen: number[] = []
      const ref = kit.system.spawn(collector(seen), { mailbox: bounded(10, overflow) })
      for (let i = 0; i < burst; i++) ref.tell(i)
      expect(await kit.checkLedger()).toMatchObject({ sent: burst, queued: bound, [lost]: burst - bound })
      const { dropReasons, deadLetterReasons } = kit.system.metrics()
      const reasons = lost === 'dropped' ? [{ 'mailbox-overflow': burst - bound }, {}] : [{}, { 'mailbox-full': burst - bound }]
      expect([dropReasons, deadLetterReasons]).toEqual(reasons)
      await kit.settle()
      expect(seen).toEqual(Array.from({ length: bound }, (_, i) => i + first))
      await kit.end()
    })
  }
})

test('a bound that grew falls back once the mailbox has emptied', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(collector([]), { mailbox: bounded(4, grow(2)) })
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 9; i++) ref.tell(i)
    expect((await kit.checkLedger()).queued).toBe(8)
    await kit.settle()
  }
  expect(kit.system.deadLetters.count).toBe(3)
  await kit.end()
})

test('an ask that the mailbox refuses or drops is rejected at once with the reason', async () => {
  const kit = createTestKit()
  type Q = { type: 'q'; replyTo: ActorRef<number> }
  const refuses = kit.system.spawn<Q>(
    receive(() => same),
    { mailbox: bounded(1, 'reject') },
  )
  const drops = kit.system.spawn<Q>(
    receive(() => same),
    { mailbox: bounded(1, 'drop-oldest') },
  )
  void refuses.ask({ type: 'q' }).catch(() => {})
  await expect(refuses.ask({ type: 'q' })).rejects.toThrow('mailbox-full')
  const evicted = drops.ask({ type: 'q' })
  void drops.ask({ type: 'q' }).catch(() => {})
  await expect(evicted).rejects.toBeInstanceOf(AskRefused)
  await kit.end()
})

test('a periodic timer whose tick the mailbox refused ticks again', async () => {
  const kit = createTestKit()
  const ticks: number[] = []
  const ref = kit.system.spawn<string>(
    setup((ctx) => {
      ctx.timers.every('t', 10, 'tick')
      return receive((_ctx, m) => {
        if (m === 'tick') ticks.push(kit.clock.now)
        return same
      })
    }),
    { mailbox: bounded(1, 'reject') },
  )
  await kit.settle()
  kit.system.suspend(ref, 'so that it fills up')
  await kit.settle()
  ref.tell('fill')
  await kit.advance(15)
  kit.system.resume(ref)
  await kit.advance(20)
  expect(kit.system.deadLetters.list().map((l) => l.message)).toEqual(['tick'])
  expect(ticks).toEqual([20, 30])
  await kit.end()
})

describe('44. priority is stable among equals and keeps its bound', () => {
  type Job = { readonly urgency: number; readonly name: string }
  const byUrgency = (a: Job, b: Job): number => b.urgency - a.urgency

  test('messages come by urgency, equals in order of arrival', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const ref = kit.system.spawn<Job>(
      receive((_ctx, { name }) => void seen.push(name)),
      { mailbox: priority<Job>(byUrgency) },
    )
    for (const [urgency, name] of [
      [1, 'a'],
      [2, 'b'],
      [1, 'c'],
      [3, 'd'],
      [2, 'e'],
      [3, 'f'],
    ] as const)
      ref.tell({ urgency, name })
    await kit.settle()
    expect(seen.join('')).toBe('dfbeac')
    await kit.end()
  })
  test('among a thousand with few urgencies each class keeps its order', async () => {
    const kit = createTestKit()
    const seen: Job[] = []
    const ref = kit.system.spawn<Job>(
      receive((_ctx, job) => void seen.push(job)),
      { mailbox: priority<Job>(byUrgency) },
    )
    const sent = Array.from({ length: 1000 }, (_, i): Job => ({ urgency: (i * 7919) % 5, name: String(i) }))
    for (const job of sent) ref.tell(job)
    await kit.settle()
    expect(seen).toEqual(sent.toSorted(byUrgency))
    await kit.end()
  })
  test('the priority of a tell goes before what compare says', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(collector(seen), { mailbox: priority<number>((a, b) => a - b) })
    ref.tell(1)
    ref.tell(9, { priority: 5 })
    ref.tell(2, { priority: -1 })
    ref.tell(3)
    await kit.settle()
    expect(seen).toEqual([9, 1, 3, 2])
    await kit.end()
  })
  test('a bounded one keeps its bound, and drop-oldest gives up the longest waiting, however urgent', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(collector(seen), { mailbox: priority<number>((a, b) => b - a, { capacity: 3, overflow: 'drop-oldest' }) })
    for (const n of [9, 1, 5, 2, 7]) ref.tell(n)
    expect(await kit.checkLedger()).toMatchObject({ queued: 3, dropped: 2 })
    await kit.settle()
    expect(seen).toEqual([7, 5, 2])
    await kit.end()
  })
  test('a compare that throws is logged once, and no message is lost', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const compare = (): number => {
      throw new Error('incomparable')
    }
    const ref = kit.system.spawn(collector(seen), { mailbox: priority<number>(compare) })
    for (let i = 0; i < 10; i++) ref.tell(i)
    await kit.settle()
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(kit.logs.filter((l) => l.message.includes('mailbox'))).toHaveLength(1)
    await kit.end()
  })
})

describe('45. at systemShare 100 signals go first; below it a flood of them cannot starve messages', () => {
  /** An actor that keeps getting signals, from children that end as fast as it spawns them. */
  const flooded = (order: string[], share: number | undefined) => {
    const kit = createTestKit()
    let children = 0
    const ref = kit.system.spawn<string>(
      receive(
        (ctx, m) => {
          order.push(m)
          if (m === 'begin') for (let i = 0; i < 10; i++) ctx.stop(ctx.spawn(receive(() => same)))
          return same
        },
        (ctx, signal) => {
          if (signal.type !== 'ChildStopped') return same
          order.push('signal')
          // A flood that never ends by itself: each signal makes another.
          if (++children < 2000) ctx.stop(ctx.spawn(receive(() => same)))
          return same
        },
      ),
      share === undefined ? undefined : { mailbox: unbounded({ systemShare: share }) },
    )
    return { kit, ref }
  }
  test('at 100 signals always go before messages', async () => {
    const order: string[] = []
    const { kit, ref } = flooded(order, undefined)
    const watcher = kit.system.spawn<string>(
      receive(
        (_ctx, m) => void order.push(m),
        (_ctx, s) => void (s.type === 'Terminated' && order.push('signal')),
      ),
    )
    const targets = Array.from({ length: 5 }, () => kit.system.spawn(receive(() => same)))
    for (const target of targets) kit.system.watch(target, watcher)
    await kit.settle()
    kit.system.suspend(watcher, 'to line them up')
    await kit.settle()
    order.length = 0
    for (let i = 0; i < 5; i++) watcher.tell(`m${i}`)
    for (const target of targets) target.stop()
    kit.system.resume(watcher)
    await kit.settle()
    expect(order).toEqual(['signal', 'signal', 'signal', 'signal', 'signal', 'm0', 'm1', 'm2', 'm3', 'm4'])
    void ref
    await kit.end()
  })
  test.each([
    [50, 1],
    [75, 3],
    [20, 0.25],
    [0, 1 / 64],
  ])('at %i percent messages get their share of a queue full of signals', async (share, perMessage) => {
    const kit = createTestKit()
    const order: string[] = []
    let open!: () => void
    const gate = new Promise<void>((resolve) => (open = resolve))
    const watcher = kit.system.spawn<string>(
      receive(
        (_ctx, m) => (m === 'wait' ? gate : void order.push(m)),
        (_ctx, s) => void (s.type === 'Terminated' && order.push('signal')),
      ),
      { mailbox: unbounded({ systemShare: share }) },
    )
    const targets = Array.from({ length: 300 }, () => kit.system.spawn(receive(() => same)))
    for (const target of targets) kit.system.watch(target, watcher)
    watcher.tell('wait')
    await kit.settle()
    // Signals wait for the pending handler, and so do the messages: both are queued when it settles.
    for (const target of targets) target.stop()
    for (let i = 0; i < 64; i++) watcher.tell('m')
    await kit.settle()
    open()
    await kit.settle()
    expect(order.filter((o) => o === 'signal')).toHaveLength(300)
    expect(order.filter((o) => o === 'm')).toHaveLength(64)
    const before = order.slice(0, order.lastIndexOf('m')).filter((o) => o === 'signal').length
    expect(before).toBeGreaterThanOrEqual(Math.floor(63 * perMessage))
    expect(before).toBeLessThanOrEqual(Math.ceil(64 * perMessage) + 4)
    await kit.end()
  })
  test('below 100 a flood of signals that feeds itself does not starve messages', async () => {
    const order: string[] = []
    const { kit, ref } = flooded(order, 50)
    ref.tell('begin')
    for (let i = 0; i < 20; i++) ref.tell('m')
    await kit.settle()
    const last = order.lastIndexOf('m')
    expect(order.slice(0, last).filter((o) => o === 'signal').length).toBeLessThan(40)
    await kit.end()
  })
})

describe('46. offer waits for room, first come first served, and ends on abort, stop and restart', () => {
  const blocked = async (capacity = 1) => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(collector(seen), { mailbox: bounded(capacity, 'block') })
    await kit.settle()
    kit.system.suspend(ref, 'so that it fills up')
    await kit.settle()
    for (let i = 0; i < capacity; i++) ref.tell(i)
    return { kit, seen, ref }
  }
  test('on block waits for room, first come first served', async () => {
    const { kit, seen, ref } = await blocked()
    const done: number[] = []
    for (const n of [1, 2, 3]) void ref.offer(n).then(() => done.push(n))
    await kit.settle()
    expect(done).toEqual([])
    expect(await kit.checkLedger()).toMatchObject({ sent: 1, queued: 1 })
    kit.system.resume(ref)
    await kit.settle()
    expect(done).toEqual([1, 2, 3])
    expect(seen).toEqual([0, 1, 2, 3])
    await kit.end()
  })
  test('a tell into a full block mailbox is a dead letter and does not overtake those who wait', async () => {
    const { kit, seen, ref } = await blocked()
    const waiting = ref.offer(1)
    ref.tell(2)
    expect(kit.system.deadLetters.list().map((l) => [l.message, l.reason])).toEqual([[2, 'mailbox-full']])
    kit.system.resume(ref)
    await kit.settle()
    await waiting
    expect(seen).toEqual([0, 1])
    await kit.end()
  })
  test('ends on abort, and the next in line gets the room', async () => {
    const { kit, seen, ref } = await blocked()
    const controller = new AbortController()
    const given = ref.offer(1, { signal: controller.signal })
    const next = ref.offer(2)
    controller.abort()
    await expect(given).rejects.toBeInstanceOf(Cancelled)
    kit.system.resume(ref)
    await kit.settle()
    await next
    expect(seen).toEqual([0, 2])
    await kit.end()
  })
  test.each(['stop', 'kill', 'restart'] as const)('ends on %s, given back and uncounted', async (verb) => {
    const { kit, ref } = await blocked()
    const offer = ref.offer(1)
    const outcome = failureOf(offer)
    kit.system[verb](ref)
    await kit.settle()
    expect(await outcome).toBeInstanceOf(OfferRefused)
    expect((await kit.checkLedger()).sent).toBe(1)
    await kit.end()
  })
  test('ends when the actor stops itself, without anything else to clean up', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn<number>(
      receive((ctx) => {
        ctx.stop()
        return same
      }),
      { mailbox: bounded(1, 'block') },
    )
    ref.tell(0)
    const first = ref.offer(1)
    const second = failureOf(ref.offer(2))
    await kit.settle()
    // Taking the message that stops the actor made room for one more; the actor left that behind.
    await first
    expect(await second).toBeInstanceOf(OfferRefused)
    expect(await kit.checkLedger()).toMatchObject({ sent: 2, handled: 1, deadLettered: 1 })
    await kit.end()
  })
  test('on the other policies it rejects where the message would be refused, and that is not counted', async () => {
    const kit = createTestKit()
    for (const overflow of ['drop-newest', 'reject', grow(1)] as const) {
      const ref = kit.system.spawn(collector([]), { mailbox: bounded(1, overflow) })
      await ref.offer(1)
      const sent = (await kit.checkLedger()).sent
      await expect(ref.offer(2)).rejects.toBeInstanceOf(OfferRefused)
      expect((await kit.checkLedger()).sent).toBe(sent)
    }
    await kit.end()
  })
  test('on drop-oldest it is taken, and the oldest is dropped', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref = kit.system.spawn(collector(seen), { mailbox: bounded(1, 'drop-oldest') })
    await ref.offer(1)
    await ref.offer(2)
    await kit.settle()
    expect(seen).toEqual([2])
    expect((await kit.checkLedger()).dropped).toBe(1)
    await kit.end()
  })
  test('through an adapter it waits for the actor behind it', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    let adapter: ActorRef<string> | undefined
    const ref = kit.system.spawn<number>(
      setup((ctx) => {
        adapter = ctx.adapt((text: string) => text.length)
        return collector(seen)
      }),
      { mailbox: bounded(1, 'block') },
    )
    await kit.settle()
    kit.system.suspend(ref, 'so that it fills up')
    await kit.settle()
    ref.tell(0)
    let done = false
    void adapter!.offer('four').then(() => (done = true))
    await microtasks()
    expect(done).toBe(false)
    kit.system.resume(ref)
    await kit.settle()
    expect(done).toBe(true)
    expect(seen).toEqual([0, 4])
    await kit.end()
  })
})

test('block with the manual runtime is refused at spawn, and the name stays free', () => {
  const system = ActorSystem.create('manual', { runtime: 'manual', keepAlive: false })
  const wrong = (): unknown => system.spawn(collector([]), { name: 'a', mailbox: bounded(1, 'block') })
  expect(wrong).toThrow(InvalidOption)
  system.spawn(collector([]), { name: 'a' })
  void system.shutdown()
})

describe('pressure', () => {
  const pressureOf = (events: readonly Observation[]) => events.flatMap((e) => (e.type === 'mailbox.pressure' ? [[e.level, e.depth]] : []))
  test('crossing the marks of a chosen mailbox is observed once each way', async () => {
    const kit = createTestKit()
    const channel = buffered(1000)
    channel.attach(kit.system.events, 'mailbox.pressure')
    const ref = kit.system.spawn(collector([]), { mailbox: unbounded({ highWater: 10, lowWater: 3 }) })
    for (let i = 0; i < 30; i++) ref.tell(i)
    expect(pressureOf(channel.drain())).toEqual([['high', 10]])
    await kit.settle()
    expect(pressureOf(channel.drain())).toEqual([['low', 3]])
    for (let i = 0; i < 10; i++) ref.tell(i)
    expect(pressureOf(channel.drain())).toEqual([['high', 10]])
    await kit.end()
  })
  test('a bounded mailbox is under pressure at four fifths of its capacity', async () => {
    const kit = createTestKit()
    const channel = buffered(1000)
    channel.attach(kit.system.events, 'mailbox.pressure')
    const ref = kit.system.spawn(collector([]), { mailbox: bounded(10, 'reject') })
    for (let i = 0; i < 8; i++) ref.tell(i)
    expect(pressureOf(channel.drain())).toEqual([['high', 8]])
    await kit.end()
  })
  test('the default mailbox says so above 10,000, seen between the stretches of a turn', async () => {
    const kit = createTestKit()
    const channel = buffered(1000)
    channel.attach(kit.system.events, 'mailbox.pressure')
    const ref = kit.system.spawn(collector([]))
    // In its first turn, and in a later one.
    for (const _ of [1, 2]) {
      for (let i = 0; i < 10_500; i++) ref.tell(i)
      await kit.settle()
      const seen = pressureOf(channel.drain())
      expect(seen.map(([level]) => level)).toEqual(['high', 'low'])
      expect(seen[0]![1]).toBeGreaterThanOrEqual(10_000)
      expect(seen[1]![1]).toBeLessThanOrEqual(5000)
    }
    await kit.end()
  })
  test('the default mailbox says so at exactly 10,000', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 1 } })
    const channel = buffered(1000)
    channel.attach(kit.system.events, 'mailbox.pressure')
    const ref = kit.system.spawn(
      receive<number>((ctx, n) => {
        // The first lies in front of the queue.
        if (n === -1) for (let i = 0; i <= 10_000; i++) ctx.self.tell(i)
        return same
      }),
    )
    // A turn like any other, not its first.
    await kit.settle()
    // The turn of that one message ends with as many in the mailbox; each later one with fewer.
    ref.tell(-1)
    await kit.settle()
    expect(pressureOf(channel.drain())).toEqual([
      ['high', 10_000],
      ['low', 5000],
    ])
    await kit.end()
  })
})

describe('stash', () => {
  type M = { type: 'item'; n: number } | { type: 'flush' } | { type: 'open' }
  test('33. unstash is FIFO and handles only what was buffered at the call; restashing keeps order', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    let rounds = 0
    const ref = kit.system.spawn<M>(
      receive((ctx, m) => {
        if (m.type === 'flush') {
          rounds++
          ctx.stash.unstashAll()
        } else if (m.type === 'item') {
          if (rounds < 2) ctx.stash.add(m)
          else seen.push(m.n)
        }
        return same
      }),
    )
    for (let n = 0; n < 5; n++) ref.tell({ type: 'item', n })
    ref.tell({ type: 'flush' })
    ref.tell({ type: 'item', n: 5 })
    await kit.settle()
    expect((await kit.checkLedger()).stashed).toBe(6)
    ref.tell({ type: 'flush' })
    await kit.settle()
    expect(seen).toEqual([0, 1, 2, 3, 4, 5])
    await kit.end()
  })
  test('34. overflow with error throws inside the handler and leaves the buffer unchanged', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const codes: string[] = []
    const ref = kit.system.spawn<M>(
      receive((ctx, m) => {
        if (m.type === 'item') {
          try {
            ctx.stash.add(m)
          } catch (cause) {
            codes.push((cause as { code: string }).code)
            seen.push(ctx.stash.size)
          }
        }
        return same
      }),
      { stash: { capacity: 2 } },
    )
    for (let n = 0; n < 3; n++) ref.tell({ type: 'item', n })
    await kit.settle()
    expect(codes).toEqual(['stash-overflow'])
    expect(seen).toEqual([2])
    expect(await kit.checkLedger()).toMatchObject({ stashed: 2, handled: 1 })
    await kit.end()
  })
  test('overflow with drop-oldest loses the oldest, counted', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    let open = false
    const ref = kit.system.spawn<M>(
      receive((ctx, m) => {
        if (m.type === 'open') {
          open = true
          ctx.stash.unstashAll()
        } else if (m.type === 'item') {
          if (open) seen.push(m.n)
          else ctx.stash.add(m)
        }
        return same
      }),
      { stash: { capacity: 2, overflow: 'drop-oldest' } },
    )
    for (let n = 0; n < 4; n++) ref.tell({ type: 'item', n })
    ref.tell({ type: 'open' })
    await kit.settle()
    expect(seen).toEqual([2, 3])
    expect((await kit.checkLedger()).dropped).toBe(2)
    await kit.end()
  })
  test('unstashing a hundred times over a bounded mailbox costs no more each time', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn<number>(
      receive((ctx, n) => {
        if (n > 0 && ctx.stash.size < 2) {
          ctx.stash.add(n - 1)
          ctx.stash.unstashAll()
        }
        return same
      }),
      { mailbox: bounded(10, 'reject') },
    )
    ref.tell(10_000)
    await kit.settle()
    expect((await kit.checkLedger()).handled).toBe(10_001)
    await kit.end()
  })
})

test('offers that gave up are let go of while the mailbox is still full', () => {
  const owner: MailboxOwner = { drop() {}, refuse() {}, sent() {}, isPill: () => false, pressure() {}, fault() {} }
  const queue = bounded(1, 'block').create(owner)
  queue.push('full', undefined)
  let kept = 0
  const offer = (ended: boolean) => ({ message: 'm', meta: undefined, ended, took() {}, fail: () => void kept++ })
  for (let i = 0; i < 10_000; i++) queue.wait!(offer(i % 1000 !== 0))
  queue.endWaits!(new Error('over'))
  expect(kept).toBeGreaterThanOrEqual(10)
  expect(kept).toBeLessThan(100)
})

test('a storage that cannot evict refuses the message and throws at nobody who tells', async () => {
  const kit = createTestKit()
  class Stubborn implements MailboxQueue {
    meta: unknown = undefined
    readonly #kept: (readonly [unknown, unknown])[] = []
    get size(): number {
      return this.#kept.length
    }
    push(message: unknown, meta: unknown): void {
      this.#kept.push([message, meta])
    }
    shift(): unknown {
      const [message, meta] = this.#kept.shift() ?? []
      this.meta = meta
      return message
    }
    evict(): unknown {
      throw new Error('cannot')
    }
  }
  const seen: number[] = []
  const ref = kit.system.spawn(collector(seen), { mailbox: mailboxOf('stubborn', () => new Stubborn(), { capacity: 1, overflow: 'drop-oldest' }) })
  ref.tell(1)
  ref.tell(2)
  await kit.settle()
  expect(seen).toEqual([1])
  expect(await kit.checkLedger()).toMatchObject({ dropped: 0, deadLettered: 1 })
  kit.expectLog('the mailbox of the actor is faulty')
  await kit.end()
})
