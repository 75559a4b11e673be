import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hostLoop } from '@troupe/border'
import type { Thread } from './thread.ts'
import { watchThreads } from './watchdog.ts'

const hangAfter = 200
let now = 0
let killed: number[] = []
const signs: { beats: number; doing: string; hangAfter: number | undefined } = { beats: 1, doing: '', hangAfter: undefined }
let end = (): void => {}

/** The watchdog's timer comes so many milliseconds after the last time. */
function look(after: number): void {
  now += after
  vi.advanceTimersToNextTimer()
}

beforeEach(() => {
  vi.useFakeTimers()
  now = 0
  killed = []
  signs.hangAfter = undefined
  const thread = { state: 'up', signs, lastBeats: -1, lastBeatAt: 0, silent: 0, kill: () => killed.push(now) } as unknown as Thread
  end = watchThreads(
    { core: { runtime: { now: () => now } }, threads: [thread], tasks: { patienceOn: () => 0 }, tellListening: () => {} },
    hangAfter,
    hostLoop,
  )
  look(10)
})
afterEach(() => {
  end()
  vi.useRealTimers()
})

test('a silent thread is ended at its deadline', () => {
  for (let i = 0; i < 19; i++) look(10)
  expect(killed).toEqual([])
  look(10)
  expect(killed).toEqual([210])
})

test('a hung thread is ended also beside a main thread that is always late', () => {
  for (let i = 0; i < 5; i++) look(150)
  expect(killed[0]).toBeLessThanOrEqual(2 * hangAfter + 10)
})

test('a process that was stopped for long ends nobody who beats soon after', () => {
  look(60_000)
  look(10)
  signs.beats++
  look(10)
  for (let i = 0; i < 15; i++) look(10)
  expect(killed).toEqual([])
})

test('what a thread says of its patience counts instead, at each look anew', () => {
  signs.hangAfter = 1000
  for (let i = 0; i < 99; i++) look(10)
  expect(killed).toEqual([])
  look(10)
  expect(killed).toEqual([1010])
})

test('a thread that may be silent for ever is never ended, and is as soon as it may not', () => {
  signs.hangAfter = Infinity
  for (let i = 0; i < 1000; i++) look(150)
  expect(killed).toEqual([])
  signs.hangAfter = undefined
  look(10)
  expect(killed).toHaveLength(1)
})
