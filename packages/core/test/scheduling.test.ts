// Whose turn it is: C1, C10 and C11, fairness, throughput, slow turns, wakes, dispatchers and runtimes.

import { createTestKit, seeded } from '@troupe/testkit'
import { fc } from './properties.ts'
import { describe, expect, test } from 'vitest'
import { type Watched, watchedSystem } from './watched.ts'
import {
  type ActorRef,
  ActorSystem,
  type AnyRef,
  type Behavior,
  type ExecutionRuntime,
  HostRuntime,
  ignore,
  mailboxOf,
  ManualRuntime,
  type Observation,
  receive,
  same,
  setup,
  supervise,
} from '@troupe/core'

test(
  'C1: per sender and receiver, processing order is a subsequence of send order, through failures, restarts and suspensions',
  { timeout: 60_000 },
  async () => {
    type Numbered = { from: number; n: number; fail: boolean; later: boolean }
    const step = fc.record({
      kind: fc.constantFrom('send', 'send', 'send', 'send', 'restart', 'suspend', 'resume', 'advance'),
      from: fc.nat(2),
      to: fc.nat(2),
      count: fc.integer({ min: 1, max: 30 }),
      fail: fc.boolean(),
      later: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.nat(),
        fc.constantFrom('keep' as const, 'clear' as const),
        async (steps, seed, mailbox) => {
          const random = seeded(seed)
          const kit = createTestKit({ dispatchers: { other: { throughput: 3 } } })
          const seen: Numbered[][] = [[], [], []]
          const receivers = seen.map((list, i) =>
            kit.system.spawn(
              receive<Numbered>((_ctx, m) => {
                list.push(m)
                if (m.fail && random() < 0.3) throw new Error('boom')
                return m.later ? Promise.resolve(same) : same
              }),
              {
                stopTimeout: 1,
                dispatcher: i === 1 ? 'other' : undefined,
                onRestart: { mailbox },
                supervision: i === 2 ? 'resume' : supervise({ limit: { restarts: 1000, within: 1000 }, backoff: { min: 0, max: 3 } }),
              },
            ),
          )
          type Order = { to: number; count: number; fail: boolean; later: boolean }
          const senders = [0, 1, 2].map((from) => {
            let n = 0
            return kit.system.spawn(
              receive<Order>((ctx, { to, count, fail, later }) => {
                for (let i = 0; i < count; i++) receivers[to]!.tell({ from, n: ++n, fail, later }, ctx.self)
                return same
              }),
            )
          })
          for (const s of steps) {
            if (s.kind === 'send') senders[s.from]!.tell(s)
            else if (s.kind === 'restart') kit.system.restart(receivers[s.to]!)
            else if (s.kind === 'suspend') kit.system.suspend(receivers[s.to]!, 'x')
            else if (s.kind === 'resume') kit.system.resume(receivers[s.to]!)
            else await kit.advance(s.count)
          }
          for (const ref of receivers) kit.system.resume(ref)
          await kit.advance(5000)
          for (const list of seen)
            for (const from of [0, 1, 2]) {
              const numbers = list.filter((m) => m.from === from).map((m) => m.n)
              expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
            }
          if (mailbox === 'keep') expect(seen.flat()).toHaveLength(steps.filter((s) => s.kind === 'send').reduce((sum, s) => sum + s.count, 0))
          await kit.end()
        },
      ),
      { numRuns: 200 },
    )
  },
)

describe('C10: system messages go before user messages', () => {
  test('a signal and a stop overtake a full mailbox, at the next look between two messages', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 64 } })
    const log: string[] = []
    const other = kit.system.spawn(ignore)
    const ref = kit.system.spawn(
      receive<string>(
        (ctx, m) => {
          log.push(m)
          if (m === 'm0') {
            ctx.watch(other)
            other.stop()
          }
          if (m === 'm70') ctx.self.stop()
          return same
        },
        (_c, s) => void log.push(s.type),
      ),
    )
    for (let i = 0; i < 200; i++) ref.tell(`m${i}`)
    await kit.settle()
    // The other's turn comes after this one's quota of 64.
    expect(log.indexOf('Terminated')).toBe(2 + 64)
    expect(log.slice(-3)).toEqual(['m70', 'PreStop', 'PostStop'])
    await kit.end()
  })

  test('a signal to itself is seen before the next message of the same turn', async () => {
    const kit = createTestKit()
    const dead = kit.system.spawn(ignore)
    dead.stop()
    await kit.settle()
    const log: string[] = []
    const ref = kit.system.spawn(
      receive<string>(
        (ctx, m) => {
          log.push(m)
          if (m === 'a') ctx.watch(dead)
          return same
        },
        (_c, s) => void log.push(s.type),
      ),
    )
    ref.tell('a')
    ref.tell('b')
    await kit.settle()
    expect(log).toEqual(['PreStart', 'PostStart', 'a', 'Terminated', 'b'])
    await kit.end()
  })
})

