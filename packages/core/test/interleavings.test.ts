// Two things at once that are each simple alone: what was found by trying them together.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type Behavior, receive, same, setup } from '@troupe/core'

test('a pending call of a reentrant actor is no silence', async () => {
  const kit = createTestKit()
  let timeouts = 0
  let end = (): void => {}
  const ref = kit.system.spawn(
    setup<string>((ctx) => {
      ctx.setReceiveTimeout(100)
      return receive<string>(
        () => new Promise<void>((resolve) => (end = resolve)),
        (_ctx, signal) => {
          if (signal.type === 'ReceiveTimeout') timeouts++
          return same
        },
      )
    }),
    { reentrant: true },
  )
  ref.tell('work')
  await kit.advance(1000)
  expect(timeouts).toBe(0)
  end()
  await kit.advance(199)
  expect(timeouts).toBe(1)
  await kit.end()
})

for (const ms of [1e-12, Number.MIN_VALUE])
  test(`a period of ${ms} ms, too short for the clock to tell, ticks and lets others live`, async () => {
    const kit = createTestKit()
    await kit.advance(1_000_000)
    let ticks = 0
    kit.system.spawn(
      setup<string>((ctx) => {
        ctx.timers.every('tick', ms, 'tick')
        return receive<string>(() => {
          ticks++
          return same
        })
      }),
    )
    await kit.advance(10)
    expect(ticks).toBeGreaterThanOrEqual(10)
    expect(ticks).toBeLessThan(20)
    await kit.end()
  })

test('a shutdown past its deadline waits for no PostStop, however deep, and its report adds up', async () => {
  const kit = createTestKit()
  const stuck = (depth: number): Behavior<string> =>
    setup<string>((ctx) => {
      if (depth > 0) ctx.spawn(stuck(depth - 1), { name: 'below' })
      return receive<string>(
        () => same,
        (_ctx, signal) => (signal.type === 'PostStop' || signal.type === 'ChildStopped' ? new Promise<never>(() => {}) : same),
      )
    })
  kit.system.spawn(stuck(3), { name: 'top' })
  kit.system.spawn(receive<string>(() => same))
  await kit.settle()
  const ending = kit.system.shutdown({ deadline: 10 })
  await kit.advance(100)
  expect(kit.system.phase).toBe('closed')
  const report = await ending
  expect(report.killed).toHaveLength(4)
  expect(report.stopped).toBe(1)
  expect(kit.system.counts()).toMatchObject({ active: 0, terminated: 5 })
  await kit.end()
})
