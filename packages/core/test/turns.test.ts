// How long a turn lasts, and who is named for holding the loop (C11). Handlers say what they cost, on a clock of the test.

import { fc } from './properties.ts'
import { describe, expect, test } from 'vitest'
import {
  measured,
  type ActorRef,
  ActorSystem,
  type AnyRef,
  bounded,
  HostRuntime,
  mailboxOf,
  type Observation,
  priority,
  receive,
  same,
  setup,
  unbounded,
} from '@troupe/core'
import { type Watched, watchedSystem } from './watched.ts'

/** Lengths of the runs of equal entries. */
function runs(order: readonly string[], of: string): number[] {
  const lengths: number[] = []
  let length = 0
  for (const name of [...order, '']) {
    if (name === of) length++
    else if (length > 0) {
      lengths.push(length)
      length = 0
    }
  }
  return lengths
}

/** An actor that takes `ms` for each message. */
const costing = (runtime: Watched, ms: number, order: string[] = [], name = ''): ReturnType<typeof receive<number>> =>
  receive<number>(() => {
    order.push(name)
    runtime.handled(ms)
    return same
  })

const flood = (ref: ActorRef<number>, messages: number): void => {
  for (let i = 0; i < messages; i++) ref.tell(i)
}

describe('a turn is bounded by time', () => {
  test('a trivial sink that 2,000 senders feed keeps up beside an actor that takes 0.4 ms: for 10 s it has fewer than 1,000 queued', () => {
    const { system, runtime } = watchedSystem()
    const ends = 10_000
    let queued = 0
    let most = 0
    let sent = 0
    const sink = system.spawn(
      receive<number>(() => {
        runtime.handled(0.001)
        queued--
        return same
      }),
    )
    const slow = system.spawn(
      receive<number>((ctx) => {
        runtime.handled(0.4)
        if (runtime.clock.now < ends) ctx.self.tell(0)
        return same
      }),
    )
    for (let i = 0; i < 2000; i++)
      system.spawn(
        setup<string>((ctx) => {
          ctx.timers.once('first', (i % 150) + 1, 'begin')
          return receive((c, m) => {
            if (m === 'begin') c.timers.every('next', 150, 'go on')
            if (runtime.clock.now >= ends) c.timers.cancelAll()
            runtime.handled(0.005)
            sink.tell(0)
            sent++
            most = Math.max(most, ++queued)
            return same
          })
        }),
      )
    flood(slow, 64)
    system.pump()
    expect(runtime.clock.now).toBeGreaterThan(ends)
    expect(sent).toBeGreaterThan(100_000)
    expect(most).toBeLessThan(1000)
    void system.shutdown()
    system.pump()
  })

  test('it ends at the first clock read after an eighth of the slice, and the next of that actor begins with stride 1', () => {
    const { system, runtime } = watchedSystem()
    const order: string[] = []
    // At 0.1 ms each, reads after 1, 3 and 7 messages: the last is the first after 0.625 ms.
    const dear = system.spawn(costing(runtime, 0.1, order, 'dear'))
    const cheap = system.spawn(costing(runtime, 0.0001, order, 'cheap'))
    system.pump()
    flood(dear, 200)
    flood(cheap, 50_000)
    system.pump()
    const [first, ...others] = runs(order, 'dear')
    // The first may meet a longer stride; what comes after it is known.
    expect(first).toBeLessThanOrEqual(64)
    expect(others.length).toBeGreaterThan(10)
    // Fewer where the slice ended.
    expect(Math.max(...others)).toBe(7)
    expect(others.filter((length) => length === 7).length).toBeGreaterThan(others.length / 2)
    // In between the other one has its full turn.
    const between = runs(order, 'cheap').slice(0, others.length)
    expect(between.filter((length) => length === 1024).length).toBeGreaterThan(others.length / 2)
    void system.shutdown()
    system.pump()
  })

  test('an actor that was cut is still known to be dear after it was idle', () => {
    const { system, runtime } = watchedSystem()
    const order: string[] = []
    const dear = system.spawn(costing(runtime, 1, order, 'dear'))
    const cheap = system.spawn(costing(runtime, 0, order, 'cheap'))
    system.pump()
    flood(dear, 200)
    system.pump()
    order.length = 0
    flood(cheap, 2000)
    flood(dear, 10)
    flood(cheap, 1)
    system.pump()
    expect(runs(order, 'dear')[0]).toBe(1)
    void system.shutdown()
    system.pump()
  })

  test('what others took before an actor in the same stretch shortens one of its turns, not all of them', () => {
    const { system, runtime } = watchedSystem()
    const order: string[] = []
    const again = (ms: number, name: string): AnyRef => {
      const ref = system.spawn(
        receive<number>((ctx) => {
          order.push(name)
          runtime.handled(ms)
          if (order.length < 200_000) ctx.self.tell(0)
          return same
        }),
      )
      ref.tell(0)
      return ref
    }
    // One message per turn each, so that none of them is ever looked at alone.
    for (let i = 0; i < 60; i++) again(i === 59 ? 0.7 : 0.0001, 'other')
    const sink = system.spawn(costing(runtime, 0.0001, order, 'sink'))
    flood(sink, 100_000)
    system.pump()
    const turns = runs(order, 'sink')
    expect(turns.length).toBeLessThan(2.5 * (100_000 / 1024))
    void system.shutdown()
    system.pump()
  })

  test('a turn begins anew in every pass of the host, and each has its full time', () => {
    const { system, runtime } = watchedSystem()
    const order: string[] = []
    const enter = runtime.enter.bind(runtime)
    runtime.enter = (task) => {
      order.push('|')
      enter(task)
    }
    const refs = ['a', 'b'].map((name) => system.spawn(costing(runtime, 0.1, order, name)))
    system.pump()
    for (const ref of refs) flood(ref, 400)
    system.pump()
    const firsts = order.join('').split('|').slice(3, -2)
    expect(firsts.length).toBeGreaterThan(10)
    for (const pass of firsts) expect(pass).toMatch(/^(a{7}b|b{7}a)/)
    // Also where each pass has looked at the clock in its first turn.
    const [cheap, other] = ['c', 'o'].map((name) => system.spawn(costing(runtime, 0, order, name)))
    system.pump()
    for (let round = 0; round < 4; round++) {
      order.length = 0
      runtime.clock.now += 1
      flood(cheap!, 500)
      flood(other!, 1)
      system.pump()
      expect(order.join('').replaceAll('|', '')).toBe(`${'c'.repeat(500)}o`)
    }
    void system.shutdown()
    system.pump()
  })

  test('who was cut once and is cheap since is read as rarely as others', () => {
    const { system, runtime } = watchedSystem()
    let ms = 1
    const ref = system.spawn(
      receive<number>(() => {
        runtime.handled(ms)
        return same
      }),
    )
    system.pump()
    flood(ref, 100)
    system.pump()
    ms = 0
    flood(ref, 1000)
    system.pump()
    const before = runtime.reads
    // One message for each turn.
    for (let i = 0; i < 200; i++) {
      ref.tell(i)
      system.pump()
    }
    // Each drain begins with a read.
    expect(runtime.reads - before).toBeLessThan(250)
    void system.shutdown()
    system.pump()
  })

  test('the cap is 1,024 messages where nothing is said, and what was said otherwise', () => {
    for (const [options, cap] of [
      [{}, 1024],
      [{ dispatcher: { throughput: 10 } }, 10],
      [{ dispatcher: { throughput: 5000 } }, 5000],
    ] as const) {
      const { system, runtime } = watchedSystem(options)
      const order: string[] = []
      const [a, b] = ['a', 'b'].map((name) => system.spawn(costing(runtime, 0, order, name)))
      system.pump()
      flood(a!, 12_000)
      flood(b!, 12_000)
      system.pump()
      expect(Math.max(...runs(order, 'a').slice(0, 2))).toBe(cap)
      void system.shutdown()
      system.pump()
    }
  })

  test('it holds for guarded, reentrant and priority actors, and for a slice of any length', () => {
    for (const slice of [0.5, 5, 100])
      for (const options of [
        {},
        { metrics: measured() },
        { reentrant: true },
        { mailbox: priority<number>(() => 0) },
        { mailbox: unbounded({ systemShare: 50 }) },
      ]) {
        const { system, runtime } = watchedSystem({ dispatcher: { slice } })
        const order: string[] = []
        const cost = slice / 32
        const dear = system.spawn(costing(runtime, cost, order, 'dear'), options as never)
        const other = system.spawn(costing(runtime, 0, order, 'other'))
        system.pump()
        flood(dear, 400)
        flood(other, 100_000)
        system.pump()
        // Reads after 1, 3 and 7; four make an eighth of the slice.
        for (const length of runs(order, 'dear').slice(1, -1)) expect(length).toBeLessThanOrEqual(7)
        expect(Math.max(...runtime.lengths)).toBeLessThanOrEqual(slice + 64 * cost)
        void system.shutdown()
        system.pump()
      }
  })
})

