// `npm run sim:cluster`: simulated faults, counted. The scenarios of a cluster with actors, seed by seed, until so many faults were injected: nodes
// paused, cut off, killed, leaving and coming back, ways cut, the engine away. What the wire loses and doubles meanwhile is not counted.

import { simulate } from '@troupe/testkit'
import { commandLine, oneOf, whole } from '@troupe/testkit/internal'

const { faultsDone, library } = await import('../../dist-sim/index.js')
const struck = library.filter(({ strikes }) => strikes)
const {
  faults,
  start,
  scenario: only,
} = commandLine({
  name: 'npm run sim:cluster',
  about: 'Simulates a cluster until so many faults were injected, and checks K1 to K12 in every run. Ends with 1 where a promise is broken.',
  options: {
    faults: whole('how many faults', 10_000),
    start: whole('the first seed (default: a random one)', undefined, {}),
    scenario: oneOf(
      'scenario',
      struck.map(({ name }) => name),
      'this scenario alone (default: all with faults)',
      undefined,
    ),
  },
})

const scenarios = struck.filter(({ name }) => only === undefined || name === only)
const first = start ?? 1 + Math.floor(Math.random() * 1_000_000_000)
/** So many seeds of one scenario at a time. */
const block = 10
const runs = new Map(scenarios.map(({ name }) => [name, 0]))
const count = () => [...faultsDone.values()].reduce((sum, n) => sum + n, 0)
const began = performance.now()
const seconds = () => (performance.now() - began) / 1_000
let said = 0
let failure
let seeds = 0
let steps = 0
for (let at = 0; failure === undefined && count() < faults; at++) {
  const { name, run, options } = scenarios[at % scenarios.length]
  const from = first + Math.floor(at / scenarios.length) * block
  const replay = (seed) => `npm run sim -- --scenario "${name}" --seed ${seed}`
  const report = await simulate(run, { strategy: 'mixed', ...options, name, seeds: { from, count: block }, onViolation: 'report', replay })
  runs.set(name, runs.get(name) + report.runs)
  seeds += report.runs
  steps += report.steps
  failure = report.failure
  if (seconds() - said < 15) continue
  said = seconds()
  process.stderr.write(`${count()} faults in ${seeds} runs, ${said.toFixed(0)} s\n`)
}
if (failure !== undefined) console.log(failure.report)
console.log(`${count()} faults in ${seeds} runs from seed ${first} on, ${steps} steps, ${seconds().toFixed(0)} s`)
console.log(`  faults: ${[...faultsDone].map(([kind, n]) => `${kind} ${n}`).join(', ')}`)
console.log(`  runs: ${[...runs].map(([name, n]) => `${name} ${n}`).join(', ')}`)
console.log(failure === undefined ? 'No promise was broken.' : `A promise was broken: ${failure.violation.text}`)
process.exitCode = failure === undefined ? 0 : 1
