// Medians and spread. A figure is what the repetitions of all rounds gave.

export interface Figure {
  readonly median: number
  /** Half of the way from the first to the third quartile, as a share of the median. */
  readonly spread: number
  readonly samples: readonly number[]
}

export function quantile(sorted: readonly number[], at: number): number {
  const position = (sorted.length - 1) * at
  const below = Math.floor(position)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  return low + (high - low) * (position - below)
}

export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}

/** Of rounds: each round counts once, whatever the number of its repetitions; spread is over all repetitions. */
export function figure(rounds: readonly (readonly number[])[]): Figure {
  const all = rounds.flat().toSorted((a, b) => a - b)
  const middle = median(rounds.map((r) => median(r)))
  return { median: middle, spread: (quantile(all, 0.75) - quantile(all, 0.25)) / 2 / middle, samples: rounds.flat() }
}

/** With two or three digits that count: 12.3 M, 456 k, 7.89. */
export function short(value: number): string {
  const [scaled, unit] = value >= 1e6 ? [value / 1e6, ' M'] : value >= 1e4 ? [value / 1e3, ' k'] : [value, '']
  return `${scaled >= 100 ? scaled.toFixed(0) : scaled >= 10 ? scaled.toFixed(1) : scaled.toFixed(2)}${unit}`
}

export function times(ratio: number): string {
  return ratio >= 10 ? `${ratio.toFixed(0)}×` : ratio >= 2 ? `${ratio.toFixed(1)}×` : `${ratio.toFixed(2)}×`
}
