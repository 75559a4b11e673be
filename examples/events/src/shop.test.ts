import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { openShop } from './shop.ts'

test('the accountant misses nothing, the slow auditor loses by its own policy, and the failure is seen', async () => {
  const kit = createTestKit()
  const pauses: (() => void)[] = []
  const { till, books, audited, audit, watch } = openShop(kit.system, () => new Promise((resolve) => pauses.push(resolve)))
  for (let id = 1; id <= 50; id++) till.tell({ id, cents: id === 25 ? -1 : 100 })
  await kit.advance(100)
  expect(books.total).toBe(4900)
  while (pauses.length > 0) {
    for (const resolve of pauses.splice(0)) resolve()
    await kit.settle()
  }
  expect(audited.slice(-3)).toEqual([48, 49, 50])
  expect(audited.length + audit.dropped).toBe(49)
  expect(audited.length).toBeLessThan(10)
  const failures = watch.drain().filter((o) => o.type === 'actor.failed')
  expect(failures.map((o) => [o.ref.path, o.directive])).toEqual([['/user/till', 'restart']])
  await kit.end()
})