describe('C11: the scheduler yields to the host within its slice plus at most 64 handlers', () => {
  test('whatever handlers cost', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 0, 0.01, 0.1, 1, 3, 20), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        (costs, each) => {
          const { system, runtime } = watchedSystem()
          let total = 0
          const refs = costs.map((ms) =>
            system.spawn(
              receive<number>(() => {
                total++
                runtime.handled(ms)
                return same
              }),
            ),
          )
          for (let i = 0; i < each; i++) for (const ref of refs) ref.tell(i)
          system.pump()
          expect(total).toBe(costs.length * each)
          const dearest = Math.max(...costs)
          for (const length of runtime.lengths) expect(length).toBeLessThanOrEqual(5 + 64 * dearest)
          void system.shutdown()
          system.pump()
        },
      ),
      { numRuns: 100 },
    )
  })

  test('a costly stretch after a cheap one is noticed within 64 handlers, and then at once', () => {
    const { system, runtime } = watchedSystem()
    let n = 0
    const ref = system.spawn(
      receive<number>(() => {
        runtime.handled(++n > 1000 ? 10 : 0.001)
        return same
      }),
    )
    for (let i = 0; i < 1200; i++) ref.tell(i)
    system.pump()
    expect(n).toBe(1200)
    const long = runtime.stretches.filter((_, i) => (runtime.lengths[i - 1] ?? 0) > 10)
    // One stretch may hold the handlers up to the next look at the clock; after it each costly handler has its own.
    expect(long.length).toBeLessThanOrEqual(1)
    void system.shutdown()
    system.pump()
  })

  const counting = (runtime: Watched, ms: number): Behavior<AnyRef[]> =>
    receive<AnyRef[]>(
      (ctx, refs) => {
        for (const ref of refs) ctx.watch(ref)
        return same
      },
      (_c, s) => {
        if (s.type === 'Terminated') runtime.handled(ms)
      },
    )

  test('a flood of starts yields too', () => {
    const { system, runtime } = watchedSystem()
    for (let i = 0; i < 1000; i++)
      system.spawn(
        setup<string>(() => {
          runtime.handled(1)
          return ignore
        }),
      )
    system.pump()
    expect(runtime.clock.now).toBe(1000)
    expect(Math.max(...runtime.lengths)).toBeLessThanOrEqual(5 + 64)
    void system.shutdown()
    system.pump()
  })

  test('a mailbox that holds its messages back keeps nobody from the loop', () => {
    const { system, runtime } = watchedSystem()
    const held: unknown[] = []
    let looks = 0
    const holding = mailboxOf({
      kind: 'holding',
      create: () => ({
        meta: undefined,
        get size() {
          return held.length
        },
        push: (message) => void held.push(message),
        shift: () => {
          runtime.clock.now++
          // What it waits for can only come when the loop has turned; the second bound is there for a loop that never does.
          return runtime.enters > 3 || ++looks > 10_000 ? held.shift() : undefined
        },
      }),
    })
    const handled: string[] = []
    const ref = system.spawn(
      receive<string>((_ctx, m) => {
        handled.push(m)
        return same
      }),
      { mailbox: holding },
    )
    ref.tell('at last')
    system.pump()
    expect(handled).toEqual(['at last'])
    expect(looks).toBeLessThan(100)
  })

  test('a flood of signals to one actor yields too, and still goes before its messages', () => {
    const { system, runtime } = watchedSystem()
    const refs = Array.from({ length: 1000 }, () => system.spawn(ignore))
    const log: string[] = []
    const watcher = system.spawn(counting(runtime, 1))
    const ends = system.spawn(
      receive<string>((_c, m) => {
        log.push(m)
        return same
      }),
    )
    watcher.tell(refs)
    system.pump()
    runtime.lengths.length = 0
    for (const ref of refs) ref.stop()
    system.pump()
    ends.tell('x')
    system.pump()
    expect(runtime.clock.now).toBe(1000)
    expect(Math.max(...runtime.lengths)).toBeLessThanOrEqual(5 + 64)
    expect(log).toEqual(['x'])
    void system.shutdown()
    system.pump()
  })

  test('a flood of signals that is cut by the slice is worked off before any message', () => {
    const { system, runtime } = watchedSystem()
    const refs = Array.from({ length: 50 }, () => system.spawn(ignore))
    const log: string[] = []
    const watcher = system.spawn(
      receive<AnyRef[] | 'message'>(
        (ctx, m) => {
          if (m === 'message') log.push(m)
          else for (const ref of m) ctx.watch(ref)
          return same
        },
        (_c, s) => {
          if (s.type !== 'Terminated') return
          runtime.handled(2)
          log.push('signal')
        },
      ),
    )
    for (const ref of refs) ref.stop()
    system.pump()
    watcher.tell(refs)
    watcher.tell('message')
    system.pump()
    expect(log).toEqual([...Array<string>(50).fill('signal'), 'message'])
    void system.shutdown()
    system.pump()
  })
})

