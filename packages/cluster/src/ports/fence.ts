// What keeps an owner of the past from writing: journals implement it.

/** What refuses the writes of a past owner. */
export interface Fence {
  /** From now on refuses what a writer of a lower epoch appends within the scope; rejects where the scope has a higher one. */
  raise(scope: string, epoch: number): Promise<void>
}
