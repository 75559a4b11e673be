// What the runs of each scenario came to, block by block, and the report of it.

import type { SimulationFailure } from '../sim/simulate.ts'
import type { BlockResult } from './block.ts'

export class Tally {
  readonly scenario: string
  runs = 0
  steps = 0
  handled = 0
  asyncHandled = 0
  ms = 0
  differing = 0
  failure: SimulationFailure | undefined = undefined
  readonly #hashes = new Set<string>()
  constructor(scenario: string) {
    this.scenario = scenario
  }
  get distinct(): number {
    return this.#hashes.size
  }
  add({ runs, steps, handled, asyncHandled, ms, hashes, differing, failure }: BlockResult): void {
    this.runs += runs
    this.steps += steps
    this.handled += handled
    this.asyncHandled += asyncHandled
    this.ms += ms
    this.differing += differing
    for (const hash of hashes) this.#hashes.add(hash)
    this.failure ??= failure
  }
}

/** All that is reported. */
export interface Totals {
  readonly tallies: readonly Tally[]
  readonly start: number
  /** Real milliseconds since the beginning. */
  readonly ms: number
  /** Seeds until the first broken promise. */
  readonly runsBefore: number | undefined
  /** What ended it before its time. */
  readonly interrupted: string | undefined
}

const sum = (tallies: readonly Tally[], of: (tally: Tally) => number): number => tallies.reduce((n, tally) => n + of(tally), 0)

export function failuresOf(tallies: readonly Tally[]): readonly ({ readonly scenario: string } & SimulationFailure)[] {
  return tallies.flatMap(({ scenario, failure }) => (failure === undefined ? [] : [{ scenario, ...failure }]))
}

export function differingOf(tallies: readonly Tally[]): number {
  return sum(tallies, (t) => t.differing)
}

export function runsOf(tallies: readonly Tally[]): number {
  return sum(tallies, (t) => t.runs)
}

export function perSecond(runs: number, ms: number): number {
  return Math.round((runs / Math.max(ms, 0.001)) * 1000)
}

export function jsonOf({ tallies, start, ms, runsBefore, interrupted }: Totals): string {
  const failures = failuresOf(tallies)
  const runs = runsOf(tallies)
  const scenarios = tallies.map((t) => ({
    scenario: t.scenario,
    runs: t.runs,
    distinct: t.distinct,
    steps: t.steps,
    handled: t.handled,
    asyncHandled: t.asyncHandled,
    ms: t.ms,
    differing: t.differing,
    runsPerSecond: perSecond(t.runs, t.ms),
    violation: t.failure?.violation.invariant,
  }))
  const distinct = sum(tallies, (t) => t.distinct)
  const differing = differingOf(tallies)
  const violations = failures.length
  return JSON.stringify({
    start,
    runs,
    distinct,
    ms,
    runsPerSecond: perSecond(runs, ms),
    differing,
    violations,
    runsBefore,
    interrupted,
    scenarios,
    failures,
  })
}

export function textOf({ tallies, start, ms, interrupted }: Totals): string {
  const lines: string[] = []
  for (const t of tallies) {
    const runs = Math.max(1, t.runs)
    const each = `${(t.handled / runs).toFixed(0)} messages and ${(t.steps / runs).toFixed(0)} steps each, ${((100 * t.asyncHandled) / Math.max(1, t.handled)).toFixed(0)} % async`
    const counts = `${String(t.runs).padStart(7)} seeds  ${String(t.distinct).padStart(7)} distinct  ${String(perSecond(t.runs, t.ms)).padStart(6)}/s`
    lines.push(`${t.scenario.padEnd(26)} ${counts}  ${each}${t.failure === undefined ? '' : '  BROKEN'}`)
  }
  const failures = failuresOf(tallies)
  for (const { report } of failures) lines.push('', report)
  const runs = runsOf(tallies)
  const differing = differingOf(tallies)
  const parts = [
    `${runs} seeds from ${start} on in ${(ms / 1000).toFixed(1)} s (${perSecond(runs, ms)}/s)`,
    `${sum(tallies, (t) => t.distinct)} distinct traces`,
    `${failures.length} violations`,
    ...(differing > 0 ? [`${differing} seeds that did not repeat`] : []),
    ...(interrupted === undefined ? [] : [`ended early by ${interrupted}`]),
  ]
  lines.push('', parts.join(', '))
  return lines.join('\n')
}
