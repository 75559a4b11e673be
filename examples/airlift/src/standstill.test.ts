import { expect, test } from 'vitest'
import { Standstill } from './standstill.ts'

test('a machine that stood still is told from a process that is slow', () => {
  let now = 0
  const standstill = new Standstill(() => now)
  // Something slow says nothing for a minute, while we look every second: that counts.
  for (let second = 1; second <= 60; second++) {
    now = second * 1000
    standstill.look()
  }
  expect(standstill.takeStale()).toBe(false)
  // Nobody looks for a minute.
  now += 60_000
  expect(standstill.takeStale()).toBe(true)
  expect(standstill.takeStale()).toBe(false)
  expect({ count: standstill.count, ms: standstill.ms }).toEqual({ count: 1, ms: 60_000 })
  // The look that finds it out may come before the first reading.
  now += 6000
  standstill.look()
  now += 10
  expect(standstill.takeStale()).toBe(true)
})
