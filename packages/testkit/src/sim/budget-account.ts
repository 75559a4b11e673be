// Collects the budgets (slots, bytes, credits, permits, hooks) of one simulated run and reports those still in use at its end. A budget belongs to
// a system: its owner names it, or it is created in a turn of that system's place. What a system that was killed had in use went with it.

import { budgets } from '@troupe/core/internal'

/** The part of a system that matters here: whether it has ended in an orderly way. */
export interface BudgetHolder {
  readonly phase: string
}

interface Owner {
  readonly budget: string
  readonly taken: () => number
  readonly holder: BudgetHolder | undefined
}

export class BudgetAccount {
  readonly #owners: Owner[] = []
  readonly #holder: () => BudgetHolder | undefined
  #before: typeof budgets.onOwner

  /** `holder` returns the system that runs now, if that is known. */
  constructor(holder: () => BudgetHolder | undefined) {
    this.#holder = holder
  }

  /** Starts collecting. */
  open(): void {
    this.#before = budgets.onOwner
    budgets.onOwner = (budget, taken, system) => void this.#owners.push({ budget, taken, holder: system ?? this.#holder() })
  }
  close(): void {
    budgets.onOwner = this.#before
  }

  /** Budgets still in use, of systems that have ended in an orderly way. */
  get stillTaken(): string[] {
    return this.#owners
      .filter(({ taken, holder }) => holder?.phase === 'closed' && taken() !== 0)
      .map(({ budget, taken }) => `${budget}: ${taken()} still taken after the shutdown`)
  }
}
