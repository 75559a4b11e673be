// Two things at once that are each simple alone: what was found by trying them together.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { receive, same, setup } from 'troupe'

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
