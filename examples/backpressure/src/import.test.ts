import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { importRows } from './import.ts'

test('every row is written, never more wait than the mailbox holds, and the display shows the latest', async () => {
  const kit = createTestKit()
  const rows = Array.from({ length: 100 }, (_, line) => ({ line: line + 1 }))
  const pauses: (() => void)[] = []
  const importing = importRows(kit.system, rows, () => new Promise((resolve) => pauses.push(resolve)), 10)
  const state = { done: false }
  void importing.then(() => (state.done = true))
  for (let i = 0; i < 5000 && !state.done; i++) {
    await kit.settle()
    for (const resolve of pauses.splice(0)) resolve()
  }
  const { written, most, shown } = await importing
  expect(written).toBe(100)
  expect(most).toBeLessThanOrEqual(10)
  expect(most).toBeGreaterThan(5)
  expect(shown.length).toBeLessThan(100)
  expect(shown.at(-1)).toBe(100)
  expect(shown).toEqual(shown.toSorted((a, b) => a - b))
  const { dropped, deadLettered } = await kit.checkLedger()
  expect([dropped, deadLettered]).toEqual([100 - shown.length, 0])
  await kit.end()
})
