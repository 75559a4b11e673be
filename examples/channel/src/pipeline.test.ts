import { createTestKit } from '@troupe/testkit'
import { delay } from '@troupe/core'
import { expect, test } from 'vitest'
import { pipeline } from './pipeline.ts'

test('every number arrives once, and the producer is never further ahead than the channel allows', async () => {
  const kit = createTestKit()
  let sent = 0
  let ahead = 0
  const received: number[] = []
  const work = async (n: number): Promise<void> => {
    received.push(n)
    ahead = Math.max(ahead, sent - received.length)
    await delay(20, { clock: kit.system.clock })
  }
  const running = pipeline(100, 3, 2, work, () => sent++)
  await kit.advance(1_000)
  expect(await running).toEqual([50, 50])
  expect(received).toEqual(Array.from({ length: 100 }, (_, i) => i))
  expect(ahead).toBeLessThanOrEqual(4)
  await kit.end()
})

test('a consumer that fails ends the pipeline', async () => {
  const work = (n: number): Promise<void> => (n === 3 ? Promise.reject(new Error('three')) : Promise.resolve())
  const failed = pipeline(4, 1, 1, work, () => {})
  await expect(failed).rejects.toMatchObject({ code: 'tasks-failed', cause: { message: 'three' } })
})
