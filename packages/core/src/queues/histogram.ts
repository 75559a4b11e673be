// Durations in buckets that grow by an eighth of a doubling each, so that any percentile is right within 9 % whatever
// the scale, in a fixed kilobyte that is taken with the first. For sampled values: adding costs a logarithm.

import type { HistogramReport } from '../values/metrics.ts'

const perDoubling = 8
/** The smallest duration that is told apart from none: a tenth of a microsecond. */
const least = 1e-4
const buckets = 256

export class Histogram {
  static readonly buckets: number = buckets
  counts: Uint32Array | undefined = undefined
  count = 0
  sum = 0
  max = 0

  add(ms: number): void {
    const at = ms <= least ? 0 : Math.min(buckets - 1, 1 + Math.floor(Math.log2(ms / least) * perDoubling))
    ;(this.counts ??= new Uint32Array(buckets))[at]!++
    this.count++
    this.sum += ms
    if (ms > this.max) this.max = ms
  }

  /** A value that the share `q` of all is not above; 0 when there is none. */
  percentile(q: number): number {
    let left = Math.ceil(this.count * q)
    if (left === 0) return 0
    for (let i = 0; i < buckets; i++) {
      left -= this.counts![i]!
      if (left <= 0) return i === 0 ? 0 : Math.min(least * 2 ** (i / perDoubling), this.max)
    }
    return this.max
  }

  report(): HistogramReport {
    const count = this.count
    return {
      count,
      mean: count === 0 ? 0 : this.sum / count,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      max: this.max,
    }
  }
}
