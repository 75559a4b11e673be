// A block of seeds of one scenario, and what came of it: the unit in which `npm run sim` hands out its work to processes.
// Both go from process to process, so they are plain data.

import { libraryWith } from '../library/with.ts'
import { simulate, type SimulationFailure } from '../sim/simulate.ts'

export interface Block {
  readonly scenario: string
  readonly from: number
  readonly count: number
  /** Whether every seed is run a second time, to compare the traces. */
  readonly twice: boolean
  /** A module with scenarios of another package; undefined for those of this one alone. */
  readonly with: string | undefined
  /** Milliseconds that one step may take. */
  readonly holdLimit: number
}

export interface BlockResult {
  readonly runs: number
  readonly steps: number
  readonly handled: number
  readonly asyncHandled: number
  readonly ms: number
  readonly hashes: readonly string[]
  /** Seeds whose second run gave another trace. */
  readonly differing: number
  readonly failure: SimulationFailure | undefined
}

/** The line that shows a seed again. */
export function replayOf(scenario: string, seed: number): string {
  return `npm run sim -- --scenario "${scenario}" --seed ${seed}`
}

export async function runBlock({ scenario: name, from, count, twice, holdLimit, with: module }: Block): Promise<BlockResult> {
  const scenario = (await libraryWith(module)).find((s) => s.name === name)!
  const hashes = new Map<number, string>()
  let differing = 0
  const replay = (seed: number): string => replayOf(name, seed)
  const options = { strategy: 'mixed', ...scenario.options, name, seeds: { from, count }, onViolation: 'report', holdLimit, replay } as const
  const { runs, steps, handled, asyncHandled, ms, failure } = await simulate(scenario.run, {
    ...options,
    onRun: (seed, hash) => void hashes.set(seed, hash),
  })
  if (twice && failure === undefined)
    await simulate(scenario.run, { ...options, onRun: (seed, hash) => void (hashes.get(seed) === hash || differing++) })
  return { runs, steps, handled, asyncHandled, ms, hashes: [...hashes.values()], differing, failure }
}
