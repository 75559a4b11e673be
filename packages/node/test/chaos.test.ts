// The short form of `npm run chaos`, in a process of its own: threads that die at any moment are hard on Node as well.

import { expect, test } from 'vitest'
import { outputOf } from './own-process.ts'
import { stageDefaults } from './stage.ts'

test('threads killed at random lose no actor, account for every message and keep the order', async () => {
  const seed = (performance.timeOrigin % 1_000_000) | 0
  const way = stageDefaults.sharedMemory === false ? 'ports' : 'shared'
  const out = await outputOf('chaos-main.js', ['2.5', '300', String(seed), way, '--every', '400', '--hang-after', '1000'], [], 55_000)
  expect(out).toContain('all actors answer, all messages are accounted for, all in order')
})