describe('fairness', () => {
  test('turns go round robin, `throughput` messages each', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 3 } })
    const order: string[] = []
    const refs = ['a', 'b', 'c'].map((name) =>
      kit.system.spawn(
        receive<number>(() => {
          order.push(name)
          return same
        }),
      ),
    )
    await kit.settle()
    for (let i = 0; i < 6; i++) for (const ref of refs) ref.tell(i)
    await kit.settle()
    expect(order.join('')).toBe('aaabbbccc'.repeat(2))
    await kit.end()
  })

  test('an actor that always tells itself does not starve others', () => {
    const { system, runtime } = watchedSystem()
    let own = 0
    const busy = system.spawn(
      receive<string>((ctx) => {
        runtime.handled(0.1)
        if (++own < 5000) ctx.self.tell('again')
        return same
      }),
    )
    busy.tell('go')
    let at = -1
    system
      .spawn(
        receive<string>(() => {
          at = own
          return same
        }),
      )
      .tell('hello')
    system.pump()
    expect(at).toBeGreaterThanOrEqual(0)
    expect(at).toBeLessThanOrEqual(64)
    void system.shutdown()
    system.pump()
  })

  test('the ready queue takes a cell once, however many messages and commands come', async () => {
    const kit = createTestKit({ dispatcher: { throughput: 1 } })
    const order: string[] = []
    const make = (name: string): ActorRef<string> =>
      kit.system.spawn(
        receive<string>((_c, m) => {
          order.push(name + m)
          return same
        }),
      )
    const a = make('a')
    const b = make('b')
    await kit.settle()
    for (let i = 0; i < 3; i++) {
      a.tell(`${i}`)
      kit.system.resume(a)
    }
    b.tell('0')
    await kit.settle()
    // Twice in the queue, a would have gone before b twice.
    expect(order).toEqual(['a0', 'b0', 'a1', 'a2'])
    await kit.end()
  })

  test('maxTurns yields after so many turns', () => {
    const { system, runtime } = watchedSystem({ dispatcher: { maxTurns: 4, throughput: 1 } })
    const refs = Array.from({ length: 10 }, () =>
      system.spawn(
        receive<number>(() => {
          runtime.handled()
          return same
        }),
      ),
    )
    system.pump()
    for (const ref of refs) for (let i = 0; i < 5; i++) ref.tell(i)
    system.pump()
    expect(Math.max(...runtime.stretches)).toBeLessThanOrEqual(4)
    expect(runtime.stretches.reduce((a, b) => a + b)).toBe(50)
    void system.shutdown()
    system.pump()
  })

  test('dispatchers of one system have their own settings and queues', async () => {
    const kit = createTestKit({ dispatchers: { one: { throughput: 1 }, five: { throughput: 5 } } })
    const order: string[] = []
    const make = (name: string, dispatcher: string): ActorRef<number> =>
      kit.system.spawn(
        receive<number>(() => {
          order.push(name)
          return same
        }),
        { dispatcher },
      )
    const [a, b] = [make('a', 'one'), make('b', 'one')]
    const [c, d] = [make('c', 'five'), make('d', 'five')]
    await kit.settle()
    for (let i = 0; i < 5; i++) for (const ref of [a, b, c, d]) ref.tell(i)
    await kit.settle()
    expect(order.filter((n) => n === 'a' || n === 'b').join('')).toBe('ababababab')
    expect(order.filter((n) => n === 'c' || n === 'd').join('')).toBe('cccccddddd')
    expect((await kit.system.inspect(a)).dispatcher).toBe('one')
    await kit.end()
  })
})

test('the clock is read rarely while handlers are cheap, and for each while they are costly', () => {
  const reads = (ms: number): number => {
    const { system, runtime } = watchedSystem()
    const ref = system.spawn(
      receive<number>(() => {
        runtime.handled(ms)
        return same
      }),
    )
    system.pump()
    runtime.reads = 0
    for (let i = 0; i < 10_000; i++) ref.tell(i)
    system.pump()
    const read = runtime.reads
    void system.shutdown()
    system.pump()
    return read
  }
  expect(reads(0)).toBeLessThan(10_000 / 20)
  expect(reads(10)).toBeGreaterThan(10_000)
})

