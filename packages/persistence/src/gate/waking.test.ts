import { expect, test } from 'vitest'
import type { Journal } from '../journal/port.ts'
import type { DueTimer } from '../values/stored.ts'
import { Waking } from './waking.ts'

const hour = 3_600_000

/** Two clocks that the test moves, and an index of timers. */
function stage(...timers: DueTimer[]): {
  waking: Waking
  rung: string[]
  told: string[]
  looks: () => number
  pass: (ms: number) => Promise<void>
  wall: { is: number }
} {
  const wall = { is: 1_000_000_000 }
  let ticks = 0
  let looks = 0
  const waits = new Set<{ readonly at: number; readonly task: () => void }>()
  const rung: string[] = []
  const told: string[] = []
  const left = [...timers]
  const due = (until: number, most: number, after?: DueTimer): Promise<readonly DueTimer[]> => {
    looks++
    return Promise.resolve(left.filter((timer) => timer.due <= until && (after === undefined || timer.due > after.due)).slice(0, most))
  }
  const waking = new Waking({
    closing: false,
    now: () => wall.is,
    ticks: () => ticks,
    readable: () => Promise.resolve({ due } as unknown as Journal),
    breathe: () => Promise.resolve(),
    after(ms, task) {
      const wait = { at: ticks + ms, task }
      waits.add(wait)
      return () => waits.delete(wait)
    },
    ring(timer) {
      // One that is told early does nothing.
      if (timer.due > wall.is) return void told.push(timer.key)
      rung.push(timer.key)
      left.splice(left.indexOf(timer), 1)
    },
  })
  const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  const pass = async (ms: number): Promise<void> => {
    const until = ticks + ms
    for (;;) {
      const [next] = [...waits].sort((one, other) => one.at - other.at)
      if (next === undefined || next.at > until) break
      wall.is += next.at - ticks
      ticks = next.at
      waits.delete(next)
      next.task()
      await settle()
    }
    wall.is += until - ticks
    ticks = until
    await settle()
  }
  return { waking, rung, told, looks: () => looks, pass, wall }
}
const timer = (key: string, due: number): DueTimer => ({ id: 'clock/1', key, due })

test('a clock that is put forward, or went on while the machine slept, makes a timer late by ten seconds at most', async () => {
  const { waking, rung, pass, wall } = stage(timer('tea', 1_000_000_000 + hour))
  waking.noted(wall.is + hour)
  await pass(60_000)
  wall.is += hour
  await pass(10_000)
  expect(rung).toEqual(['tea'])
})

test('a clock that is put back makes no timer early, and none is forgotten', async () => {
  const { waking, rung, pass, wall } = stage(timer('tea', 1_000_000_000 + hour))
  waking.noted(wall.is + hour)
  await pass(60_000)
  wall.is -= 5 * hour
  await pass(6 * hour - 60_001)
  expect(rung).toEqual([])
  await pass(1)
  expect(rung).toEqual(['tea'])
})

test('the journal is looked at when something is due, not whenever the clocks are compared', async () => {
  const { waking, rung, looks, pass, wall } = stage(timer('tea', 1_000_000_000 + hour))
  waking.noted(wall.is + hour)
  await pass(hour - 1)
  expect(looks()).toBe(0)
  await pass(1)
  expect([looks(), rung]).toEqual([2, ['tea']])
})

test('a clock that was ahead and is put back: all timers are told, since one that repeats may be set for a year from now', async () => {
  const { waking, rung, told, pass, wall } = stage(timer('year', 1_000_000_000 + 366 * 24 * hour))
  waking.noted(wall.is + 366 * 24 * hour)
  wall.is += 365 * 24 * hour
  await pass(10_000)
  expect(told).toEqual([])
  wall.is -= 365 * 24 * hour
  await pass(10_000)
  expect([told, rung]).toEqual([['year'], []])
})
