// The short form of `npm run chaos`.

import { expect, test } from 'vitest'
import { runChaos } from '../dist-test/chaos.js'
import { stageDefaults } from './stage.ts'

test('threads killed at random lose no actor, account for every message and keep the order', async () => {
  const seed = (performance.timeOrigin % 1_000_000) | 0
  const result = await runChaos({ actors: 300, milliseconds: 2500, hangAfter: 300, every: 400, seed, ...stageDefaults })
  console.info(`seed ${seed}`, result.kills, result.losses)
  expect(result.complaints).toEqual([])
  expect(result.answered).toBe(300)
  expect(result.accounted).toBe(result.ledger.sent)
})
