// Runs sides in turn, each in a fresh process, round after round, so that what disturbs the machine disturbs all alike.
// Every other round goes backwards. A side that lacks a benchmark (exit code 3) is left out of it; one that fails or
// hangs is noted and left out too.

import { execFile } from 'node:child_process'
import type { Command, Side } from './sides.ts'
import { type Figure, figure } from './statistics.ts'

export interface Pace {
  readonly rounds: number
  /** Milliseconds for each process. */
  readonly warm: number
  readonly time: number
}

const longest = 90_000

/** What a process prints as JSON; undefined if it has no such benchmark. */
export function json(command: Command): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { encoding: 'utf8' as const, timeout: longest, maxBuffer: 1 << 24, ...(command.cwd === undefined ? {} : { cwd: command.cwd }) }
    execFile(command.file, command.args, options, (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout))
      else if (error.code === 3) resolve(undefined)
      else if (error.killed === true) reject(new Error(`took longer than ${longest / 1000} s`))
      else reject(error)
    })
  })
}

export type Results = Record<string, Figure>

/** One benchmark on all sides. `step` hears before each process, `failed` of a side that broke. */
export async function interleave(
  benchmark: string,
  sides: readonly Side[],
  pace: Pace,
  step: (side: string) => void,
  failed: (side: string, why: string) => void,
): Promise<Results> {
  const samples = new Map<string, number[][]>(sides.map((side) => [side.name, []]))
  for (let round = 0; round < pace.rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      step(side.label)
      const rounds = samples.get(side.name)
      if (rounds === undefined) continue
      try {
        const rates = (await json(side.command(benchmark, pace.warm * side.warmth, pace.time))) as number[] | undefined
        if (rates === undefined) samples.delete(side.name)
        else rounds.push(rates)
      } catch (cause) {
        samples.delete(side.name)
        failed(side.name, cause instanceof Error ? cause.message : String(cause))
      }
    }
  return Object.fromEntries([...samples].filter(([, rounds]) => rounds.length > 0).map(([name, rounds]) => [name, figure(rounds)]))
}
