// Starts that fail, and how often they are tried again: BEHAVIOURS 8, 9 and 12.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { ActorInitializationError, type Behavior, child, ignore, receive, same, setup, supervise, supervisor } from '@troupe/core'
import { boom, keeper, type Msg, quick, say } from './keeper.ts'

describe('8. a start that fails', () => {
  test('says so in one sentence after the other, and its advice once, however many wait for it', async () => {
    const kit = createTestKit()
    const wrong = setup<Msg>((ctx) => {
      ctx.spawn(ignore, { name: '' })
      return ignore
    })
    const ref = kit.system.spawn(supervisor({ children: [child('line', supervisor({ children: [child('printer', wrong)] }))] }), { name: 'app' })
    const started = kit.system.started(ref).catch((cause: Error) => cause.message)
    await kit.settle()
    const text = await started
    expect(text).toMatch(/^\/user\/app failed to start: \/user\/app\/line failed to start: \/user\/app\/line\/printer failed to start: \S/)
    expect(text).not.toContain('..')
    expect(String(text).split('A first start is not retried').length).toBe(2)
    await kit.end()
  })

  const where = ['setup', 'async setup', 'PreStart', 'PostStart'] as const
  /** Fails in that place as long as `failing` says so. */
  const fragile = (place: (typeof where)[number], failing: () => boolean, log: string[] = []): Behavior<Msg> => {
    const cause = new Error(`bad ${place}`)
    const ready = receive<Msg>(
      () => same,
      (_c, s) => {
        log.push(s.type)
        if (s.type === place && failing()) throw cause
        return same
      },
    )
    return setup<Msg>((): Behavior<Msg> | Promise<Behavior<Msg>> => {
      log.push('setup')
      if (place === 'setup' && failing()) throw cause
      if (place === 'async setup') return failing() ? Promise.reject(cause) : Promise.resolve(ready)
      return ready
    })
  }

  test.each(where)(
    'a throw in the first %s is not retried: it stops with ActorInitializationError, started rejects, the name is free',
    async (place) => {
      const kit = createTestKit()
      const log: string[] = []
      const ref = kit.system.spawn(
        fragile(place, () => true, log),
        { name: 'fragile' },
      )
      ref.tell(say('lost'))
      const started = kit.system.started(ref).catch((error: unknown) => error)
      await kit.advance(10_000)
      const error = (await started) as ActorInitializationError
      expect(error).toBeInstanceOf(ActorInitializationError)
      expect(error.cause).toEqual(new Error(`bad ${place}`))
      expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'failure', cause: error })
      await expect(kit.system.started(ref)).rejects.toBe(error)
      expect(log.filter((l) => l === 'setup')).toHaveLength(1)
      expect(log.filter((l) => l === 'PostStop')).toHaveLength(place.endsWith('setup') ? 0 : 1)
      expect(kit.system.find('/user/fragile')).toBeUndefined()
      kit.system.spawn(keeper(), { name: 'fragile' })
      expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['stopped'])
      await kit.end()
    },
  )

  test.each(where)('with retryStart a failing first %s is retried under the limit and backoff', async (place) => {
    const kit = createTestKit()
    let left = 2
    const log: string[] = []
    const ref = kit.system.spawn(
      fragile(place, () => left-- > 0, log),
      { supervision: supervise({ retryStart: true, backoff: { min: 100, jitter: 0 } }) },
    )
    const started = kit.system.started(ref)
    await kit.advance(99)
    expect(log.filter((l) => l === 'setup')).toHaveLength(1)
    await kit.advance(1)
    expect(log.filter((l) => l === 'setup')).toHaveLength(2)
    await kit.advance(199)
    expect(log.filter((l) => l === 'setup')).toHaveLength(2)
    await kit.advance(1)
    await started
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })

  test('with retryStart a start that fails for good stops at the limit; started rejects, before and after', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      fragile('setup', () => true),
      { name: 'fragile', supervision: supervise({ retryStart: true }) },
    )
    const started = kit.system.started(ref).catch((error: unknown) => error)
    await kit.advance(10_000)
    expect(await started).toBeInstanceOf(ActorInitializationError)
    await expect(kit.system.started(ref)).rejects.toBeInstanceOf(ActorInitializationError)
    expect(kit.system.counts().supervision).toMatchObject({ restarts: 3, limitsHit: 1 })
    expect(kit.system.find('/user/fragile')).toBeUndefined()
    await kit.end()
  })

  test.each(where)('a failing %s during a restart counts as a failure and is backed off', async (place) => {
    const kit = createTestKit()
    let failing = false
    const log: string[] = []
    const ref = kit.system.spawn(
      fragile(place, () => failing, log),
      {
        supervision: supervise({ limit: { restarts: 3, within: 10_000 }, backoff: { min: 100, max: 10_000, jitter: 0 } }),
      },
    )
    await kit.settle()
    failing = true
    log.length = 0
    kit.system.restart(ref)
    await kit.settle()
    const setups = (): number => log.filter((l) => l === 'setup').length
    expect(setups()).toBe(1)
    await kit.advance(100)
    expect(setups()).toBe(2)
    await kit.advance(199)
    expect(setups()).toBe(2)
    await kit.advance(1)
    expect(setups()).toBe(3)
    await kit.advance(400)
    expect(setups()).toBe(4)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.counts().supervision).toMatchObject({ restarts: 3, limitsHit: 1 })
    await kit.end()
  })

  test("a start that fails during a restart under 'resume' stops: there is nothing to resume", async () => {
    const kit = createTestKit()
    let failing = false
    const ref = kit.system.spawn(
      fragile('setup', () => failing),
      { supervision: 'resume' },
    )
    await kit.settle()
    failing = true
    kit.system.restart(ref)
    await kit.settle()
    ref.tell(say('anyone?'))
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
})

