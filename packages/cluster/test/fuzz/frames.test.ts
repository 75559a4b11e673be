// A short run of `npm run fuzz:frames`, on the sources.

import { seeded } from '@troupe/testkit'
import { expect, test } from 'vitest'
import * as parts from '../../src/internal.ts'
import { fuzzFrames } from './fuzz-frames.mjs'

test('no bytes do more than be taken, be dropped, or close the channel', () => {
  const { inputs, taken, refused, firstOther } = fuzzFrames({ parts, random: seeded(7), inputs: 20_000, measureEvery: 1 })
  expect(firstOther).toBeUndefined()
  expect(taken + refused).toBe(inputs)
  expect(taken).toBeGreaterThan(1_000)
  expect(refused).toBeGreaterThan(1_000)
})