type Slow = Extract<Observation, { type: 'turn.slow' }>

const listening = (system: ActorSystem): Slow[] => {
  const slow: Slow[] = []
  system.events.listen((e) => slow.push(e as Slow), 'turn.slow')
  return slow
}

type Work = { readonly type: string; readonly ms: number }

/** A system whose stride is at its longest, and a worker that takes as long as it is told. */
function warm(options: Parameters<typeof watchedSystem>[0] = {}): {
  system: ActorSystem
  runtime: Watched
  slow: Slow[]
  worker: () => ActorRef<Work>
} {
  const { system, runtime } = watchedSystem(options)
  const slow = listening(system)
  const worker = (): ActorRef<Work> =>
    system.spawn(
      receive<Work>((_ctx, m) => {
        runtime.handled(m.ms)
        return same
      }),
    )
  const heating = worker()
  for (let i = 0; i < 500; i++) heating.tell({ type: 'heat', ms: 0 })
  system.pump()
  return { system, runtime, slow, worker }
}

describe('turn.slow', () => {
  test('a lone slow handler on a warm system is named from its second time on, with its message', () => {
    const { system, slow, worker } = warm()
    const ref = worker()
    system.pump()
    for (const type of ['hog', 'hog', 'boar']) {
      ref.tell({ type, ms: 20 })
      system.pump()
    }
    // What the last did is seen when the next drain begins at the latest.
    worker()
    system.pump()
    expect(slow.map((s) => [s.ref, s.message, s.ms])).toEqual([
      [ref, 'hog', 20],
      [ref, 'boar', 20],
    ])
    void system.shutdown()
    system.pump()
  })

  test('so is one that others run beside, and they are not', () => {
    const { system, slow, worker } = warm()
    const refs = Array.from({ length: 10 }, worker)
    system.pump()
    for (let round = 0; round < 3; round++) {
      for (const [i, ref] of refs.entries()) ref.tell({ type: `of ${i}`, ms: i === 4 ? 20 : 1 / 128 })
      system.pump()
    }
    expect(slow.map((s) => [s.ref, s.message, s.ms])).toEqual([
      [refs[4], 'of 4', 20],
      [refs[4], 'of 4', 20],
    ])
    void system.shutdown()
    system.pump()
  })

  test('so is one in a stretch that is read to its end', () => {
    const { system, slow, worker } = warm()
    const refs = Array.from({ length: 200 }, worker)
    system.pump()
    for (let round = 0; round < 3; round++) {
      for (const [i, ref] of refs.entries()) ref.tell({ type: `of ${i}`, ms: i === 130 ? 20 : 0.001 })
      system.pump()
    }
    expect(slow.map((s) => s.ref)).toEqual([refs[130], refs[130]])
    void system.shutdown()
    system.pump()
  })

  test('quick messages between two slow ones do not hide it', () => {
    const { system, slow, worker } = warm()
    const ref = worker()
    system.pump()
    for (let round = 0; round < 3; round++) {
      ref.tell({ type: 'hog', ms: 20 })
      system.pump()
      for (let i = 0; i < 500; i++) {
        ref.tell({ type: 'quick', ms: 0.001 })
        if (i % 10 === 0) system.pump()
      }
      system.pump()
    }
    expect(slow.map((s) => [s.ref, s.message, s.ms])).toEqual([
      [ref, 'hog', 20],
      [ref, 'hog', 20],
    ])
    void system.shutdown()
    system.pump()
  })

  test('nobody is blamed for what the host did between two drains, however often', () => {
    const { system, runtime, slow, worker } = warm()
    const refs = Array.from({ length: 5 }, worker)
    system.pump()
    for (let round = 0; round < 300; round++) {
      for (const ref of refs.slice(0, 1 + (round % 5))) ref.tell({ type: 'quick', ms: 0.01 })
      system.pump()
      runtime.clock.now += 50
    }
    expect(slow).toEqual([])
    void system.shutdown()
    system.pump()
  })

  test('nor for what is done when timers are due', () => {
    const { system, runtime, slow, worker } = warm()
    const mailbox = mailboxOf({
      kind: 'costly',
      create: () => {
        const queue: unknown[] = []
        return {
          meta: undefined,
          get size() {
            return queue.length
          },
          push: (message) => {
            runtime.clock.now += 30
            queue.push(message)
          },
          shift: () => queue.shift(),
        }
      },
    })
    const behind = system.spawn(
      receive<string>(() => same),
      { mailbox },
    )
    const [dear, ref] = [worker(), worker()]
    system.pump()
    // Its turns are timed, so that the timer is seen to be due in mid-drain.
    for (let i = 0; i < 100; i++) dear.tell({ type: 'dear', ms: 2 })
    system.pump()
    slow.length = 0
    for (let round = 0; round < 20; round++) {
      system.sendAfter(behind, 1, 'tick')
      dear.tell({ type: 'dear', ms: 2 })
      ref.tell({ type: 'quick', ms: 1 / 128 })
      system.pump()
    }
    expect(runtime.clock.now).toBeGreaterThan(20 * 32)
    expect(slow).toEqual([])
    void system.shutdown()
    system.pump()
  })

  test('nor a suspect for who ran before it', () => {
    const { system, runtime, slow, worker } = warm()
    const [suspect, hog] = [worker(), worker()]
    system.pump()
    suspect.tell({ type: 'quick', ms: 0 })
    system.pump()
    runtime.clock.now += 50
    hog.tell({ type: 'hog', ms: 20 })
    suspect.tell({ type: 'quick', ms: 0 })
    system.pump()
    // Whoever ran alone between two reads, on the other hand, is named at once.
    expect(slow.map((s) => s.ref)).toEqual([hog])
    void system.shutdown()
    system.pump()
  })

  test('nor is somebody a suspect for what the host does after a drain that ended with a clock read', () => {
    const { system, runtime } = warm()
    const ref = system.spawn(costing(runtime, 0.001))
    system.pump()
    const enter = runtime.enter.bind(runtime)
    runtime.enter = (task) => {
      runtime.clock.now += 50
      enter(task)
    }
    const before = runtime.reads
    flood(ref, 100_000)
    system.pump()
    expect(runtime.reads - before).toBeLessThan(5000)
    void system.shutdown()
    system.pump()
  })

  test('a suspect that is quick costs the clock for a thousand messages, and then nothing', () => {
    const { system, runtime, worker } = warm()
    const ref = worker()
    system.pump()
    const readsOf = (messages: number): number => {
      const before = runtime.reads
      for (let i = 0; i < messages; i++) ref.tell({ type: 'quick', ms: 0 })
      system.pump()
      return runtime.reads - before
    }
    ref.tell({ type: 'quick', ms: 0 })
    system.pump()
    runtime.clock.now += 50
    expect(readsOf(10)).toBeGreaterThanOrEqual(10)
    expect(readsOf(6400)).toBeLessThan(1300)
    expect(readsOf(6400)).toBeLessThan(200)
    void system.shutdown()
    system.pump()
  })

  test('a slow setup is not held against the message after it', () => {
    const { system, runtime, slow } = warm()
    const ref = system.spawn(
      setup<Work>(() => {
        runtime.handled(20)
        return receive<Work>((_ctx, m) => {
          runtime.handled(m.ms)
          return same
        })
      }),
    )
    ref.tell({ type: 'quick', ms: 0 })
    system.pump()
    // A suspect by now, whose turns are timed.
    system.restart(ref)
    ref.tell({ type: 'quick', ms: 0 })
    system.pump()
    expect(slow.map((s) => [s.ref, s.message, s.ms])).toEqual([[ref, undefined, 20]])
    // While the clock is read after each message, a first start is seen at once.
    const dear = system.spawn(costing(runtime, 1))
    flood(dear, 100)
    system.pump()
    slow.length = 0
    const fresh = system.spawn(
      setup<Work>(() => {
        runtime.handled(20)
        return receive<Work>(() => same)
      }),
    )
    fresh.tell({ type: 'quick', ms: 0 })
    system.pump()
    expect(slow.map((s) => [s.ref, s.message, s.ms])).toEqual([[fresh, undefined, 20]])
    void system.shutdown()
    system.pump()
  })

  test('on the event loop too: the slow one is named from its second time, and nobody for a busy host', async () => {
    const clock = { now: 0 }
    class Clocked extends HostRuntime {
      override now(): number {
        return clock.now
      }
    }
    const system = ActorSystem.create('loop', { keepAlive: false, runtime: new Clocked() })
    const slow = listening(system)
    const worker = receive<Work & { replyTo: ActorRef<number> }>((_ctx, m) => {
      clock.now += m.ms
      m.replyTo.tell(1)
      return same
    })
    const [quick, hog] = [system.spawn(worker), system.spawn(worker)]
    for (let i = 0; i < 300; i++) await quick.ask({ type: 'heat', ms: 0 })
    for (let i = 0; i < 20; i++) {
      await quick.ask({ type: 'quick', ms: 0.01 })
      // The host is busy elsewhere: in a timer of the user, or in what follows the answer.
      clock.now += 30
      await new Promise<void>((resolve) => {
        setImmediate(() => {
          clock.now += 40
          resolve()
        })
      })
    }
    expect(slow).toEqual([])
    for (let i = 0; i < 3; i++) await hog.ask({ type: 'hog', ms: 20 })
    expect(slow.slice(-2).map((s) => [s.ref, s.message, s.ms])).toEqual([
      [hog, 'hog', 20],
      [hog, 'hog', 20],
    ])
    expect(new Set(slow.map((s) => s.ref))).toEqual(new Set([hog]))
    await system.shutdown()
  })
})

