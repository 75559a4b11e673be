// Loaded before each test file. After each test, all budgets (see budgets.ts in core) that were created in it must be back at zero. Waits for
// asynchronous cleanup. Does not see worker threads and child processes.

import { budgets } from '@troupe/core/internal'
import { afterEach } from 'vitest'

interface Owner {
  readonly budget: string
  readonly taken: () => number
}

/** Maximum wait for asynchronous cleanup, in milliseconds. */
const patience = 10_000
const { setTimeout: later } = globalThis
let owners: Owner[] = []

/** Budgets created since the last call that are still in use after waiting up to `wait` milliseconds. */
export async function stillTaken(wait = patience): Promise<string[]> {
  const asked = owners
  owners = []
  const open = (): Owner[] => asked.filter(({ taken }) => taken() !== 0)
  for (const until = performance.now() + wait; open().length > 0 && performance.now() < until;) await new Promise((resolve) => later(resolve, 5))
  return open().map(({ budget, taken }) => `${budget}: ${taken()}`)
}

budgets.onOwner = (budget, taken) => void owners.push({ budget, taken })

afterEach(async ({ task }) => {
  // A failed test may leave budgets in use.
  const left = await stillTaken(task.result?.state === 'fail' ? 0 : patience)
  if (left.length > 0 && task.result?.state !== 'fail') throw new Error(`Budgets still in use after the test: ${left.join('; ')}.`)
})
