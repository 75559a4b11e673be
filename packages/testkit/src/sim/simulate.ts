// Many runs of one scenario, each under its own seed; the first broken promise is shrunk and explained.

import type { SystemOptions } from '@troupe/core'
import {
  type Check,
  checkBoolean,
  checkFinite,
  checkFunction,
  checkObject,
  checkOneOf,
  checkPart,
  checkString,
  checkUpTo,
  checkWhole,
  hostNow,
  hostPrint,
  readOptions,
  type Table,
} from '@troupe/core/internal'
import { Choices, type Recording, type Strategy } from './choices.ts'
import { diagramOf } from './diagram.ts'
import { listenForEscapes } from './escapes.ts'
import { type Faults, someFaults } from './faults.ts'
import { shrink, type Trial, unplain } from './shrink.ts'
import { type RunSetup, Simulation } from './simulation.ts'
import type { EventKind } from './trace.ts'
import { promises, type Violation } from './violation.ts'
import { unwatch, watch } from './watchdog.ts'

/** What is simulated: sets actors up and says what happens to them from outside. */
export type Scenario = (sim: Simulation) => void | Promise<void>

/** How a scenario is simulated; every field has a default. */
export interface SimulateOptions {
  /** Stands in reports; the function's name if left out. */
  readonly name?: string
  /** How many seeds, from 1 on; or which ones. 100 if left out. */
  readonly seeds?: number | readonly number[] | { readonly from: number; readonly count: number }
  /** `'random'` (default), `{ pct: depth }`, or `'mixed'`: random and PCT of depth 2 to 4 in turn. */
  readonly strategy?: Strategy | 'mixed'
  /** What goes wrong: `'some'` (default), `'none'`, or probabilities. */
  readonly faults?: 'none' | 'some' | Faults
  /** Must hold after every step. */
  readonly invariants?: Readonly<Record<string, (sim: Simulation) => boolean>>
  /** Virtual milliseconds with faults; 1,000 if left out. */
  readonly duration?: number
  /** Virtual milliseconds without faults until what was to come `eventually` must have come; 8,000 if left out. */
  readonly grace?: number
  /** A run with more steps never comes to rest, nor one with an eighth of them, and a few for each actor, at one moment; 20,000 if left out. */
  readonly maxSteps?: number
  /**
   * Milliseconds of processor time that one step may take; twenty times as long where it uses no processor, but waits. A run that holds its
   * thread for longer is reported, and the process ended; 10,000 if left out.
   */
  readonly holdLimit?: number
  /** Options of the system; a function makes them anew for every run, as a journal needs that is to be empty at the beginning. */
  readonly system?: SystemOptions | (() => SystemOptions)
  /** Whether several systems live in each run, connected by the scenario: see `Simulation.place`. False if left out. */
  readonly places?: boolean
  /** Whether a broken promise rejects (default), or is only reported. */
  readonly onViolation?: 'throw' | 'report'
  /** Trials for shrinking; 1,500 if left out, 0 for none. */
  readonly shrinkTrials?: number
  /** The line that replays a seed; by default the environment variable in front of `npm test`. */
  readonly replay?: (seed: number) => string
  /** Called after each run, with its trace hash. */
  readonly onRun?: (seed: number, hash: string) => void
}

/** A broken promise, as small as it could be made. */
export interface SimulationFailure {
  readonly seed: number
  readonly violation: Violation
  /** The promise in words. */
  readonly promise: string
  /** Steps of the run as found, and of the simplest one. */
  readonly steps: number
  readonly shrunkSteps: number
  /** Choices of the simplest run that are not the plain ones. */
  readonly shrunkChoices: number
  readonly trials: number
  /** Everything a person needs to know, as text. */
  readonly report: string
  /** What happened in the simplest run, in order: for those who draw it. */
  readonly events: readonly RunEvent[]
}

/** One thing that happened in a run. Actors are named; the world outside is `outside`. */
export interface RunEvent {
  readonly step: number
  /** Virtual milliseconds. */
  readonly at: number
  readonly what: EventKind
  readonly actor: string
  /** Whom it went to; undefined where it went to nobody. */
  readonly to: string | undefined
  readonly detail: string
}

/** What many runs gave. */
export interface SimulationReport {
  readonly name: string
  readonly runs: number
  /** How many different traces there were: schedules that were really tried. */
  readonly distinct: number
  readonly failure: SimulationFailure | undefined
  readonly steps: number
  readonly events: number
  /** Message handlers that were called, and how many of them were waited for. */
  readonly handled: number
  readonly asyncHandled: number
  /** Real milliseconds, without shrinking. */
  readonly ms: number
}

