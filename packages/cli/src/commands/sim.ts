// Runs the simulations that a module of the user exports, over many seeds: schedules and faults that a test would not think of.

import { writeFileSync } from 'node:fs'
import type { Scenario, SimulateOptions, SimulationFailure, SimulationReport } from '@troupe/testkit'
import { Exit, exitCodes } from '../exit.ts'
import { fileOf, loadModule } from '../running/user-module.ts'
import { sibling } from '../siblings.ts'
import { clean, count, duration, jsonLine, type Screen, Style } from '../style.ts'

export interface SimOptions {
  readonly json: boolean
  readonly seeds: number
  /** The first seed; by chance if undefined. */
  readonly start: number | undefined
  /** One scenario alone. */
  readonly scenario: string | undefined
  /** A file for the first run that breaks a promise, which the page of the observer opens; none if undefined. */
  readonly save: string | undefined
}

/** A scenario may bring options of its own, such as invariants: `export const orders = { scenario, options }`. */
type Exported = Scenario | { readonly scenario: Scenario; readonly options?: SimulateOptions }

/** The exit code: 1 where a promise was broken. */
export async function sim(module: string, screen: Screen, options: SimOptions): Promise<number> {
  const { simulate } = await sibling('sim', '@troupe/testkit', () => import('@troupe/testkit'))
  const found = scenariosIn(module, await loadModule(fileOf(module)), options.scenario)
  const style = new Style(screen.colours)
  const from = options.start ?? 1 + Math.floor(Math.random() * 1_000_000_000)
  const each = Math.ceil(options.seeds / found.length)
  let broken = 0
  for (const [name, { scenario, options: own = {} }] of found) {
    const replay = (seed: number): string => `troupe sim ${module} --scenario ${name} --start ${seed} --seeds 1`
    const report = await simulate(scenario, { ...own, name, seeds: { from, count: each }, onViolation: 'report', replay })
    if (report.failure !== undefined && broken === 0 && options.save !== undefined) save(options.save, report.name, report.failure)
    if (report.failure !== undefined) broken++
    screen.write(options.json ? jsonLine(plain(report, from)) : `${lineOf(report, from, style)}\n`)
  }
  return broken > 0 ? exitCodes.found : exitCodes.fine
}

/** The simplest run that breaks the promise, as the view Traces of the page opens it. */
function save(file: string, scenario: string, { seed, promise, violation, events }: SimulationFailure): void {
  const run = { troupe: 'run', version: 1, scenario, seed, promise, text: violation.text, actor: violation.actor, events }
  try {
    writeFileSync(file, `${JSON.stringify(run)}\n`)
  } catch (cause) {
    throw new Exit(exitCodes.usage, `Cannot write ${file}: ${(cause as Error).message}.`)
  }
}

function plain({ name, runs, distinct, steps, handled, ms, failure }: SimulationReport, from: number): object {
  return {
    name,
    from,
    runs,
    distinct,
    steps,
    handled,
    ms,
    failure: failure === undefined ? null : { seed: failure.seed, promise: failure.promise, report: failure.report },
  }
}

function lineOf({ name, runs, distinct, ms, failure }: SimulationReport, from: number, style: Style): string {
  const said = `${clean(name)}  ${count(runs)} seeds from ${from} on, ${count(distinct)} different runs, ${duration(ms)}`
  return failure === undefined ? `${style.green('✓')} ${said}` : `${style.red('■')} ${said}\n${failure.report}`
}

function scenariosIn(
  module: string,
  exported: Readonly<Record<string, unknown>>,
  wanted: string | undefined,
): (readonly [string, { scenario: Scenario; options?: SimulateOptions }])[] {
  const all = Object.entries(exported).flatMap(([name, value]) => {
    const one = value as Exported | null
    if (typeof one === 'function') return [[name, { scenario: one }] as const]
    return typeof one?.scenario === 'function' ? [[name, one] as const] : []
  })
  const names = all.map(([name]) => name).join(', ')
  if (all.length === 0)
    throw new Exit(exitCodes.usage, `${module} exports no scenario: export functions that are given a Simulation, or { scenario, options }.`)
  const found = all.filter(([name]) => wanted === undefined || name === wanted)
  if (found.length === 0) throw new Exit(exitCodes.usage, `${module} exports no scenario ${wanted}; there are: ${names}.`)
  return found
}
