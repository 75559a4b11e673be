import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { measured, type ActorRef, bounded, flightRecorder, InvalidOption, receive, same, unbounded } from '@troupe/core'

const taking = (kit: ReturnType<typeof createTestKit>, ms: number) =>
  receive<object | string>(() => {
    kit.clock.tick(ms)
    return same
  })

describe('an actor with metrics', () => {
  test('counts what got in, what was lost, and how deep it was', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(taking(kit, 0), { metrics: measured(), mailbox: bounded(10, 'drop-oldest') })
    const newest = kit.system.spawn(taking(kit, 0), { metrics: measured(), mailbox: bounded(10, 'drop-newest') })
    for (let i = 0; i < 15; i++) for (const r of [ref, newest]) r.tell({ i })
    await kit.settle()
    ref.tell({})
    const { metrics } = await kit.system.inspect(ref)
    expect(metrics?.mailbox).toMatchObject({ enqueued: 16, dropped: 5, depth: 1, peak: 10 })
    expect(metrics?.invoker.processed).toBe(10)
    expect((await kit.system.inspect(newest)).metrics?.mailbox).toMatchObject({ enqueued: 10, dropped: 5, depth: 0, peak: 10 })
    await kit.end()
  })
  test('offers that waited count as enqueued once they are taken', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(taking(kit, 0), { metrics: measured(), mailbox: bounded(1, 'block') })
    await kit.settle()
    kit.system.suspend(ref, 'so that it fills up')
    await kit.settle()
    ref.tell({})
    const waiting = ref.offer({})
    expect((await kit.system.inspect(ref)).metrics?.mailbox).toMatchObject({ enqueued: 1, depth: 1 })
    kit.system.resume(ref)
    await kit.settle()
    await waiting
    expect((await kit.system.inspect(ref)).metrics?.mailbox).toMatchObject({ enqueued: 2, dropped: 0, depth: 0 })
    await kit.end()
  })
  test('samples handler time and queue time into percentiles, right within a tenth', async () => {
    const kit = createTestKit()
    let n = 0
    const ref = kit.system.spawn<object>(
      receive(() => {
        // Of the sampled ones (1 of 64) nine of ten take 10 ms, the tenth takes 100.
        kit.clock.tick(n++ % 640 === 0 ? 100 : n % 64 === 1 ? 10 : 0)
        return same
      }),
      { metrics: measured() },
    )
    for (let i = 0; i < 6400; i++) {
      ref.tell({})
      await kit.settle()
    }
    const { invoker, mailbox } = (await kit.system.inspect(ref)).metrics!
    expect(invoker.handlerTime.count).toBe(100)
    expect(Math.abs(invoker.handlerTime.p50 - 10)).toBeLessThan(1)
    expect(Math.abs(invoker.handlerTime.p90 - 10)).toBeLessThan(1)
    expect(Math.abs(invoker.handlerTime.p99 - 100)).toBeLessThan(10)
    expect(invoker.handlerTime.max).toBe(100)
    expect(Math.abs(invoker.handlerTime.mean - 19)).toBeLessThan(0.001)
    expect(mailbox.queueTime.count).toBe(100)
    await kit.end()
  })
  test.each([
    ['objects', (i: number): object | string => ({ i })],
    ['primitives that are all the same', (): object | string => 'same'],
  ])('queue time is the time from send to take, for %s', async (_what, make) => {
    const kit = createTestKit()
    const ref = kit.system.spawn(taking(kit, 1), { metrics: measured() })
    for (let i = 0; i < 129; i++) ref.tell(make(i))
    await kit.advance(1000)
    const { queueTime } = (await kit.system.inspect(ref)).metrics!.mailbox
    // Only the first is sampled: the others come while it waits, or the next samples still stand behind it.
    expect(queueTime.count).toBeGreaterThanOrEqual(1)
    kit.system.suspend(ref, 'to make it wait')
    await kit.settle()
    for (let i = 0; i < 64; i++) ref.tell(make(i))
    await kit.advance(500)
    kit.system.resume(ref)
    await kit.settle()
    expect((await kit.system.inspect(ref)).metrics!.mailbox.queueTime.max).toBeGreaterThanOrEqual(500)
    await kit.end()
  })
  test('knows its rate of the last full second, how long it was suspended, and what share signals took', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn<string>(
      receive(
        (ctx, m) => {
          if (m === 'spawn') ctx.spawn(receive<never>(() => same)).stop()
          return same
        },
        () => same,
      ),
      { metrics: measured() },
    )
    await kit.advance(1000)
    for (let i = 0; i < 29; i++) ref.tell('x')
    ref.tell('spawn')
    await kit.advance(1000)
    expect((await kit.system.inspect(ref)).metrics).toMatchObject({ invoker: { rate: 30 }, suspendedMs: 0 })
    kit.system.suspend(ref, 'for a while')
    await kit.advance(300)
    expect((await kit.system.inspect(ref)).metrics?.suspendedMs).toBe(300)
    kit.system.resume(ref)
    await kit.advance(2000)
    const { suspendedMs, invoker, systemShareUsed } = (await kit.system.inspect(ref)).metrics!
    expect([suspendedMs, invoker.rate]).toEqual([300, 0])
    expect(systemShareUsed).toBeCloseTo(100 / 31)
    await kit.end()
  })
  test('times an async handler until it has settled', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn<string>(
      receive((ctx) => new Promise((resolve) => kit.system.sendAfter({ tell: () => resolve() } as never, 40, ctx.path as never))),
      { metrics: measured() },
    )
    ref.tell('x')
    await kit.advance(100)
    expect((await kit.system.inspect(ref)).metrics?.invoker.handlerTime).toMatchObject({ count: 1, max: 40 })
    await kit.end()
  })
  test('tells how many messages its turns took, how long they lasted, and whether they left something to do', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 10 } })
    const ref = kit.system.spawn(taking(kit, 0), { metrics: measured() })
    const slow = kit.system.spawn(taking(kit, 2), { metrics: measured() })
    await kit.settle()
    const invokerOf = async (r: ActorRef<object | string>) => (await kit.system.inspect(r)).metrics!.invoker
    for (let i = 0; i < 20; i++) {
      ref.tell({})
      await kit.settle()
    }
    const calm = await invokerOf(ref)
    expect(calm).toMatchObject({ processed: 20, pressure: 0, loopLatency: { count: 0 } })
    expect(calm.perTurn).toBeLessThanOrEqual(1)
    for (let i = 0; i < 3000; i++) ref.tell({})
    await kit.settle()
    const pressed = await invokerOf(ref)
    expect(pressed.turns - calm.turns).toBe(300)
    expect(pressed.perTurn).toBeCloseTo(3020 / pressed.turns)
    expect(pressed.pressure).toBeGreaterThan(90)
    for (let i = 0; i < 64; i++) {
      slow.tell({})
      await kit.settle()
    }
    const { turnTime } = await invokerOf(slow)
    expect(turnTime.count).toBeGreaterThan(0)
    expect(turnTime.max).toBe(2)
    await kit.end()
  })
  test('pressure is of its recent turns: it falls once the actor keeps up again', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 10 } })
    const ref = kit.system.spawn(taking(kit, 0), { metrics: measured() })
    for (let i = 0; i < 5000; i++) ref.tell({})
    await kit.settle()
    for (let i = 0; i < 500; i++) {
      ref.tell({})
      await kit.settle()
    }
    expect((await kit.system.inspect(ref)).metrics!.invoker.pressure).toBeLessThan(5)
    await kit.end()
  })
  test('loop latency is what others took between two of its turns while it had more to do', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 10 } })
    const ref = kit.system.spawn(taking(kit, 0), { metrics: measured() })
    const other = kit.system.spawn(taking(kit, 3))
    await kit.settle()
    for (let i = 0; i < 100; i++) ref.tell({})
    for (let i = 0; i < 4; i++) other.tell({})
    await kit.settle()
    const { loopLatency } = (await kit.system.inspect(ref)).metrics!.invoker
    // Ten turns, nine waits; the other took a turn in the first of them at least.
    expect(loopLatency.count).toBe(9)
    expect(loopLatency.max).toBeGreaterThanOrEqual(3)
    expect(loopLatency.mean * 9).toBeCloseTo(12)
    await kit.end()
  })
  test('the system can ask for metrics of all, and an actor can decline', async () => {
    const kit = createTestKit({ metrics: measured() })
    const [a, b, c] = [
      kit.system.spawn(taking(kit, 0)),
      kit.system.spawn(taking(kit, 0), { metrics: false }),
      kit.system.spawn(taking(kit, 0), { mailbox: unbounded() }),
    ]
    await kit.settle()
    const found = await Promise.all([a, b, c].map(async (ref) => (await kit.system.inspect(ref)).metrics !== undefined))
    expect(found).toEqual([true, false, true])
    await kit.end()
  })
})