/** A simulation broke a promise; the message is the whole report. */
export class SimulationFailed extends Error {
  override readonly name: string = 'SimulationFailed'
  readonly failure: SimulationFailure
  constructor(failure: SimulationFailure) {
    super(failure.report)
    this.failure = failure
  }
}

const probability: Check = (option, value) => checkUpTo(option, value, 1)
const faultTable: Table<Faults> = {
  throw: probability,
  throwInSignal: probability,
  slow: probability,
  delay: probability,
  reject: probability,
  never: probability,
  kill: probability,
  stop: probability,
  restart: probability,
  suspend: probability,
  stopDuringStart: probability,
  dropTimer: probability,
  delayTimer: probability,
  clockJump: probability,
  mailboxFull: probability,
  most: [checkWhole, 0],
}

const table: Table<SimulateOptions> = {
  name: checkString,
  seeds: (option, value) => {
    if (typeof value === 'number') return checkWhole(option, value, 0)
    if (Array.isArray(value)) return value.map((seed, i) => checkFinite(`${option}[${i}]`, seed, 'from'))
    return checkPart<{ readonly from: number; readonly count: number }>(option, value, {
      from: [checkFinite, 'from', true],
      count: [checkWhole, 0, true],
    })
  },
  strategy: (option, value) =>
    typeof value === 'object'
      ? checkPart<{ readonly pct: number }>(option, value, { pct: [checkWhole, 1, true] })
      : checkOneOf(option, value, ['random', 'mixed']),
  faults: (option, value) => (typeof value === 'object' ? checkPart(option, value, faultTable) : checkOneOf(option, value, ['none', 'some'])),
  invariants: (option, value) => {
    checkObject(option, value)
    for (const [name, holds] of Object.entries(value as object)) checkFunction(`${option}.${name}`, holds)
    return value
  },
  duration: [checkFinite, 'from'],
  grace: [checkFinite, 'from'],
  maxSteps: [checkWhole, 1],
  holdLimit: [checkFinite, 'above'],
  system: (option, value) => (typeof value === 'function' ? value : checkObject(option, value)),
  places: checkBoolean,
  onViolation: [checkOneOf, ['throw', 'report']],
  shrinkTrials: [checkWhole, 0],
  replay: checkFunction,
  onRun: checkFunction,
}

/** Simulations of one process run one after the other: native continuations of two would mix. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a scenario under many seeds: which actor goes next, how long turns are, when completions arrive and what fails are
 * choices of the seed, and every run is checked against the promises C1–C10, C12 and C13.
 *
 * Guarantees: the same seed gives the same trace, byte for byte; with `TROUPE_SEED=n` in the environment only that seed
 * is run. Fails: rejects with `SimulationFailed` at the first broken promise, shrunk, with a diagram and how to replay.
 *
 * @example
 * await simulate((sim) => {
 *   const account = sim.system.spawn(accountBehavior())
 *   sim.plan(10, () => account.tell({ type: 'deposit', amount: sim.int(1, 100) }))
 * }, { seeds: 200 })
 */
export function simulate(scenario: Scenario, options: SimulateOptions = {}): Promise<SimulationReport> {
  const run = last.then(() => simulateAlone(scenario, options))
  last = run.catch(() => {})
  return run
}

async function simulateAlone(scenario: Scenario, given: SimulateOptions): Promise<SimulationReport> {
  checkFunction('scenario', scenario)
  const options = readOptions('simulate', given, table)
  const name = options.name ?? (scenario.name === '' ? 'scenario' : scenario.name)
  const setup = setupOf(scenario, options)
  const traces = new Set<string>()
  const totals = { runs: 0, steps: 0, events: 0, handled: 0, asyncHandled: 0 }
  let failure: SimulationFailure | undefined
  const unlisten = listenForEscapes()
  const started = hostNow()
  let ms = 0
  try {
    for (const seed of seedsOf(options)) {
      const sim = new Simulation(setup, Choices.seeded(seed, strategyOf(options.strategy, seed)))
      await runWatched(sim, options, `Simulation "${name}" with seed ${seed}`, seed)
      totals.runs++
      totals.steps += sim.steps
      totals.events += sim.trace.size
      totals.handled += sim.tap.handling.handled
      totals.asyncHandled += sim.tap.handling.asyncHandled
      traces.add(sim.trace.hash)
      options.onRun?.(seed, sim.trace.hash)
      if (sim.violation === undefined) continue
      ms = hostNow() - started
      failure = await explain(name, seed, sim, sim.violation, setup, options)
      break
    }
    if (ms === 0) ms = hostNow() - started
  } finally {
    unlisten()
  }
  if (failure !== undefined && options.onViolation !== 'report') throw new SimulationFailed(failure)
  return { name, ...totals, distinct: traces.size, failure, ms }
}

