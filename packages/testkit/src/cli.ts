// `npm run sim`: the library of scenarios over many seeds, from a random one on, shared among processes. Says how far it is
// meanwhile; in the end, or when it is interrupted, prints seeds per second, distinct traces and violations.

import { anyText, flag, oneOf, whole } from './command-arguments.ts'
import { commandLine, misuse } from './command-line.ts'
import { type Block, type BlockResult, replayOf } from './crew/block.ts'
import { Crew, type Outcome } from './crew/crew.ts'
import { Progress } from './crew/progress.ts'
import { differingOf, failuresOf, jsonOf, perSecond, runsOf, Tally, textOf } from './crew/tally.ts'
import { libraryWith } from './library/with.ts'
import { promises } from './sim/violation.ts'
import type { SimulationFailure } from './sim/simulate.ts'

type Signal = 'SIGINT' | 'SIGTERM'

interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): void
  on(event: 'error', listener: () => void): void
}
interface Host {
  readonly process: {
    readonly argv: readonly string[]
    readonly stdout: Stream
    readonly stderr: Stream
    on(event: Signal, listener: () => void): void
    exit(): void
    exitCode: number | undefined
    getBuiltinModule(name: 'node:os'): { availableParallelism(): number }
    getBuiltinModule(name: 'node:url'): { fileURLToPath(url: string): string }
  }
  readonly performance: { now(): number }
  setInterval(task: () => void, ms: number): unknown
  clearInterval(timer: unknown): void
}
const host = globalThis as unknown as Host
const { process, performance } = host
// Whoever reads this may have seen enough.
process.stdout.on('error', () => process.exit())

// Which scenarios there are is part of what the command line says, so this is looked for first.
const withAt = process.argv.findLastIndex((arg) => arg.startsWith('--with'))
const module = process.argv[withAt]?.startsWith('--with=') === true ? process.argv[withAt].slice(7) : process.argv[withAt + 1]
const scenarios = await libraryWith(withAt < 0 ? undefined : module, process.argv.includes('--alone')).catch((cause: unknown) =>
  misuse({ name: 'npm run sim' }, `--with cannot use '${module}': ${cause instanceof Error ? cause.message : String(cause)}`),
)
const names = scenarios.map((s) => s.name)
const given = commandLine({
  name: 'npm run sim',
  about:
    'Runs the scenarios over many seeds, and checks the promises of the core in every run. Ends with 1 where one is broken. Interrupted, it reports what it has.',
  options: {
    seeds: whole('how many seeds, shared among the scenarios', 1000),
    start: whole('the first seed (default: a random one)', undefined, {}),
    seed: whole('this seed alone, to see a failure again (default: none)', undefined, {}),
    scenario: oneOf('scenario', names, 'this scenario alone (default: all)', undefined),
    with: anyText('file', 'a module of more scenarios, which exports them as library; several with commas between them (default: none)', undefined),
    alone: flag('just the scenarios of that module'),
    jobs: whole('how many processes share the work (default: one for each core)', undefined),
    hold: whole('seconds of processor time that one step may take before its run counts as one without end', 10),
    twice: flag('runs every seed twice and compares the traces'),
    'stop-at-first': flag('ends at the first broken promise'),
    json: flag('prints the report as JSON'),
  },
})
const { twice, json, 'stop-at-first': stopAtFirst } = given
const start = given.seed ?? given.start ?? 1 + Math.floor(Math.random() * 1_000_000_000)
const tallies = names.filter((name) => given.scenario === undefined || name === given.scenario).map((name) => new Tally(name))
const each = given.seed === undefined ? Math.ceil(given.seeds / tallies.length) : 1
const wanted = each * tallies.length

/** Blocks alternate among the scenarios, so that a bug anywhere is met early. */
const blocks: Block[] = []
const size = Math.max(1, Math.min(stopAtFirst ? 10 : 200, each))
for (let done = 0; done < each; done += size)
  for (const { scenario } of tallies)
    blocks.push({ scenario, from: start + done, count: Math.min(size, each - done), twice, with: given.with, holdLimit: given.hold * 1000 })
blocks.reverse()

const began = performance.now()
let runsBefore: number | undefined
let interrupted: Signal | undefined

const { url } = import.meta as unknown as { readonly url: string }
const member = process.getBuiltinModule('node:url').fileURLToPath(url.replace(/[^/]*$/, 'crew/member.js'))
const crew = new Crew<Block, BlockResult>(member)
const tallyOf = (block: Block): Tally => tallies.find((t) => t.scenario === block.scenario)!

function next(): Block | undefined {
  for (let block = blocks.pop(); block !== undefined; block = blocks.pop()) if (tallyOf(block).failure === undefined) return block
  return undefined
}

function tell(block: Block, outcome: Outcome<BlockResult>): void {
  const tally = tallyOf(block)
  if (outcome.type === 'done') tally.add(outcome.result)
  else {
    const held = /with seed (\d+)/.exec(outcome.lastWords)
    if (held === null && block.count > 1) {
      // It died without a word, of its memory for instance: halves say which seed it was.
      const half = block.count >> 1
      blocks.push({ ...block, from: block.from + half, count: block.count - half }, { ...block, count: half })
      return
    }
    tally.failure ??= failureOf(block, held === null ? block.from : Number(held[1]), outcome, held !== null)
  }
  if (tally.failure === undefined) return
  runsBefore ??= runsOf(tallies)
  if (stopAtFirst) crew.stop()
}

/** The process of a run is gone: what it said last is what is known. */
function failureOf(
  block: Block,
  seed: number,
  { how, lastWords }: Extract<Outcome<BlockResult>, { type: 'died' }>,
  held: boolean,
): SimulationFailure {
  const invariant = held ? 'endless' : 'runtime'
  const text = held ? lastWords.split('\n')[0]! : `The process of the run ended with ${how}`
  const report = held
    ? lastWords
    : `${text}, in simulation "${block.scenario}" with seed ${seed}.\n  replay: ${replayOf(block.scenario, seed)}\n${lastWords}`
  const violation = { invariant, text, actor: undefined, step: 0, at: 0 } as const
  return { seed, violation, promise: promises[invariant], steps: 0, shrunkSteps: 0, shrunkChoices: 0, trials: 0, report, events: [] }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interrupted ??= signal
    crew.stop()
  })

const progress = new Progress(process.stderr, began, () => {
  const runs = runsOf(tallies)
  const broken = failuresOf(tallies).map((f) => f.scenario)
  return `${runs} of ${wanted} seeds, ${perSecond(runs, performance.now() - began)}/s${broken.length === 0 ? '' : `, BROKEN: ${broken.join(', ')}`}`
})
if (!json && given.seed === undefined) process.stdout.write(`seeds from ${start} on; the same again: --start ${start}\n`)
const timer = json ? undefined : host.setInterval(() => progress.show(performance.now()), 100)
const jobs = Math.min(given.jobs ?? process.getBuiltinModule('node:os').availableParallelism(), blocks.length)
await crew.work(jobs, next, tell)
host.clearInterval(timer)
progress.end()

const totals = { tallies, start, ms: performance.now() - began, runsBefore, interrupted }
process.stdout.write(`${json ? jsonOf(totals) : textOf(totals)}\n`)
const broken = failuresOf(tallies).length > 0 || differingOf(tallies) > 0
process.exitCode = broken ? 1 : interrupted === undefined ? 0 : interrupted === 'SIGINT' ? 130 : 143
