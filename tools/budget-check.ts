// Runs before each test file. After each test, every slot, byte, credit, permit and hook that was taken in it must have been given back: see
// budgets in the core. What ends together with the test is waited for. Threads and processes of their own are not seen.

import { budgets } from '@troupe/core/internal'
import { afterEach } from 'vitest'

interface Owner {
  readonly budget: string
  readonly taken: () => number
}

/** Longer than a busy machine takes to end what a test has closed. */
const patience = 10_000
const { setTimeout: later } = globalThis
let owners: Owner[] = []

/** What is still taken of the budgets of owners that were made since the last call, once that is nothing, or no longer waited for. */
export async function stillTaken(wait = patience): Promise<string[]> {
  const asked = owners
  owners = []
  const open = (): Owner[] => asked.filter(({ taken }) => taken() !== 0)
  for (const until = performance.now() + wait; open().length > 0 && performance.now() < until;) await new Promise((resolve) => later(resolve, 5))
  return open().map(({ budget, taken }) => `${budget}: ${taken()}`)
}

budgets.onOwner = (budget, taken) => void owners.push({ budget, taken })

afterEach(async ({ task }) => {
  // What a failed test leaves open says nothing.
  const left = await stillTaken(task.result?.state === 'fail' ? 0 : patience)
  if (left.length > 0 && task.result?.state !== 'fail') throw new Error(`Not everything was given back. Still taken are ${left.join('; ')}.`)
})
