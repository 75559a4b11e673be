import { respReplies, respRequests } from '@troupe/node'
import { expect, test } from 'vitest'
import { fuzzResp } from '../bench/fuzz-resp.mjs'

test('twenty thousand random and mutated frames: nothing but frames and FrameErrors, and little held', () => {
  const seed = 20_260_101
  const report = fuzzResp({ respRequests, respReplies, frames: 20_000, seed })
  expect(report.other, `seed ${seed}`).toBe(0)
  expect(report.commands).toBeGreaterThan(1000)
  expect(report.refused).toBeGreaterThan(1000)
  expect(report.held).toBeLessThan(300_000)
})
