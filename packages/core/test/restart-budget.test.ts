// C6 through a system: the window slides, a group has one budget, and whose incarnation keeps it.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { ActorError, type FailureContext, type Observation, supervise } from '@troupe/core'
import { boom, keeper, quick } from './keeper.ts'
import { fc } from './properties.ts'
import { group, scoped } from './siblings.ts'

type Failed = Extract<Observation, { type: 'actor.failed' }>

/** When restarts were decided. */
function restartsOf(kit: TestKit): number[] {
  const times: number[] = []
  kit.system.events.listen((o) => void ((o as Failed).directive === 'restart' && times.push((o as Failed).at)), 'actor.failed')
  return times
}

/** The most that lie in one window of `within` ms, wherever it begins. */
const mostWithin = (times: readonly number[], within: number): number =>
  Math.max(0, ...times.map((from) => times.filter((t) => t >= from && t < from + within).length))

describe('the window', () => {
  test('slides: a limit of 3 in 1,000 ms does not allow 5 within 103 ms around the end of a first window', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: supervise({ limit: { restarts: 3, within: 1000 }, backoff: quick }) })
    const times = restartsOf(kit)
    for (const wait of [0, 950, 45, 55, 1]) {
      await kit.advance(wait)
      ref.tell(boom())
      await kit.settle()
    }
    expect(times).toEqual([0, 950, 995, 1050])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })

  test('decide is told of the failures that are still in it, and of the oldest of them', async () => {
    const kit = createTestKit()
    const told: (readonly [number, number])[] = []
    const decide = (_cause: unknown, { failures, windowStart }: FailureContext): 'resume' => {
      told.push([failures, windowStart])
      return 'resume'
    }
    const ref = kit.system.spawn(keeper(), { supervision: supervise({ decide, limit: { restarts: 1, within: 100 } }) })
    for (const wait of [0, 60, 39, 1, 60, 200]) {
      await kit.advance(wait)
      ref.tell(boom())
      await kit.settle()
    }
    expect(told).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [3, 60],
      [3, 99],
      [1, 360],
    ])
    await kit.end()
  })

  test("an ActorError's retry judges the restarts that other errors led to as well", async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: supervise({ limit: { restarts: 3, within: 100 }, backoff: quick }) })
    const fails = async (cause: unknown): Promise<string> => {
      await kit.advance(200)
      ref.tell(boom(cause))
      await kit.settle()
      return kit.system.phaseOf(ref)
    }
    expect(await fails(new Error('plain'))).toBe('running')
    expect(await fails(new Error('plain'))).toBe('running')
    expect(await fails(new ActorError('x', { retry: { max: 3, within: 1000 } }))).toBe('running')
    expect(await fails(new ActorError('x', { retry: { max: 3, within: 1000 } }))).toBe('terminated')
    await kit.end()
  })

  test('C6: for random times, limits and backoffs no window holds more restarts than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(quick, { min: 3, max: 50, factor: 2, jitter: 0.2 }),
        fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 25 }),
        async (restarts, within, backoff, waits) => {
          const kit = createTestKit()
          const parents = supervise({ decide: () => 'resume', limit: { restarts: 0, within: 1 } })
          const times = restartsOf(kit)
          // Its parent lets it go on after each hit of the limit, so that there is more than one window to look at.
          const g = await group(kit, supervise({ limit: { restarts, within }, onLimit: 'escalate', backoff }), {}, { supervision: parents })
          for (const wait of waits) {
            await kit.advance(wait)
            g.children[0]!.tell(boom())
            await kit.settle()
          }
          await kit.end()
          expect(mostWithin(times, within)).toBeLessThanOrEqual(restarts)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('a group', () => {
  test('has one budget: with restarts 1, failures of four children lead to one restart', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('all-for-one', { limit: { restarts: 1, within: 1000 } }))
    const times = restartsOf(kit)
    for (const child of [0, 1, 2]) {
      g.children[child]!.tell(boom())
      await kit.advance(10)
    }
    expect(times).toHaveLength(1)
    expect(await g.states()).toEqual(['terminated', 'terminated', 'terminated'])
    expect(kit.system.counts().supervision).toMatchObject({ restarts: 1, limitsHit: 1 })
    await kit.end()
  })

  test('with rest-for-one, the failure of the youngest counts for the eldest', async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('rest-for-one', { limit: { restarts: 1, within: 1000 } }))
    g.children[2]!.tell(boom())
    await kit.advance(10)
    expect(await g.states()).toEqual(['running 0', 'running 0', 'running 1'])
    g.children[0]!.tell(boom())
    await kit.advance(10)
    expect(await g.states()).toEqual(['terminated', 'terminated', 'terminated'])
    await kit.end()
  })

  test('tells decide of all its failures, and its last error, whoever failed', async () => {
    const kit = createTestKit()
    const told: unknown[] = []
    const decide = (_cause: unknown, { failures, lastError }: FailureContext): 'resume' => {
      told.push([failures, lastError])
      return 'resume'
    }
    const g = await group(kit, scoped('all-for-one', { decide, limit: { restarts: 1, within: 1000 } }))
    for (const child of [0, 1, 2]) {
      g.children[child]!.tell(boom(`by ${child}`))
      await kit.advance(10)
    }
    expect(told).toEqual([
      [1, undefined],
      [2, 'by 0'],
      [3, 'by 1'],
    ])
    await kit.end()
  })

  test('waits longer with each restart that any of its children causes, and begins anew after a quiet time of all', async () => {
    const kit = createTestKit()
    const backoff = { min: 10, max: 1000, factor: 2, jitter: 0 }
    const g = await group(kit, scoped('rest-for-one', { backoff, limit: { restarts: 9, within: 500 } }))
    const delays: number[] = []
    for (const [wait, child] of [
      [0, 2],
      [0, 1],
      [400, 0],
      [499, 2],
      [501, 0],
    ] as const) {
      await kit.advance(wait)
      const failedAt = kit.clock.now
      g.children[child]!.tell(boom())
      await kit.settle()
      while (kit.system.phaseOf(g.children[child]!) !== 'running') await kit.advance(5)
      delays.push(kit.clock.now - failedAt)
    }
    expect(delays).toEqual([10, 20, 40, 80, 10])
    await kit.end()
  })

  test.each(['stop', 'keep'] as const)("has a fresh budget with its parent's next incarnation, which lets children %s", async (children) => {
    const kit = createTestKit()
    const options = { supervision: supervise({ backoff: quick }), onRestart: { children } }
    const g = await group(kit, scoped('all-for-one', { limit: { restarts: 1, within: 10_000 } }), {}, options)
    const times = restartsOf(kit)
    g.children[0]!.tell(boom())
    await kit.advance(10)
    g.parent.tell(boom())
    await kit.advance(10)
    g.children[1]!.tell(boom())
    await kit.advance(10)
    expect(times).toHaveLength(3)
    expect(g.children.map((c) => kit.system.phaseOf(c))).toEqual(['running', 'running', 'running'])
    g.children[2]!.tell(boom())
    await kit.advance(10)
    expect(g.children.map((c) => kit.system.phaseOf(c))).toEqual(['terminated', 'terminated', 'terminated'])
    await kit.end()
  })

  test("keeps nothing of a child's own budget from before, and charges it nothing", async () => {
    const kit = createTestKit()
    const g = await group(kit, scoped('one-for-one', { limit: { restarts: 1, within: 1000 } }))
    for (const child of g.children) child.tell(boom())
    await kit.advance(10)
    expect(await g.states()).toEqual(['running 1', 'running 1', 'running 1'])
    await kit.end()
  })

  test('C6: for random children, times and scopes no window holds more restarts of the group than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('all-for-one' as const, 'rest-for-one' as const),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(quick, { min: 3, max: 50, factor: 2, jitter: 0.2 }),
        fc.array(fc.record({ wait: fc.integer({ min: 0, max: 120 }), child: fc.nat({ max: 2 }), twice: fc.boolean() }), { maxLength: 20 }),
        async (scope, restarts, within, backoff, steps) => {
          const kit = createTestKit()
          const times = restartsOf(kit)
          const g = await group(kit, scoped(scope, { limit: { restarts, within }, onLimit: 'escalate', backoff }), {}, { supervision: 'resume' })
          for (const { wait, child, twice } of steps) {
            await kit.advance(wait)
            g.children[child]!.tell(boom())
            if (twice) g.children[(child + 1) % 3]!.tell(boom())
            await kit.settle()
          }
          await kit.end()
          expect(mostWithin(times, within)).toBeLessThanOrEqual(restarts)
        },
      ),
      { numRuns: 60 },
    )
  })
})
