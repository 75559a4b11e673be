// How long a stop may take: one deadline, passed down, and not a time for each step and each level.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type AnyRef, type Behavior, child, ignore, receive, same, setup, type SpawnOptions, supervisor } from '@troupe/core'

const never = (): Promise<void> => new Promise(() => {})

/** Hangs in one signal of its end. */
const hanging = (place: 'PreStop' | 'PostStop' | 'PreRestart', heard: string[] = [], name = ''): Behavior<unknown> =>
  receive<unknown>(
    () => same,
    (_c, s) => {
      heard.push(`${name}:${s.type}`)
      return s.type === place ? never() : same
    },
  )

const above = (below: Behavior<unknown>, options: SpawnOptions, heard?: string[]): Behavior<unknown> =>
  setup((ctx) => {
    ctx.spawn(below, options)
    return heard === undefined ? ignore : hanging('PostStop', heard, 'above')
  })

/** Virtual milliseconds until the actor has ended; fails past `longest`. */
async function endOf(kit: TestKit, ref: AnyRef, longest: number): Promise<number> {
  for (let ms = 0; ms <= longest; ms += 10) {
    await kit.settle()
    if (kit.system.phaseOf(ref) === 'terminated') return ms
    await kit.advance(10)
  }
  throw new Error(`still ${kit.system.phaseOf(ref)} after ${longest} ms`)
}

describe('the deadline of a stop', () => {
  test('four levels that hang in PostStop, 100 ms each, take 200 ms and not 800', async () => {
    const kit = createTestKit()
    const own = { stopTimeout: 100 }
    const line = (depth: number): Behavior<unknown> =>
      setup((ctx) => {
        if (depth > 1) ctx.spawn(line(depth - 1), own)
        return hanging('PostStop')
      })
    const top = kit.system.spawn(line(4), own)
    await kit.settle()
    top.stop()
    // The deadline, and then the top's own PostStop.
    expect(await endOf(kit, top, 1000)).toBe(200)
    await kit.end()
  })

  test.each(['PreStop', 'PostStop'] as const)(
    'a parent with 100 ms does not wait for a child that hangs in %s and has the default',
    async (place) => {
      const kit = createTestKit()
      const heard: string[] = []
      const top = kit.system.spawn(above(hanging(place, heard, 'child'), {}), { stopTimeout: 100 })
      await kit.settle()
      top.stop()
      expect(await endOf(kit, top, 1000)).toBe(100)
      expect(heard.slice(-1)).toEqual(['child:PostStop'])
      await kit.end()
    },
  )

  test('handler, PreStop and PostStop share one time; PostStop then still has as much, at most a second', async () => {
    const kit = createTestKit()
    const slow = receive<unknown>(
      () => never(),
      (_c, s) => (s.type === 'PostStop' ? never() : same),
    )
    const short = kit.system.spawn(slow, { stopTimeout: 100 })
    const long = kit.system.spawn(slow, { stopTimeout: 3000 })
    for (const ref of [short, long]) ref.tell('hang')
    await kit.settle()
    short.stop()
    expect(await endOf(kit, short, 1000)).toBe(200)
    long.stop()
    expect(await endOf(kit, long, 10_000)).toBe(4000)
    await kit.end()
  })

  test('a parent that is told to stop later tightens the deadline of a child that was stopping already, and of those below it', async () => {
    const kit = createTestKit()
    let middle!: AnyRef & { stop(): void }
    const top = kit.system.spawn(
      setup<unknown>((ctx) => {
        middle = ctx.spawn(above(hanging('PreStop'), { stopTimeout: 50_000 }), { stopTimeout: 50_000 })
        return ignore
      }),
      { stopTimeout: 100 },
    )
    await kit.settle()
    middle.stop()
    await kit.advance(1000)
    expect(kit.system.phaseOf(middle)).toBe('stopping')
    top.stop()
    expect(await endOf(kit, top, 1000)).toBe(100)
    await kit.end()
  })

  test('who hangs in PostStop when one above is told to stop has not more time than before', async () => {
    const kit = createTestKit()
    let below: AnyRef | undefined
    const top = kit.system.spawn(
      setup<unknown>((ctx) => {
        below = ctx.spawn(hanging('PostStop'), { stopTimeout: 100 })
        return ignore
      }),
    )
    await kit.settle()
    kit.system.stop(below!)
    await kit.advance(90)
    top.stop()
    expect(await endOf(kit, top, 1000)).toBe(10)
    await kit.end()
  })

  test('whoever only waits for its turn ends in an orderly way, past the deadline too', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const reasons: string[] = []
    const top = kit.system.spawn(
      setup<unknown>((ctx) => {
        for (let i = 0; i < 3; i++) ctx.spawn(above(hanging('PreRestart', heard, 'leaf'), {}))
        return receive<unknown>(
          () => never(),
          (_c, s) => {
            if (s.type === 'ChildStopped') reasons.push(s.reason)
            return same
          },
        )
      }),
      { stopTimeout: 100 },
    )
    await kit.settle()
    top.tell('hang')
    await kit.settle()
    heard.length = 0
    // The handler hangs until the deadline; only then the children are told.
    top.stop()
    expect(await endOf(kit, top, 1000)).toBe(100)
    expect(reasons).toEqual(['shutdown', 'shutdown', 'shutdown'])
    expect(heard.filter((h) => h === 'leaf:PreStop')).toHaveLength(3)
    await kit.end()
  })

  test('the ending half of a restart is bounded likewise', async () => {
    const kit = createTestKit()
    const top = kit.system.spawn(above(hanging('PostStop'), {}), { stopTimeout: 100 })
    await kit.settle()
    kit.system.restart(top)
    await kit.advance(99)
    expect(kit.system.phaseOf(top)).toBe('restarting')
    await kit.advance(1)
    expect(kit.system.phaseOf(top)).toBe('running')
    await kit.end()
  })
})

