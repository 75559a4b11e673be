// Extras are let go of where they say nothing: of an actor that runs, and has nothing in them.

import { receive, same } from '@troupe/core'
import { type Cell, coreOf, shed } from '@troupe/core/internal'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'

function cellOf(kit: TestKit): Cell {
  return coreOf(kit.system).mine(kit.system.spawn(receive<'x'>(() => same)), 'look at')
}

test('an actor that runs lets go of extras that say nothing, and goes on', async () => {
  await using kit = createTestKit()
  const cell = cellOf(kit)
  await kit.settle()
  cell.ensureExtras().runningSince = 7
  shed(cell)
  expect(cell.extras).toBeUndefined()
  kit.system.restart(cell.ref)
  await kit.settle()
  expect([cell.phase, cell.extras?.incarnation]).toEqual(['running', 1])
})

test('what says something stays', async () => {
  await using kit = createTestKit()
  const cell = cellOf(kit)
  await kit.settle()
  cell.ensureExtras().label = 'cart of Ann'
  shed(cell)
  expect(cell.extras?.label).toBe('cart of Ann')
})

test('one that has not started yet keeps them: its way on is found by them', async () => {
  await using kit = createTestKit()
  const cell = cellOf(kit)
  const extras = cell.ensureExtras()
  shed(cell)
  expect([cell.phase, cell.extras]).toEqual(['created', extras])
})