test('turn.slow names the actor, the time, and the message where it was timed alone', async () => {
  const kit = createTestKit()
  const slow: Extract<Observation, { type: 'turn.slow' }>[] = []
  kit.system.events.listen((e) => slow.push(e as never), 'turn.slow')
  const ref = kit.system.spawn(
    receive<{ type: string; ms: number }>((_c, m) => {
      kit.clock.tick(m.ms)
      return m.type === 'later' ? Promise.resolve(same) : same
    }),
  )
  await kit.settle()
  // Costly enough that the clock is read after each message.
  for (let i = 0; i < 3; i++) ref.tell({ type: 'warm', ms: 2 })
  await kit.settle()
  for (const type of ['hog', 'later', 'boar']) ref.tell({ type, ms: 20 })
  ref.tell({ type: 'quick', ms: 1 })
  await kit.settle()
  expect(slow.map((s) => [s.ref, s.message, s.ms])).toEqual([
    [ref, 'hog', 20],
    [ref, 'later', 20],
    [ref, 'boar', 20],
  ])
  await kit.end()
})

test('a chain of microtask wakes is bounded: a macrotask is served meanwhile', async () => {
  const system = ActorSystem.create('chain', { keepAlive: false })
  const echo = system.spawn(receive<{ replyTo: ActorRef<number> }>((_c, m) => m.replyTo.tell(1)))
  const host = { served: false }
  setImmediate(() => (host.served = true))
  let rounds = 0
  // Each round wakes the dispatcher by a microtask; without a bound none of the host's events would come through.
  const until = performance.now() + 5000
  while (!host.served && performance.now() < until) {
    await echo.ask({})
    rounds++
  }
  expect(host.served).toBe(true)
  expect(rounds).toBeGreaterThan(0)
  await system.shutdown()
})

describe('runtimes', () => {
  test('are found by name, replaceable, and the default is the host', async () => {
    const made: string[] = []
    const own =
      (id: string): (() => ExecutionRuntime) =>
      () => {
        made.push(id)
        return new ManualRuntime()
      }
    const named = ActorSystem.create('a', { keepAlive: false, runtime: 'mine', runtimes: { mine: own('mine') } })
    const replaced = ActorSystem.create('b', { keepAlive: false, runtimes: { host: own('host') } })
    const manual = ActorSystem.create('c', { keepAlive: false, runtime: 'manual' })
    const given = ActorSystem.create('d', { keepAlive: false, runtime: new HostRuntime() })
    expect(made).toEqual(['mine', 'host'])
    for (const system of [named, replaced, manual]) expect(system.pump()).toBe('idle')
    expect(() => given.pump()).toThrow(expect.objectContaining({ code: 'not-allowed', message: expect.stringContaining('manual') }))
    for (const system of [named, replaced, manual, given]) await system.shutdown()
  })

  test('an unknown name says which there are', () => {
    const unknown = (): ActorSystem => ActorSystem.create('x', { runtime: 'warp', runtimes: { mine: () => new ManualRuntime() } })
    expect(unknown).toThrow(expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(/warp.*host, manual, mine/) }))
    expect(() => ActorSystem.create('x', { runtime: 'toString' })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(() => ActorSystem.create('x', { runtime: {} as never })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })

  test('pump runs everything due, synchronously, and says whether handlers wait', async () => {
    const system = ActorSystem.create('p', { keepAlive: false, runtime: 'manual' })
    const log: string[] = []
    let finish = (): void => {}
    const ref = system.spawn(
      receive<string>((_c, m) => {
        log.push(m)
        return m === 'wait' ? new Promise<void>((resolve) => (finish = resolve)) : same
      }),
    )
    ref.tell('a')
    expect(log).toEqual([])
    expect(system.pump()).toBe('idle')
    expect(log).toEqual(['a'])
    ref.tell('wait')
    ref.tell('b')
    expect(system.pump()).toBe('awaiting')
    finish()
    await Promise.resolve()
    await Promise.resolve()
    expect(system.pump()).toBe('idle')
    expect(log).toEqual(['a', 'wait', 'b'])
    await system.shutdown()
  })

  test('a runtime that has a stop is stopped once, with its system', async () => {
    let stops = 0
    class Stoppable extends ManualRuntime {
      stop(): void {
        stops++
      }
    }
    const system = ActorSystem.create('s', { keepAlive: false, runtime: new Stoppable() })
    await system.shutdown()
    await system.shutdown()
    expect(stops).toBe(1)
  })
})

test('a slice too small for the clock to tell still lets every pass have a turn', async () => {
  const kit = createTestKit({ dispatcher: { slice: 1e-15 } })
  // Far from 0, where the sum of both is the time itself.
  await kit.advance(1000)
  const heard: number[] = []
  const ref = kit.system.spawn(
    receive<number>((_ctx, n) => {
      heard.push(n)
      return same
    }),
  )
  for (let n = 0; n < 3; n++) ref.tell(n)
  await kit.settle()
  expect(heard).toEqual([0, 1, 2])
  await kit.end()
})
