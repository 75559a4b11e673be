// `npm run sim`: the library of scenarios over many seeds. Prints seeds per second, distinct traces and violations.

import { library, type LibraryScenario } from './library/index.ts'
import { simulate, type SimulationFailure } from './sim/simulate.ts'

interface Host {
  readonly process: { readonly argv: readonly string[]; readonly stdout: { write(text: string): void }; exitCode: number | undefined }
  readonly performance: { now(): number }
}

const { process, performance } = globalThis as unknown as Host

interface Arguments {
  readonly seeds: number
  readonly from: number
  readonly only: string | undefined
  readonly json: boolean
  readonly twice: boolean
  readonly stopAtFirst: boolean
}

const flags = ['--seeds', '--seed', '--from', '--scenario', '--json', '--twice', '--stop-at-first']

function argumentsOf(argv: readonly string[]): Arguments {
  for (const given of argv)
    if (given.startsWith('--') && !flags.includes(given)) throw new Error(`There is no option ${given}; there are: ${flags.join(', ')}.`)
  const value = (flag: string): string | undefined => {
    const at = argv.indexOf(flag)
    return at < 0 ? undefined : argv[at + 1]
  }
  const seed = value('--seed')
  return {
    seeds: seed === undefined ? Number(value('--seeds') ?? 1000) : 1,
    from: Number(seed ?? value('--from') ?? 1),
    only: value('--scenario'),
    json: argv.includes('--json'),
    twice: argv.includes('--twice'),
    stopAtFirst: argv.includes('--stop-at-first'),
  }
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
  const given = argumentsOf(process.argv.slice(2))
  const scenarios = library.filter((s) => given.only === undefined || s.name === given.only)
  if (scenarios.length === 0) throw new Error(`There is no scenario "${given.only}"; there are: ${library.map((s) => s.name).join(', ')}.`)
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
