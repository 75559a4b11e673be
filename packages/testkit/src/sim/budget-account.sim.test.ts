// Budgets in simulated runs: a leak is found in whichever system it is, and what a killed system had in use is no leak.

import { ActorSystem, receive, same, setup } from '@troupe/core'
import { budgets } from '@troupe/core/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { simulate } from './simulate.ts'
import type { Simulation } from './simulation.ts'

const given = process.env['TROUPE_SEED']
beforeEach(() => void delete process.env['TROUPE_SEED'])
afterEach(() => {
  if (given !== undefined) process.env['TROUPE_SEED'] = given
})

const once = { places: true, faults: 'none', seeds: 3, onViolation: 'report', shrinkTrials: 0 } as const

/** An actor with a slot that it takes when it starts, and gives back when it stops, if it is honest. */
const owner = (honest: boolean) =>
  setup<never>(() => {
    let slots = 0
    budgets.onOwner?.('slots', () => slots)
    slots++
    return receive<never>(
      () => same,
      (_ctx, signal) => {
        if (signal.type === 'PostStop' && honest) slots--
        return same
      },
    )
  })

function systemAt(sim: Simulation, honest: boolean): void {
  const { runtime } = sim.place('other')
  ActorSystem.create('other', { runtime, keepAlive: false, dispatcher: { maxTurns: 1 } }).spawn(owner(honest))
}

test('a slot that is not given back by a system of another place breaks the run', async () => {
  const { failure } = await simulate((sim) => systemAt(sim, false), once)
  expect(failure?.violation.text).toBe('slots: 1 still taken after the shutdown')
  expect((await simulate((sim) => systemAt(sim, true), once)).failure).toBe(undefined)
})

test('a budget that is created between turns belongs to the system that its owner names', async () => {
  const { failure } = await simulate((sim) => {
    const { runtime } = sim.place('other')
    const system = ActorSystem.create('other', { runtime, keepAlive: false, dispatcher: { maxTurns: 1 } })
    void Promise.resolve().then(() => budgets.onOwner?.('slots', () => 2, system))
  }, once)
  expect(failure?.violation.text).toBe('slots: 2 still taken after the shutdown')
})

test('what a system had in use that was killed is no leak', async () => {
  const report = await simulate((sim) => {
    const place = sim.place('other')
    ActorSystem.create('other', { runtime: place.runtime, keepAlive: false, dispatcher: { maxTurns: 1 } }).spawn(owner(true))
    sim.after(50, () => place.end())
  }, once)
  expect(report.failure).toBe(undefined)
})

test('a slot that is not given back by the only system breaks the run', async () => {
  const { failure } = await simulate((sim) => void sim.system.spawn(owner(false)), { ...once, places: false })
  expect(failure?.violation.text).toBe('slots: 1 still taken after the shutdown')
})
