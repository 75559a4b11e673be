// Collects the budgets (slots, bytes, credits, permits, hooks) of one simulated run and reports those still in use at its end.

import { budgets } from '@troupe/core/internal'

export class BudgetAccount {
  readonly #owners: { readonly budget: string; readonly taken: () => number }[] = []

  #before: typeof budgets.onOwner

  /** Starts collecting. */
  open(): void {
    this.#before = budgets.onOwner
    budgets.onOwner = (budget, taken) => void this.#owners.push({ budget, taken })
  }
  close(): void {
    budgets.onOwner = this.#before
  }

  get stillTaken(): string[] {
    return this.#owners.filter(({ taken }) => taken() !== 0).map(({ budget, taken }) => `${budget}: ${taken()} still taken after the shutdown`)
  }
}
