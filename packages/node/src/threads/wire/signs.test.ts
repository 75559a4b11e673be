// What a thread shows of itself is seen by others as it was last shown, whatever carries it.

import { MessageChannel } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { Board, makeBoard } from './board.ts'
import { PortSigns, PortSignsSeen } from './port-board.ts'
import type { Signs, SignsSeen } from './signs.ts'
import { countsLength, workLength } from './tally.ts'

const ledger = { sent: 7, handled: 1, failed: 2, unhandled: 3, dropped: 4, deadLettered: 5, unknown: 6 }
const vitals = { queued: 3, busy: 0.5, loopDelay: 2, actors: 9 }

function onBoard(): [Signs, SignsSeen] {
  const memory = makeBoard()
  return [new Board(memory), new Board(memory)]
}
function byPort(): [Signs, SignsSeen] {
  const { port1, port2 } = new MessageChannel()
  return [new PortSigns(port1), new PortSignsSeen(port2)]
}

describe.each([
  ['on a board', onBoard],
  ['by port', byPort],
])('%s', (_where, make) => {
  test('beats are counted', () => {
    const [shown, seen] = make()
    expect(seen.beats).toBe(0)
    for (let i = 0; i < 3; i++) shown.alive()
    expect(seen.beats).toBe(3)
  })

  test('patience is what was said last, whatever its length', () => {
    const [shown, seen] = make()
    expect(seen.hangAfter).toBeUndefined()
    for (const ms of [20, 60_000, Infinity, 1000]) {
      shown.patience(ms)
      expect(seen.hangAfter).toBe(ms)
    }
    shown.patience(2 ** 40)
    expect(seen.hangAfter).toBeGreaterThanOrEqual(2 ** 31 - 1)
  })

  test('ledger and vitals are the last that were shown', () => {
    const [shown, seen] = make()
    expect(seen.lastLedger.sent).toBe(0)
    expect(seen.lastVitals.actors).toBe(0)
    shown.ledger({ ...ledger, sent: 1 })
    shown.vitals({ ...vitals, queued: 0 })
    shown.ledger(ledger)
    shown.vitals(vitals)
    expect(seen.lastLedger).toEqual(ledger)
    expect(seen.lastVitals).toEqual(vitals)
  })

  test('counts and work are the last that were shown, and all zero before', () => {
    const [shown, seen] = make()
    const counts = Array.from({ length: countsLength }, (_, i) => i + 1)
    const work = Array.from({ length: workLength }, (_, i) => i + 0.5)
    expect([...Array.from(seen.lastCounts), ...Array.from(seen.lastWork)].every((n) => n === 0)).toBe(true)
    expect(seen.atWork).toBe(false)
    shown.turn(1, 1)
    shown.counts(counts.map(() => 7))
    shown.counts(counts)
    shown.work(work)
    expect(Array.from(seen.lastCounts)).toEqual(counts)
    expect(Array.from(seen.lastWork)).toEqual(work)
    expect(seen.atWork).toBe(true)
    shown.idle()
    shown.work(work)
    expect(seen.atWork).toBe(false)
    expect(seen.lastLedger.sent).toBe(0)
  })
})

test('on a board the running actor and its message are seen', () => {
  const [shown, seen] = onBoard()
  expect(seen.doing).toBe('')
  shown.turn(12, 11)
  shown.message('spin')
  expect(seen.running).toEqual({ uid: 11, inner: 12, message: 'spin' })
  expect(seen.doing).toContain('spin')
})

test('by port they are not, and that is said', () => {
  const [shown, seen] = byPort()
  shown.turn(12, 11)
  shown.message('spin')
  expect(seen.running).toEqual({ uid: 0, inner: 0, message: undefined })
  expect(seen.doing).toContain('without shared memory')
})

test('by port the ledger is noted when it has changed, and not without bound while nobody reads', () => {
  const { port1, port2 } = new MessageChannel()
  let notes = 0
  const post = port1.postMessage.bind(port1)
  port1.postMessage = (...args: Parameters<typeof post>) => {
    notes++
    post(...args)
  }
  const shown = new PortSigns(port1)
  const seen = new PortSignsSeen(port2)
  for (let i = 0; i < 5; i++) shown.ledger(ledger)
  expect(notes).toBe(1)
  for (let i = 0; i < 20_000; i++) shown.ledger({ ...ledger, sent: i })
  expect(notes).toBeLessThan(10_000)
  expect(seen.lastLedger.sent).toBeLessThan(10_000)
  // Once it was read, the next tells the truth again.
  shown.ledger({ ...ledger, sent: 20_000 })
  expect(seen.lastLedger.sent).toBe(20_000)
})
