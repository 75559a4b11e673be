// What arrives equals the structured clone of what was sent, at the moment when it was sent, or it is refused by its place: for
// arbitrary values, in every way a value can go. More of them: npm run fuzz:border.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Crossings, type Lane, lanes } from '../dist-test/crossings.js'
import { recipes } from '../dist-test/recipes.js'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

/** Ways that start or restart an actor take longer. */
const runs: Readonly<Partial<Record<Lane, number>>> = { spawn: 60, 'handed over': 30, failure: 60, arguments: 100, result: 100 }

test.each(lanes)('any value that goes by way of %s arrives as it was, or is refused by its place', async (lane) => {
  const s = stage({ system: { logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } } })
  const crossings = new Crossings(s.system, s.threads)
  await fc.assert(
    fc.asyncProperty(recipes, async (recipe) => {
      expect(await crossings.cross(lane, recipe)).toBe(undefined)
    }),
    { numRuns: runs[lane] ?? 200 },
  )
  // What getters told while their objects were read has come as well.
  expect(await crossings.overThere()).toBe(crossings.told)
  await s.end()
})
