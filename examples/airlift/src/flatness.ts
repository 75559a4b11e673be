// Whether a figure stays where it is: pure. What swings, such as a heap between two collections, is looked at by the lowest of each minute; the
// first third of a run is for warming up.

export interface Flatness {
  readonly flat: boolean
  /** The middle of the second third, and of the last. */
  readonly before: number
  readonly after: number
}

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Flat is: the last third lies at most a tenth, or so much as is `free`, above the one before it. */
export function flatness(values: readonly number[], free: number): Flatness {
  const third = Math.floor(values.length / 3)
  const before = middle(values.slice(third, 2 * third))
  const after = middle(values.slice(-third))
  return { flat: after - before <= Math.max(free, before / 10), before, after }
}