describe('the deadline of a stop under and above a supervisor', () => {
  test('the declared shutdown is the deadline for all below a child, whatever they declare', async () => {
    const kit = createTestKit()
    const sup = kit.system.spawn(
      supervisor({ children: [child('a', above(hanging('PostStop'), { stopTimeout: 50_000 }), { shutdown: 300, stopTimeout: 50_000 })] }),
    )
    await kit.settle()
    sup.stop()
    expect(await endOf(kit, sup, 1000)).toBe(300)
    await kit.end()
  })

  test('an ordinary actor above waits as long as the supervisor declares, and has time for its own end afterwards', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const sup = supervisor({
      children: [child('a', hanging('PreStop', heard, 'a'), { shutdown: 8000 }), child('b', hanging('PreStop', heard, 'b'), { shutdown: 8000 })],
    })
    const top = kit.system.spawn(above(above(sup as Behavior<unknown>, {}), {}, heard))
    await kit.settle()
    top.stop()
    // One after the other, and then the second that a PostStop still has.
    expect(await endOf(kit, top, 30_000)).toBe(17_000)
    await kit.end()
  })

  test.each(['lives', 'has ended'])('an ordinary actor above a supervisor that %s waits for others below it only for its own time', async (how) => {
    const kit = createTestKit()
    let sup: AnyRef | undefined
    const top = kit.system.spawn(
      setup<unknown>((ctx) => {
        sup = ctx.spawn(supervisor({ children: [child('a', hanging('PreStop'), { shutdown: how === 'lives' ? 2000 : 0 })] }))
        ctx.spawn(hanging('PostStop'), { stopTimeout: 60_000 })
        return ignore
      }),
    )
    await kit.settle()
    if (how === 'has ended') kit.system.stop(sup!)
    await kit.settle()
    top.stop()
    expect(await endOf(kit, top, 70_000)).toBe(5000)
    await kit.end()
  })

  test('a supervisor that takes its time already is bound by the deadline of one above that is told to stop later', async () => {
    const kit = createTestKit()
    let sup: AnyRef | undefined
    const top = kit.system.spawn(
      setup<unknown>((ctx) => {
        sup = ctx.spawn(supervisor({ children: [child('a', hanging('PreStop'), { shutdown: 60_000 })] }))
        return ignore
      }),
      { stopTimeout: 2000 },
    )
    await kit.settle()
    kit.system.stop(sup!)
    await kit.advance(1000)
    top.stop()
    expect(await endOf(kit, top, 70_000)).toBe(2000)
    await kit.end()
  })

  test('an ordinary actor above that has a stopTimeout of its own does not wait longer', async () => {
    const kit = createTestKit()
    const sup = supervisor({ children: [child('a', hanging('PreStop'), { shutdown: 8000 })] })
    const top = kit.system.spawn(above(above(sup as Behavior<unknown>, {}), {}), { stopTimeout: 2000 })
    await kit.settle()
    top.stop()
    expect(await endOf(kit, top, 30_000)).toBe(2000)
    await kit.end()
  })

  test('a shutdown lets a supervisor take its time, and kills what is left at its own deadline', async () => {
    const kit = createTestKit()
    kit.system.spawn(supervisor({ children: [child('a', hanging('PreStop'), { shutdown: 8000 })] }))
    await kit.settle()
    const ended = kit.system.shutdown({ deadline: 20_000 })
    await kit.advance(8000)
    expect((await ended).killed).toEqual([])
  })
})
