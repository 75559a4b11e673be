// Slots, bytes, credits, permits and hooks are taken for a while, and given back on every path. Tests and the simulator list whoever has some
// to give, and ask when everything has ended how much is still taken: it must be nothing.

interface Budgets {
  /** Hears of each owner of a budget as it is made: what the budget is, and how much of it is taken. */
  onOwner: ((budget: string, taken: () => number) => void) | undefined
}

export const budgets: Budgets = { onOwner: undefined }
