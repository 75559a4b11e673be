import { createTestKit } from '@troupe/testkit'
import { delay } from '@troupe/core'
import { expect, test } from 'vitest'
import { RateLimitedProcessor } from './processor.ts'

test('at most five tasks run at once; the rest wait and run in order', async () => {
  const kit = createTestKit()
  const processor = kit.system.spawn(RateLimitedProcessor)
  const begun: [number, number][] = []
  let running = 0
  let most = 0
  for (let i = 0; i < 12; i++)
    processor.tell.process(async (signal) => {
      begun.push([kit.clock.now, i])
      most = Math.max(most, ++running)
      await delay(50, { signal, clock: kit.system.clock })
      running--
    })
  await kit.settle()
  const load = processor.ask.load()
  await kit.settle()
  expect(await load).toEqual({ running: 5, waiting: 7, done: 0, failed: 0 })
  await kit.advance(200)
  expect(most).toBe(5)
  expect(begun).toEqual(Array.from({ length: 12 }, (_, i) => [Math.floor(i / 5) * 50, i]))
  await kit.end()
})

test('a full line refuses; a failing task is counted and frees its place', async () => {
  const kit = createTestKit()
  const processor = kit.system.spawn(RateLimitedProcessor, { args: [1, 1] })
  const asked = Promise.all([
    processor.ask.process(() => Promise.reject(new Error('broken'))),
    processor.ask.process((signal) => delay(10, { signal, clock: kit.system.clock })),
    processor.ask.process(() => undefined),
  ])
  await kit.settle()
  expect(await asked).toEqual([true, true, false])
  await kit.advance(10)
  const load = processor.ask.load()
  await kit.settle()
  expect(await load).toEqual({ running: 0, waiting: 0, done: 1, failed: 1 })
  await kit.end()
})

test('no task outlives the processor', async () => {
  const kit = createTestKit()
  const processor = kit.system.spawn(RateLimitedProcessor)
  let ended = 0
  for (let i = 0; i < 3; i++) processor.tell.process((signal) => delay(1_000, { signal, clock: kit.system.clock }).finally(() => ended++))
  await kit.settle()
  processor.stop()
  await kit.settle()
  expect([ended, kit.system.phaseOf(processor)]).toEqual([3, 'terminated'])
  await kit.end()
})
