// How many there are of each kind is counted once for each survey, and what that takes is told.

import { expect, test } from 'vitest'
import { type Asked, Census } from './census.ts'
import type { Standing } from './standing.ts'

/** So many actors, of whom each has one message waiting. */
function standing(actors: number, version: number): Standing {
  const uids = Float64Array.from({ length: actors }, (_, i) => i + 1)
  const picture = { columns: { uid: uids, queued: uids.map(() => 1), waiting: uids.map(() => 0) }, used: actors, rowOf: (uid: number) => uid - 1 }
  return { picture, version } as unknown as Standing
}

test('kinds are asked once, and what it took to ask is told with the rest', async () => {
  let asked = 0
  const asks: Asked = {
    names: () => Promise.reject(new Error('not of so many')),
    kinds: () => {
      asked++
      const uids = Array.from({ length: 1000 }, (_, i) => i + 1)
      return Promise.resolve({ uids, kinds: uids.map((uid) => (uid % 4 === 0 ? 'rare' : 'common')), spent: 1e6 })
    },
  }
  const census = new Census()
  const told: number[] = []
  const spend = (ms: number): void => void told.push(ms)
  const counted = await census.take(standing(1000, 1), asks, spend)
  expect(Object.fromEntries(counted)).toEqual({ rare: { actors: 250, queued: 250 }, common: { actors: 750, queued: 750 } })
  expect(told).toContain(1e6)
  expect(told.every((ms) => ms >= 0)).toBe(true)
  // Nothing new is known: nothing is done. After the next survey they are counted, and not asked again.
  told.length = 0
  expect(await census.take(standing(1000, 1), asks, spend)).toBe(counted)
  expect([told.length, asked]).toEqual([0, 1])
  await census.take(standing(1000, 2), asks, spend)
  expect([told.length > 0, asked]).toEqual([true, 1])
})
