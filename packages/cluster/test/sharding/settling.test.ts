// When a shard may move on: not with its batch, but when every node has found it where it is.

import { expect, test } from 'vitest'
import { Settling, type ShardEpoch } from '../../src/sharding/settling.ts'

const lease = 3_000

/** Three shards of this node in epoch 7; each question takes 100 ms, and is answered by `unsettled`, in turn. */
function stage(...unsettled: readonly (readonly number[])[]) {
  let now = 0
  const asked: (readonly number[])[] = []
  const settling = new Settling({
    timing: { now: () => now },
    lease,
    epochOf: () => 7,
    epochs: () => new Map([0, 1, 2].map((shard) => [shard, 7])),
    others: () => [{ node: 'b', number: 1 }],
    refresh: () => Promise.resolve(),
    ask: (_sessions, shards: readonly ShardEpoch[]) => {
      now += 100
      asked.push(shards.map(([shard]) => shard))
      return Promise.resolve(new Set(unsettled[asked.length - 1] ?? unsettled.at(-1)))
    },
  })
  return { settling, asked, now: () => now }
}

test('a shard that has not settled is asked about again, while the others of its batch move on', async () => {
  const { settling, asked } = stage([1], [1], [])
  const order: number[] = []
  const all = [0, 1, 2].map(async (shard) => {
    expect(await settling.isSettled(shard)).toBe(true)
    order.push(shard)
  })
  await Promise.all(all)
  expect(order).toEqual([0, 2, 1])
  expect(asked).toEqual([[0, 1, 2], [1], [1]])
  // What has settled in this epoch is not asked about again.
  expect(await settling.isSettled(1)).toBe(true)
  expect(asked).toHaveLength(3)
})

test('a shard that does not settle within a lease does not move on', async () => {
  const { settling, now } = stage([2])
  expect(await Promise.all([0, 2].map((shard) => settling.isSettled(shard)))).toEqual([true, false])
  expect(now()).toBeGreaterThanOrEqual(lease)
})