describe('9. backoff', () => {
  test('doubles, is clamped, resets after quiet', async () => {
    const kit = createTestKit()
    const starts: number[] = []
    const ref = kit.system.spawn(
      setup<Msg>(() => {
        starts.push(kit.clock.now)
        return receive<Msg>(() => {
          throw new Error('boom')
        })
      }),
      { supervision: supervise({ limit: { restarts: 100, within: 1000 }, backoff: { min: 10, max: 50, factor: 2, jitter: 0 } }) },
    )
    for (let i = 0; i < 5; i++) ref.tell(boom())
    await kit.advance(500)
    const gaps = starts.slice(1).map((at, i) => at - starts[i]!)
    expect(gaps).toEqual([10, 20, 40, 50, 50])
    await kit.advance(1000)
    const before = kit.clock.now
    ref.tell(boom())
    await kit.advance(100)
    expect(starts.at(-1)! - before).toBe(10)
    await kit.end()
  })

  test('a start that keeps failing never spins', async () => {
    const kit = createTestKit()
    let starts = 0
    kit.system.spawn(
      setup<Msg>(() => {
        starts++
        throw new Error('never')
      }),
      { supervision: supervise({ retryStart: true, limit: { restarts: 1000, within: 1 }, backoff: { min: 10, max: 1000, jitter: 0 } }) },
    )
    await kit.advance(10_000)
    // 10, 20, … 640, and then once a second.
    expect(starts).toBe(1 + 7 + 8)
    await kit.end()
  })

  test('without a delay a start that keeps failing leaves others their turns', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      setup<Msg>(() => {
        throw new Error('never')
      }),
      { supervision: supervise({ retryStart: true, limit: { restarts: 500, within: 1000 }, backoff: quick }) },
    )
    const other = kit.system.spawn(keeper())
    other.tell(say('hello'))
    const answer = other.ask({ type: 'get' })
    await kit.settle()
    expect(await answer).toEqual(['hello'])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
})

test('12. a setup that throws runs in the first turn, never inside spawn, and leaves no zombie', async () => {
  const kit = createTestKit()
  let ran = false
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      ran = true
      ctx.spawn(keeper(), { name: 'orphan' })
      ctx.timers.every('tick', 10, say('tick'))
      throw new Error('no')
    }),
    { name: 'twice', supervision: supervise({ retryStart: true, backoff: quick }) },
  )
  expect(ran).toBe(false)
  await kit.advance(100)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(kit.system.counts()).toMatchObject({ active: 0, terminated: 5 })
  expect((await kit.checkLedger()).sent).toBe(0)
  kit.system.spawn(keeper(), { name: 'twice' })
  await kit.end()
})
