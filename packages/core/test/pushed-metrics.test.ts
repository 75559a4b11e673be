// Metrics as observations, where they are asked for: `metrics: { every }`.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { measured, ActorSystem, buffered, type Observation, receive, same } from '@troupe/core'

const quiet = () => receive<unknown>(() => same)
type Pushed = Extract<Observation, { type: 'metrics.system' | 'metrics.actor' }>

describe('of a system', () => {
  test('come every so many ms of its clock while somebody listens, with times that never go back', async () => {
    const kit = createTestKit({ metrics: { every: 100 } })
    await kit.advance(250)
    expect(kit.system.metrics().unheard).toBeGreaterThanOrEqual(2)
    const pushed = buffered<Pushed>(100)
    pushed.attach(kit.system.events, 'metrics.system')
    const ref = kit.system.spawn(quiet())
    ref.tell(1)
    await kit.advance(300)
    const told = pushed.drain()
    expect(told.map((o) => o.at)).toEqual([300, 400, 500])
    expect(told[0]).toMatchObject({ type: 'metrics.system', metrics: { at: 300, active: 1, messages: { handled: 1 } } })
    // A late one is not made up for.
    kit.clock.tick(320)
    await kit.settle()
    await kit.advance(150)
    const times = pushed.drain().map((o) => o.at)
    expect(times).toEqual([870, 900, 1000])
    await kit.end()
  })
  test('do not measure every actor unless that is asked for too', async () => {
    for (const actors of [undefined, false, measured()] as const) {
      const kit = createTestKit({ metrics: { every: 100, actors } })
      const ref = kit.system.spawn(quiet())
      expect((await kit.system.inspect(ref)).metrics !== undefined).toBe(Boolean(actors))
      await kit.end()
    }
  })
  test('end with it', async () => {
    const kit = createTestKit({ metrics: { every: 100 } })
    const pushed = buffered<Pushed>(100)
    pushed.attach(kit.system.events, 'metrics.system')
    await kit.advance(100)
    await kit.end()
    await kit.advance(1000)
    expect(pushed.received).toBe(1)
  })
  test.each([{ every: 0 }, { every: NaN }, { evry: 5 }, {}, { every: 5, actors: 1 }, 5, null])('%o is refused by name', (metrics) => {
    expect(() => ActorSystem.create('x', { metrics: metrics as never })).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining('metrics') }),
    )
  })
})

describe('of an actor', () => {
  test('come every so many ms until it ends, restarts included', async () => {
    const kit = createTestKit()
    const pushed = buffered<Pushed>(100)
    pushed.attach(kit.system.events, 'metrics.actor')
    const ref = kit.system.spawn(quiet(), { metrics: measured({ every: 100 }) })
    ref.tell(1)
    await kit.advance(200)
    kit.system.restart(ref)
    await kit.advance(100)
    const told = pushed.drain()
    expect(told.map((o) => o.at)).toEqual([100, 200, 300])
    expect(told[2]).toMatchObject({ type: 'metrics.actor', ref, metrics: { invoker: { processed: 1 } } })
    ref.stop()
    await kit.advance(500)
    expect(pushed.drain()).toEqual([])
    expect(kit.system.metrics().timers).toBe(0)
    await kit.end()
  })
  test.each([{ every: 0 }, { evry: 5 }, {}, 5, null])('%o is refused by name', async (metrics) => {
    const kit = createTestKit()
    expect(() => kit.system.spawn(quiet(), { metrics: metrics as never })).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining('metrics') }),
    )
    await kit.end()
  })
})