describe('the metrics of a system', () => {
  test('tell of its dispatchers, its supervision and its messages', async () => {
    const kit = createTestKit({ dispatchers: { other: {} } })
    const ref = kit.system.spawn<string>(
      receive((_ctx, m) => {
        if (m === 'boom') throw new Error('boom')
        return same
      }),
    )
    for (let i = 0; i < 128; i++) ref.tell('x')
    ref.tell('boom')
    await kit.advance(100)
    const metrics = kit.system.metrics()
    expect(metrics).toMatchObject({ at: 100, active: 1, messages: { sent: 129, handled: 128, failed: 1 }, supervision: { restarts: 1 } })
    expect(metrics.dispatchers.map((d) => d.name)).toEqual(['concurrent', 'other'])
    const [concurrent, other] = metrics.dispatchers
    expect(concurrent).toMatchObject({ state: 'running', actors: 1, ready: 0, activeWorkers: 0 })
    expect(concurrent!.messages).toBeGreaterThanOrEqual(129)
    expect(concurrent!.messagesPerTurn).toBeCloseTo(concurrent!.messages / concurrent!.turns)
    expect(other).toMatchObject({ actors: 0, messages: 0, fairness: 1 })
    await kit.end()
  })
  test('pressure is the share of turns that left something to do, whatever they were cut by', async () => {
    const kit = createTestKit({ dispatchers: { timed: {}, capped: { throughput: 10 } } })
    const spawn = (dispatcher: string, ms: number): ActorRef<number> =>
      kit.system.spawn(
        receive<number>(() => {
          kit.clock.tick(ms)
          return same
        }),
        { dispatcher },
      )
    const pressureOf = (name: string): number => kit.system.metrics().dispatchers.find((d) => d.name === name)!.pressure
    const [timed, capped] = [spawn('timed', 1), spawn('capped', 0)]
    await kit.settle()
    for (const ref of [timed, capped])
      for (let i = 0; i < 50; i++) {
        ref.tell(i)
        await kit.settle()
      }
    expect(pressureOf('timed')).toBe(0)
    expect(pressureOf('capped')).toBe(0)
    for (const ref of [timed, capped]) for (let i = 0; i < 5000; i++) ref.tell(i)
    await kit.settle()
    expect(pressureOf('timed')).toBeGreaterThan(90)
    expect(pressureOf('capped')).toBeGreaterThan(85)
    await kit.end()
  })
  const fairnessOf = (kit: ReturnType<typeof createTestKit>): number => kit.system.metrics().dispatchers[0]!.fairness
  test('fairness is 1 when actors share alike, and falls when one takes most', async () => {
    const even = createTestKit()
    const refs = [1, 2, 3, 4].map(() => even.system.spawn<number>(receive(() => same)))
    for (let i = 0; i < 640; i++) for (const ref of refs) ref.tell(i)
    await even.settle()
    expect(fairnessOf(even)).toBeGreaterThan(0.99)
    const uneven = createTestKit()
    const [greedy, ...modest] = [1, 2, 3, 4].map(() => uneven.system.spawn<number>(receive(() => same)))
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 64; i++) greedy!.tell(i)
      for (const ref of modest) ref.tell(round)
      await uneven.settle()
    }
    expect(fairnessOf(uneven)).toBeLessThan(0.3)
    await even.end()
    await uneven.end()
  })
  test.each([1024, 64])('one actor with 6,400 messages beside nine with one is as unfair as can be, in turns of %i too', async (throughput) => {
    const kit = createTestKit({ dispatcher: { throughput } })
    const [greedy, ...modest] = Array.from({ length: 10 }, () => kit.system.spawn<number>(receive(() => same)))
    await kit.settle()
    for (let i = 0; i < 6400; i++) greedy!.tell(i)
    for (const ref of modest) ref.tell(0)
    await kit.settle()
    expect(fairnessOf(kit)).toBeLessThan(0.11)
    await kit.end()
  })
  test('fairness forgets: what happened many thousand turns ago does not count', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 1 } })
    const [a, b] = [1, 2].map(() => kit.system.spawn<number>(receive(() => same)))
    for (let i = 0; i < 500; i++) a!.tell(i)
    b!.tell(0)
    await kit.settle()
    expect(fairnessOf(kit)).toBeLessThan(0.6)
    for (let i = 0; i < 20_000; i++) for (const ref of [a!, b!]) ref.tell(i)
    await kit.settle()
    expect(fairnessOf(kit)).toBeGreaterThan(0.95)
    await kit.end()
  })
})

