// Whether a difference is one. Two sides that are the same code, measured in turn with the others, show what the machine
// makes of nothing; a difference counts where it is beyond that. Pure: samples in, figures out, the same each time.

import { median, quantile } from './statistics.ts'

/** Operations per second, one figure a round, of sides that were measured in turn. */
export interface Rounds {
  /** The base twice: the same code. */
  readonly base: readonly number[]
  readonly again: readonly number[]
  /** What is compared with it; none where base is only compared with itself. */
  readonly head?: readonly number[] | undefined
}

export interface Comparison {
  /** The second base against the first: 1, were it not for noise. */
  readonly self: number
  /** Head against base; 1 where there is none. */
  readonly ratio: number
  /** As far from 1 as the median of that many rounds strays by noise alone, in 19 of 20 cases: 0.03 is ±3 %. */
  readonly noise: number
  readonly verdict: 'better' | 'worse' | 'within noise'
}

const draws = 1000

/** Rounds saw the same machine, so that ratios within a round say more than the ratio of two medians. */
export function compare({ base, again, head }: Rounds): Comparison {
  const selves = base.map((b, i) => Math.log(again[i]! / b))
  // Both were base: which of them was called the first is chance, so that each ratio stands for its inverse too.
  const chance = [...selves, ...selves.map((s) => -s)]
  const noise = Math.exp(band(chance, base.length)) - 1
  const heads = head?.map((h, i) => Math.log(h / Math.sqrt(base[i]! * again[i]!)))
  const ratio = heads === undefined ? 1 : Math.exp(median(heads))
  const beyond = ratio > 1 + noise || ratio < 1 / (1 + noise)
  return { self: Math.exp(median(selves)), ratio, noise, verdict: !beyond ? 'within noise' : ratio > 1 ? 'better' : 'worse' }
}

/** How far the median of `size` of these strays from 0, in 19 of 20 cases: a bootstrap. */
function band(values: readonly number[], size: number): number {
  let state = 1
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 8) % values.length
  }
  const strays: number[] = []
  for (let i = 0; i < draws; i++) strays.push(Math.abs(median(Array.from({ length: size }, () => values[next()]!))))
  return quantile(
    strays.toSorted((a, b) => a - b),
    0.95,
  )
}

/** Which clock shows less noise on this machine, for this load. */
export function steadier<C extends string>(byClock: Readonly<Record<C, Rounds>>): C {
  const [first, ...others] = Object.keys(byClock) as C[]
  return others.reduce((best, clock) => (compare(byClock[clock]).noise < compare(byClock[best]).noise ? clock : best), first!)
}
