/** Paths of test files that depend on real time, below the root of the repository, sorted. */
export function realTimeFiles(): string[]