/** Runs, and has somebody look on who says what it was, should it never come back. */
async function runWatched(sim: Simulation, options: SimulateOptions, what: string, seed: number): Promise<void> {
  watch(options.holdLimit ?? 10_000, () => `${what}\n  ${sim.busyWith}\n  replay: ${replayOf(options, seed)}`)
  try {
    await sim.run()
  } finally {
    unwatch()
  }
}

function replayOf({ replay }: SimulateOptions, seed: number): string {
  return replay === undefined ? `TROUPE_SEED=${seed} npm test` : replay(seed)
}

function setupOf(scenario: Scenario, options: SimulateOptions): RunSetup {
  const { faults = 'some' } = options
  return {
    scenario,
    faults: faults === 'none' ? {} : faults === 'some' ? someFaults : faults,
    invariants: options.invariants ?? {},
    duration: options.duration ?? 1000,
    grace: options.grace ?? 8000,
    maxSteps: options.maxSteps ?? 20_000,
    system: options.system ?? {},
    places: options.places ?? false,
    keepTrace: false,
  }
}

function* seedsOf(options: SimulateOptions): Iterable<number> {
  const { process } = globalThis as unknown as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } }
  const given = process?.env?.['TROUPE_SEED']
  const { seeds = 100 } = options
  if (given !== undefined && given !== '') yield Number(given)
  else if (typeof seeds === 'number') for (let i = 1; i <= seeds; i++) yield i
  else if ('from' in seeds) for (let i = 0; i < seeds.count; i++) yield seeds.from + i
  else yield* seeds
}

function strategyOf(strategy: SimulateOptions['strategy'], seed: number): Strategy {
  if (strategy !== 'mixed') return strategy ?? 'random'
  return seed % 2 === 1 ? 'random' : { pct: 2 + ((seed >> 1) % 3) }
}

/** Of what has no end, so many steps are shown. */
const aRound = 8

async function explain(
  name: string,
  seed: number,
  found: Simulation,
  violation: Violation,
  setup: RunSetup,
  options: SimulateOptions,
): Promise<SimulationFailure> {
  const broke = `Simulation "${name}" broke ${violation.invariant} (${promises[violation.invariant]}) with seed ${seed}`
  const again = `${broke}: ${violation.text}. A simpler run of it`
  const attempt = async (tried: Recording): Promise<Trial> => {
    const sim = new Simulation(setup, Choices.replay(tried))
    await runWatched(sim, options, again, seed)
    return {
      invariant: sim.violation?.invariant,
      recording: sim.choices.recording,
      steps: sim.steps,
      cost: sim.trace.size + (sim.trace.step * sim.tap.cells.length) / 16,
    }
  }
  // A test runner may end the test while a simpler run is looked for: by then the seed is known.
  const shrinkTrials = options.shrinkTrials ?? 1500
  if (options.onViolation !== 'report' && shrinkTrials > 0)
    hostPrint('warn', `${broke}: ${violation.text}.\n  Looking for a simpler run of it. replay: ${replayOf(options, seed)}`)
  const { recording, trials } = await shrink(found.choices.recording, found.steps, violation.invariant, attempt, shrinkTrials)
  const shown = new Simulation({ ...setup, keepTrace: true }, Choices.replay(recording))
  await runWatched(shown, options, again, seed)
  const simplest = shown.violation ?? violation
  const shrunkChoices = unplain(recording)
  const nameOf = (uid: number): string => shown.tap.nameOf(uid)
  const report = [
    `${broke}.`,
    `  ${simplest.actor === undefined ? '' : `${simplest.actor}: `}${simplest.text}`,
    `  found after ${found.steps} steps; the simplest run that breaks it has ${shown.steps} steps and ${shrunkChoices} choices that are not plain (${trials} trials)`,
    `  replay: ${replayOf(options, seed)}`,
    '',
    diagramOf(shown.trace.events ?? [], nameOf, simplest.invariant === 'endless' ? simplest.step + aRound : Infinity),
  ].join('\n')
  return {
    seed,
    violation: simplest,
    promise: promises[violation.invariant],
    steps: found.steps,
    shrunkSteps: shown.steps,
    shrunkChoices,
    trials,
    report,
    events: (shown.trace.events ?? []).map(({ step, at, what, actor, to, detail }) => ({
      step,
      at,
      what,
      actor: actor === 0 ? 'outside' : nameOf(actor),
      to: to === 0 ? undefined : nameOf(to),
      detail,
    })),
  }
}
