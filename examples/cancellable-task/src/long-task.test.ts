import { createTestKit } from '@troupe/testkit'
import { CancellationToken } from '@troupe/core'
import { expect, test } from 'vitest'
import { longTask, outcomeOf } from './long-task.ts'

test('left alone, the task takes ten seconds', async () => {
  const kit = createTestKit()
  const task = outcomeOf(longTask(new CancellationToken(), kit.system.clock))
  await kit.advance(10_000)
  expect(await task).toBe(42)
  await kit.end()
})

test('cancelled after a second, it ends at once', async () => {
  const kit = createTestKit()
  const token = new CancellationToken()
  const ends: number[] = []
  const task = outcomeOf(longTask(token, kit.system.clock)).finally(() => ends.push(kit.clock.now))
  await kit.advance(1_000)
  expect(ends).toEqual([])
  token.cancel()
  expect(await task).toBe(-1)
  expect(ends).toEqual([1_000])
  await kit.end()
})

test('a token linked to another is cancelled with it', async () => {
  const kit = createTestKit()
  const outer = new CancellationToken()
  const task = outcomeOf(longTask(new CancellationToken(outer), kit.system.clock))
  outer.cancel('everything stops')
  expect(await task).toBe(-1)
  await kit.end()
})
