// Registration of budgets: slots, bytes, credits, permits and hooks that are acquired temporarily and must be released on every path. Tests and
// the simulator collect all registered budgets and check that each is back at zero when everything has stopped.

import type { SystemPhase } from './system.ts'

interface Budgets {
  /**
   * Called when an object with a budget is created, with the budget's name and a function that returns the amount in use; and with its system, if it
   * may be created while no actor has its turn. Unset in production.
   */
  onOwner: ((budget: string, taken: () => number, system?: { readonly phase: SystemPhase }) => void) | undefined
}

export const budgets: Budgets = { onOwner: undefined }
