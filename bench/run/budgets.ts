// What was promised, and whether the figures keep it. A ratio is ours divided by theirs for rates, and theirs divided by
// ours where less is better, so that more is always better and a budget is always a lower bound.

import type { Report } from './report.ts'

interface Budget {
  readonly benchmarks: readonly string[]
  readonly against: Readonly<Record<string, number>>
}

const npmPeers = (least: number): Record<string, number> => ({ nact: least, effect: least, comedy: least })

const budgets: readonly Budget[] = [
  { benchmarks: ['ping-pong', 'thread ring', 'big'], against: { raw: 0.55, erlang: 5, ...npmPeers(8), xstate: 4 } },
  { benchmarks: ['counting', 'fork-join throughput'], against: { raw: 0.6, erlang: 1, ...npmPeers(4), xstate: 1 } },
  { benchmarks: ['fork-join create', 'skynet'], against: { raw: 0.45, erlang: 3, ...npmPeers(8), xstate: 2 } },
  { benchmarks: ['ask sequential', 'ask concurrent'], against: { raw: 0.45, erlang: 1.5, ...npmPeers(2), xstate: 0.7 } },
  { benchmarks: ['idle'], against: { erlang: 9, nact: 4, effect: 4, xstate: 10 } },
]

export interface Verdict {
  readonly benchmark: string
  readonly against: string
  readonly least: number | undefined
  readonly ratio: number
  readonly kept: boolean | undefined
}

/** Ours against one other, in one benchmark; undefined where either has no figure. */
export function ratio(report: Report, benchmark: string, other: string, mine = 'troupe'): number | undefined {
  const result = report.benchmarks.find((b) => b.name === benchmark)
  const a = result?.results[mine]?.median
  const b = result?.results[other]?.median
  if (result === undefined || a === undefined || b === undefined) return undefined
  return result.measure === 'bytes' ? b / a : a / b
}

/** All budgets with their ratios; those that only report have no bound. */
export function verdicts(report: Report): Verdict[] {
  const out: Verdict[] = []
  const add = (benchmark: string, against: string, least: number | undefined, value: number | undefined): void => {
    if (value !== undefined) out.push({ benchmark, against, least, ratio: value, kept: least === undefined ? undefined : value >= least })
  }
  for (const { benchmarks, against } of budgets)
    for (const benchmark of benchmarks) {
      for (const [other, least] of Object.entries(against)) add(benchmark, other, least, ratio(report, benchmark, other))
      for (const other of ['pekko', 'protoactor', 'ractor']) add(benchmark, other, undefined, ratio(report, benchmark, other))
    }
  for (const benchmark of ['ping-pong', 'thread ring', 'big'])
    add(benchmark, 'XState, both on Node 24', 1, ratio(report, benchmark, 'xstate-node24', 'troupe-node24'))
  for (const benchmark of ['counting', 'fork-join throughput'])
    add(benchmark, 'erlang (semi-space 64 MB)', 2, ratio(report, benchmark, 'erlang', 'troupe-64'))
  for (const { name, kind } of report.benchmarks) if (kind === 'compute') add(name, 'raw', 0.8, ratio(report, name, 'raw'))
  add('N-queens', 'erlang (two cores to our one)', 0.5, ratio(report, 'N-queens', 'erlang'))
  const idle = report.benchmarks.find((b) => b.name === 'idle')?.results['troupe']?.median
  add('idle', '300 bytes', 1, idle === undefined ? undefined : 300 / idle)
  const [one, many] = ['one behavior, one shape', '16 behaviors × 16 shapes'].map(
    (name) => report.benchmarks.find((b) => b.name === name)?.results['troupe']?.median,
  )
  add('16 behaviors × 16 shapes', 'one behavior, one shape', 1 / 2.5, one === undefined || many === undefined ? undefined : many / one)
  const latency = report.latency['troupe']
  add('event-loop delay p99 under load', '10 ms', 1, latency === undefined ? undefined : 10 / latency.loop.p99)
  for (const { what, figures } of report.growth) {
    const growth = (side: string): number | undefined => {
      const points = figures.filter((f) => f.side === side)
      return points.length < 2 ? undefined : points.at(-1)!.ns / points[0]!.ns
    }
    const [mine, theirs] = [growth('troupe'), growth('raw')]
    add(`growth of the cost per ${what}`, "raw's growth", 1 / 1.5, mine === undefined || theirs === undefined ? undefined : theirs / mine)
  }
  return out
}
