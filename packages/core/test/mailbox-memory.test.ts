import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { bounded, priority, receive, same, unbounded, type SpawnOptions } from '@troupe/core'

/** Bun has a way of its own; the others have V8's. */
const { Bun } = globalThis as unknown as { readonly Bun?: { gc(force: true): void } }
if (Bun === undefined) setFlagsFromString('--expose-gc')
const collect = Bun === undefined ? (runInNewContext('gc') as () => void) : () => Bun.gc(true)
const heap = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const options: readonly (readonly [string, SpawnOptions])[] = [
  ['the default mailbox', {}],
  ['an unbounded one', { mailbox: unbounded() }],
  ['a bounded one', { mailbox: bounded(1_000_000, 'reject') }],
  ['a priority one', { mailbox: priority<number>((a, b) => a - b) }],
]

test.each(options)('47. %s that grew to a million gives the memory back', async (_name, spawned) => {
  const kit = createTestKit()
  let handled = 0
  const ref = kit.system.spawn<number>(
    receive(() => {
      handled++
      return same
    }),
    spawned,
  )
  await kit.settle()
  const before = heap()
  for (let i = 0; i < 1_000_000; i++) ref.tell(1)
  const full = heap() - before
  await kit.settle()
  const after = heap() - before
  expect(handled).toBe(1_000_000)
  expect(full).toBeGreaterThan(6)
  expect(after).toBeLessThan(full / 8)
  await kit.end()
})
