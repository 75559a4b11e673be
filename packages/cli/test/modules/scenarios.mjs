// Simulations of somebody's: one that holds, and one that does not.
import { receive, same } from '@troupe/core'

export const fine = (sim) => {
  sim.system.spawn(
    receive(() => same),
    { name: 'it' },
  )
}

export const broken = {
  scenario: fine,
  options: { invariants: { 'never true': () => false }, shrinkTrials: 0 },
}
