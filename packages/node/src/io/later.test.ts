import { afterEach, expect, test, vi } from 'vitest'
import { atMost } from './later.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('a time that the host’s timers do not know is long, not over at once', () => {
  vi.useFakeTimers()
  let fired = 0
  atMost(1e12, () => fired++)
  const cancel = atMost(10, () => fired++)
  cancel()
  vi.advanceTimersByTime(86_400_000)
  expect(fired).toBe(0)
  vi.advanceTimersByTime(2 ** 31)
  expect(fired).toBe(1)
})
