// What a thread shows of its patience, and when: the signs are noted in order, the actors are stand-ins.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Cell } from '@troupe/core/internal'
import { HostedCell, hostLoop } from '@troupe/border'
import { Pulse, type PulseSettings } from './pulse.ts'
import type { Signs } from '../wire/signs.ts'

let shown: string[] = []
const signs: Signs = {
  alive: () => void shown.push('alive'),
  turn: (inner) => void shown.push(`turn ${inner}`),
  message: (type) => void shown.push(type),
  patience: (ms) => void shown.push(`patience ${ms}`),
  idle: () => {},
  counts: () => {},
  work: () => {},
  ledger: () => {},
  vitals: () => {},
}
/** What was shown since the last time, without the turns. */
function since(): string[] {
  return shown.splice(0).filter((sign) => !sign.startsWith('turn'))
}

beforeEach(() => {
  vi.useFakeTimers()
  shown = []
})
afterEach(() => void vi.useRealTimers())

let uid = 0
function cell(hangAfter: number | false | undefined, parent?: Cell): Cell {
  const made = (parent === undefined ? Object.create(HostedCell.prototype) : {}) as object
  return Object.assign(made, { ref: { uid: ++uid, cell: made, parent: parent?.ref }, options: { hangAfter } }) as unknown as Cell
}
function pulseOf(settings: Partial<PulseSettings> = {}): Pulse {
  return new Pulse(signs, { hangAfter: 10_000, pinned: false, byTurns: true, loop: hostLoop, now: () => performance.now(), ...settings })
}

test('nothing is shown of patience where nobody has a time of its own', () => {
  const pulse = pulseOf()
  pulse.turn(cell(undefined))
  pulse.between()
  expect(since()).toEqual([])
})

test('a turn has the time of its actor, a child that of the nearest above it, and between turns the longest holds', () => {
  const pulse = pulseOf()
  const [patient, usual, hasty] = [cell(60_000), cell(undefined), cell(100)]
  const child = cell(undefined, patient)
  pulse.turn(patient)
  expect(since()).toEqual(['alive', 'patience 60000'])
  pulse.between()
  pulse.turn(child)
  pulse.turn(cell(undefined, child))
  expect(since()).toEqual([])
  pulse.turn(usual)
  expect(since()).toEqual(['alive', 'patience 10000'])
  pulse.turn(cell(30_000, child))
  expect(since().at(-1)).toBe('patience 30000')
  pulse.turn(hasty)
  expect(since()).toEqual(['alive', 'patience 60000', 'alive', 'patience 100'])
  pulse.between()
  expect(since()).toEqual(['alive', 'patience 60000'])
  pulse.left(patient)
  expect(since()).toEqual(['alive', 'patience 30000'])
})

test('by ports only the longest is shown, when it changes', () => {
  const pulse = pulseOf({ byTurns: false })
  const [patient, hasty] = [cell(60_000), cell(100)]
  for (const one of [hasty, patient, cell(undefined), hasty, patient]) {
    pulse.turn(one)
    pulse.between()
  }
  expect(since()).toEqual(['alive', 'patience 60000'])
  pulse.left(patient)
  expect(since()).toEqual(['alive', 'patience 10000'])
})

test('the actor of a pinned thread says what holds there, also where that is less, and for ever', () => {
  const hasty = pulseOf({ pinned: true, byTurns: false })
  hasty.turn(cell(800))
  expect(since()).toEqual(['alive', 'patience 800'])
  const endless = pulseOf({ pinned: true })
  endless.turn(cell(false))
  endless.between()
  expect(since()).toEqual(['alive', 'patience Infinity'])
})

test('it beats often enough for the shortest time', () => {
  const pulse = pulseOf({ pinned: true })
  let beats = 0
  pulse.start(() => void beats++)
  vi.advanceTimersByTime(1000)
  expect(beats).toBe(2)
  const hasty = cell(80)
  pulse.turn(hasty)
  vi.advanceTimersByTime(1000)
  expect(beats).toBe(102)
  pulse.left(hasty)
  vi.advanceTimersByTime(1000)
  expect(beats).toBe(104)
})

test('a breath shows whose it is and on which message, and is a sign of life, but not each of very many', () => {
  const pulse = pulseOf()
  const one = Object.assign(cell(undefined), { ctx: { message: { type: 'job' } } }) as unknown as Cell
  vi.advanceTimersByTime(10_000)
  pulse.breath(one)
  expect(shown).toEqual([`turn ${one.ref.uid}`, 'job', 'alive'])
  for (let i = 0; i < 100; i++) pulse.breath(one)
  expect(shown.filter((sign) => sign === 'alive')).toHaveLength(1)
  vi.advanceTimersByTime(500)
  pulse.breath(one)
  expect(shown.filter((sign) => sign === 'alive')).toHaveLength(2)
})
