// `npm run sim`: the library of scenarios over many seeds. Prints seeds per second, distinct traces and violations.

import { flag, oneOf, whole } from './command-arguments.ts'
import { commandLine } from './command-line.ts'
import { library, type LibraryScenario } from './library/index.ts'
import { simulate, type SimulationFailure } from './sim/simulate.ts'

interface Host {
  readonly process: {
    readonly stdout: { write(text: string): void; on(event: 'error', listener: () => void): void }
    exit(): void
    exitCode: number | undefined
  }
  readonly performance: { now(): number }
}

const { process, performance } = globalThis as unknown as Host
// Whoever reads this may have seen enough.
process.stdout.on('error', () => process.exit())

const names = library.map((s) => s.name)

function argumentsOf(): { seeds: number; from: number; only: string | undefined; json: boolean; twice: boolean; stopAtFirst: boolean } {
  const given = commandLine({
    name: 'npm run sim',
    about: 'Runs the scenarios over many seeds, and checks the promises of the core in every run. Ends with 1 where one is broken.',
    options: {
      seeds: whole('how many seeds, shared among the scenarios', 1000),
      from: whole('the first seed', 1, {}),
      seed: whole('this seed alone, to see a failure again (default: none)', undefined, {}),
      scenario: oneOf('scenario', names, 'this scenario alone (default: all)', undefined),
      twice: flag('runs every seed twice and compares the traces'),
      'stop-at-first': flag('ends at the first broken promise'),
      json: flag('prints the report as JSON'),
    },
  })
  const { seed, scenario: only, json, twice, 'stop-at-first': stopAtFirst } = given
  return { seeds: seed === undefined ? given.seeds : 1, from: seed ?? given.from, only, json, twice, stopAtFirst }
}

interface Tally {
  readonly scenario: string
  runs: number
  distinct: number
  steps: number
  handled: number
  asyncHandled: number
  ms: number
  failure: SimulationFailure | undefined
  readonly hashes: Set<string>
  /** Seeds whose second run gave another trace. */
  differing: number
}

/** Runs each scenario over a block of seeds; blocks alternate, so that a bug anywhere is met early. */
async function main(): Promise<void> {
  const given = argumentsOf()
  const scenarios = library.filter((s) => given.only === undefined || s.name === given.only)
  const each = Math.ceil(given.seeds / scenarios.length)
  const tallies: Tally[] = scenarios.map((s) => ({
    scenario: s.name,
    runs: 0,
    distinct: 0,
    steps: 0,
    handled: 0,
    asyncHandled: 0,
    ms: 0,
    failure: undefined,
    hashes: new Set<string>(),
    differing: 0,
  }))
  const started = performance.now()
  let total = 0
  let runsBefore: number | undefined
  const block = given.stopAtFirst ? 10 : 200
  blocks: for (let done = 0; done < each; done += block) {
    for (const [i, scenario] of scenarios.entries()) {
      const tally = tallies[i]!
      if (tally.failure !== undefined) continue
      await runBlock(scenario, tally, given.from + done, Math.min(block, each - done), given.twice)
      total = tallies.reduce((sum, t) => sum + t.runs, 0)
      if (tally.failure !== undefined) runsBefore ??= total
      if (tally.failure !== undefined && given.stopAtFirst) break blocks
    }
  }
  report(tallies, performance.now() - started, runsBefore, given.json)
}

async function runBlock(scenario: LibraryScenario, tally: Tally, from: number, count: number, twice: boolean): Promise<void> {
  const replay = (seed: number): string => `npm run sim -- --scenario "${scenario.name}" --seed ${seed}`
  const hashes = new Map<number, string>()
  const options = { strategy: 'mixed', ...scenario.options, name: scenario.name, seeds: { from, count }, onViolation: 'report', replay } as const
  const result = await simulate(scenario.run, { ...options, onRun: (seed, hash) => void (hashes.set(seed, hash), tally.hashes.add(hash)) })
  tally.runs += result.runs
  tally.steps += result.steps
  tally.handled += result.handled
  tally.asyncHandled += result.asyncHandled
  tally.ms += result.ms
  tally.distinct = tally.hashes.size
  tally.failure = result.failure
  if (twice && result.failure === undefined)
    await simulate(scenario.run, { ...options, onRun: (seed, hash) => void (hashes.get(seed) === hash || tally.differing++) })
}

function report(tallies: readonly Tally[], ms: number, runsBefore: number | undefined, json: boolean): void {
  const runs = tallies.reduce((sum, t) => sum + t.runs, 0)
  const distinct = tallies.reduce((sum, t) => sum + t.distinct, 0)
  const failures = tallies.flatMap((t) => (t.failure === undefined ? [] : [{ scenario: t.scenario, ...t.failure }]))
  const differing = tallies.reduce((sum, t) => sum + t.differing, 0)
  if (json) {
    const scenarios = tallies.map(({ hashes: _hashes, failure, ...rest }) => ({
      ...rest,
      runsPerSecond: perSecond(rest.runs, rest.ms),
      violation: failure?.violation.invariant,
    }))
    process.stdout.write(
      `${JSON.stringify({ runs, distinct, ms, runsPerSecond: perSecond(runs, ms), differing, violations: failures.length, runsBefore, scenarios, failures })}\n`,
    )
  } else {
    for (const t of tallies) {
      const handled = `${(t.handled / Math.max(1, t.runs)).toFixed(0)} messages and ${(t.steps / Math.max(1, t.runs)).toFixed(0)} steps each, ${((100 * t.asyncHandled) / Math.max(1, t.handled)).toFixed(0)} % async`
      process.stdout.write(
        `${t.scenario.padEnd(26)} ${String(t.runs).padStart(7)} seeds  ${String(t.distinct).padStart(7)} distinct  ${String(perSecond(t.runs, t.ms)).padStart(6)}/s  ${handled}${t.failure === undefined ? '' : '  BROKEN'}\n`,
      )
    }
    for (const f of failures) process.stdout.write(`\n${f.report}\n`)
    process.stdout.write(
      `\n${runs} seeds in ${(ms / 1000).toFixed(1)} s (${perSecond(runs, ms)}/s), ${distinct} distinct traces, ${failures.length} violations${differing > 0 ? `, ${differing} seeds that did not repeat` : ''}\n`,
    )
  }
  process.exitCode = failures.length > 0 || differing > 0 ? 1 : 0
}

function perSecond(runs: number, ms: number): number {
  return Math.round((runs / Math.max(ms, 0.001)) * 1000)
}

await main()
