// The first few of many are those that a sort of all would put first.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstOf } from './first-of.ts'

test('the first few are as if all had been sorted', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 300 }), fc.nat(40), (all, count) => {
      const rows = all.map((_key, row) => row)
      const before = (a: number, b: number): number => all[b]! - all[a]! || a - b
      expect(firstOf(rows, count, before)).toEqual(rows.toSorted(before).slice(0, count))
    }),
  )
})