describe('the flight recorder', () => {
  test('keeps the last messages and transitions, and a failure is logged with them', async () => {
    const kit = createTestKit({ flightRecorder: flightRecorder({ capacity: 4 }) })
    const ref = kit.system.spawn<{ type: string }>(
      receive((_ctx, m) => {
        if (m.type === 'boom') throw new Error('boom')
        return same
      }),
      { supervision: 'resume' },
    )
    for (const type of ['a', 'b', 'c', 'boom']) ref.tell({ type })
    await kit.settle()
    const line = kit.logs.find((l) => l.message === 'the actor failed')
    const shown = (entries: unknown): string[] => (entries as { what: string; type?: string; to?: string }[]).map((e) => e.type ?? e.to!)
    expect(shown(line?.fields['recent'])).toEqual(['b', 'c', 'boom', 'failed'])
    expect(shown((await kit.system.inspect(ref)).recent)).toEqual(['c', 'boom', 'failed', 'running'])
    await kit.end()
  })
  test('is off unless asked for', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<number>(() => same))
    expect((await kit.system.inspect(ref)).recent).toBeUndefined()
    expect(() => flightRecorder({ capacity: 0 })).toThrow(InvalidOption)
    await kit.end()
  })
})

test('inspect names the mailbox and its capacity', async () => {
  const kit = createTestKit()
  const [plain, small] = [
    kit.system.spawn(receive<number>(() => same)),
    kit.system.spawn(
      receive<number>(() => same),
      { mailbox: bounded(3, 'reject') },
    ),
  ]
  expect((await kit.system.inspect(plain)).mailbox).toEqual({ kind: 'unbounded', capacity: undefined })
  expect((await kit.system.inspect(small)).mailbox).toEqual({ kind: 'bounded', capacity: 3 })
  await kit.end()
})
