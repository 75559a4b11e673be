// Registration of budgets: slots, bytes, credits, permits and hooks that are acquired temporarily and must be released on every path. Tests and
// the simulator collect all registered budgets and check that each is back at zero when everything has stopped.

interface Budgets {
  /** Called when an object with a budget is created, with the budget's name and a function that returns the amount in use. Unset in production. */
  onOwner: ((budget: string, taken: () => number) => void) | undefined
}

export const budgets: Budgets = { onOwner: undefined }