test('C11, the ledger and turns hold for any mixture of costs, mailboxes, settings and kinds of handlers; only who held the loop is named', () => {
  const actor = fc.record({
    ms: fc.constantFrom(0, 0, 0.001, 0.05, 0.4, 2, 12),
    kind: fc.constantFrom('plain', 'guarded', 'reentrant', 'priority', 'shared', 'bounded', 'breeding'),
    messages: fc.integer({ min: 0, max: 150 }),
    pause: fc.constantFrom(0, 0, 30),
  })
  const settings = fc.record({
    slice: fc.constantFrom(0.5, 5, 100),
    throughput: fc.constantFrom(undefined, 1, 3, 2000),
    maxTurns: fc.constantFrom(undefined, 1, 7),
  })
  fc.assert(
    fc.property(fc.array(actor, { minLength: 1, maxLength: 12 }), settings, fc.integer({ min: 1, max: 4 }), (actors, dispatcher, rounds) => {
      const { system, runtime } = watchedSystem({ dispatcher })
      const slow = listening(system)
      let handled = 0
      const refs = actors.map(({ ms, kind }) => {
        const mailbox =
          kind === 'priority'
            ? priority<number>((a, b) => a - b)
            : kind === 'shared'
              ? unbounded({ systemShare: 10 })
              : kind === 'bounded'
                ? bounded(10_000, 'reject')
                : undefined
        return system.spawn(
          receive<number>((ctx) => {
            handled++
            runtime.handled(ms)
            if (kind === 'breeding' && handled % 10 === 0) ctx.spawn(costing(runtime, 0)).tell(0)
            return same
          }),
          { mailbox, metrics: kind === 'guarded' && measured(), reentrant: kind === 'reentrant' } as never,
        )
      })
      let sent = 0
      for (let round = 0; round < rounds; round++) {
        if (round === 1) slow.length = 0
        for (const [i, { messages, pause }] of actors.entries()) {
          flood(refs[i] as ActorRef<number>, messages)
          sent += messages
          // The host is busy, or it is a quiet moment.
          runtime.clock.now += pause
          if (pause > 0) system.pump()
        }
        system.pump()
      }
      expect(handled).toBe(sent)
      const dearest = Math.max(...actors.map((a) => a.ms))
      for (const length of runtime.lengths) expect(length).toBeLessThanOrEqual(dispatcher.slice + 64 * dearest + 1e-6)
      // From the second time on each handler that is longer than a slice is named.
      if (rounds > 1)
        for (const [i, { ms, messages }] of actors.entries())
          if (ms > dispatcher.slice) expect(slow.filter((s) => s.ref === refs[i])).toHaveLength((rounds - 1) * messages)
      for (const { ref, ms } of slow) {
        const at = refs.indexOf(ref as never)
        // Named alone for what it took itself: one handler of its own, or a stretch of them.
        expect(at).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(64 * actors[at]!.ms + 1e-6)
      }
      void system.shutdown()
      system.pump()
    }),
    { numRuns: 150 },
  )
})
