export declare class Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly tests: number
  readonly notes: ReadonlyMap<string, number>
  readonly failures: readonly string[]
  readonly met: ReadonlySet<string>
}
