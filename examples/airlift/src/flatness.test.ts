import { expect, test } from 'vitest'
import { flatness } from './flatness.ts'

test('what stays within a tenth, or within what is free, is flat, and what climbs is not', () => {
  const saw = Array.from({ length: 30 }, (_, i) => 100 + (i % 3))
  expect(flatness(saw, 0).flat).toBe(true)
  const climbing = Array.from({ length: 30 }, (_, i) => 100 + 3 * i)
  expect(flatness(climbing, 0)).toEqual({ flat: false, before: 145, after: 175 })
  expect(flatness(climbing, 40).flat).toBe(true)
  // A first third that warms up says nothing.
  expect(flatness([1, 5, 20, 60, 90, 99, ...saw.slice(0, 12)], 0).flat).toBe(true)
})
