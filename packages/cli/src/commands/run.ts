// Runs the application of a module as one system: until it ends by itself, or until the process is told to end, which it then does in order: no
// longer ready, out of the cluster, mailboxes drained, actors stopped from the top. Told once more, it ends at once.

import type { ActorSystem, ShutdownReport } from '@troupe/core'
import { BehaviorNode, BehaviorWithOptions, coreOf } from '@troupe/core/internal'
import { journalsAway } from '@troupe/observer'
import { causeOf, placeOf } from '../cause.ts'
import { Exit, exitCodes } from '../exit.ts'
import { type Address, type Health, serveHealth } from '../running/health.ts'
import type { Interrupts, SignalName } from '../running/interrupts.ts'
import { type Launched, launch } from '../running/launch.ts'
import { loadProgram } from '../running/user-module.ts'
import { clean, count, counted, duration } from '../style.ts'

export interface RunOptions {
  readonly name: string | undefined
  /** The port of the page; undefined for none. */
  readonly observe: number | undefined
  readonly socket: boolean
  readonly threads: number | undefined
  readonly record: number | undefined
  readonly health: Address | undefined
  /** Milliseconds from the signal to the end, and how many of them mailboxes may take to empty. */
  readonly deadline: number
  readonly drain: number
}

/** What the command says; standard output is the application's. */
type Say = (text: string) => void

export async function run(path: string, options: RunOptions, say: Say, interrupts: Interrupts): Promise<number> {
  const program = await loadProgram(path)
  const { main } = program
  const name = options.name ?? program.name
  let why: string | undefined = 'starting'
  const answers: Health = { whyNotAlive: () => lost(launched?.system), whyNotReady: () => why ?? unfit(launched?.system) }
  const health = options.health === undefined ? undefined : await serveHealth(options.health, answers)
  if (health !== undefined) say(`health at ${health.url}/livez and /readyz`)
  let launched: Launched | undefined
  const began = performance.now()
  try {
    launched = await launch(name, program, options, say)
    const { system } = launched
    const stop = stopping(system, options, (text) => {
      why = 'stopping'
      say(text)
    })
    const unlisten = interrupts.listen((signal) => stop(signal, interrupts))
    // What goes wrong at the start is said once, and ends it.
    const started = main.is === 'behavior' ? system.started(system.root!) : startedBy(main.start, system, path)
    let failed: unknown
    const ready = started.then(() => {
      if (why !== 'starting') return
      why = undefined
      say(`${clean(name)} runs; Ctrl-C stops it${options.socket ? ', npx troupe top looks at it' : ''}`)
    })
    await Promise.race([ready, system.terminated]).catch((cause: unknown) => {
      failed = cause ?? new Error('it failed to start')
      why = 'failed'
      say(`${name} failed to start: ${causeOf(cause)}`)
      const place = cause instanceof Exit ? '' : placeOf(cause)
      if (place !== '') say(place)
      void system.shutdown({ deadline: options.deadline })
    })
    const report = await system.terminated
    unlisten()
    sayReport(system, report, performance.now() - began, say)
    if (failed instanceof Exit) return failed.status
    return failed !== undefined || report.cause !== undefined || report.killed.length > 0 ? exitCodes.found : exitCodes.fine
  } finally {
    health?.close()
  }
}

/** What it throws at once is a failure as any other. */
async function startedBy(start: (system: ActorSystem) => unknown, system: ActorSystem, path: string): Promise<void> {
  const returned = await start(system)
  if (returned instanceof BehaviorNode || returned instanceof BehaviorWithOptions)
    throw new Exit(exitCodes.usage, `the function of ${path} returned a behavior: spawn it, or export the behavior itself as the root`)
}

/** Why a running system should be given no work. */
function unfit(system: ActorSystem | undefined): string | undefined {
  if (system === undefined) return 'starting'
  if (system.phase !== 'open') return 'stopping'
  const { otherPlaces } = coreOf(system)
  return otherPlaces?.held === false ? 'not a member of its cluster' : (otherPlaces?.unfit ?? journalsAway(system)[0])
}

/** Why only a restart helps: its session has ended, and it has begun no other. A process that stops, or has left, ends by itself. */
function lost(system: ActorSystem | undefined): string | undefined {
  return system?.phase === 'open' ? coreOf(system).otherPlaces?.lost : undefined
}

/** The first signal stops the system in order, the second ends the process. */
function stopping(system: ActorSystem, { deadline, drain }: RunOptions, say: Say): (signal: SignalName, interrupts: Interrupts) => void {
  let told = false
  return (signal, interrupts) => {
    if (told) {
      say(`${signal} once more: ending at once`)
      return interrupts.end(signal)
    }
    told = true
    const began = performance.now()
    const { otherPlaces } = coreOf(system)
    const leaves = otherPlaces?.leave !== undefined
    say(
      `${signal}: stopping ${clean(system.name)}${leaves ? ', which leaves its cluster first' : ''}; at most ${duration(deadline)}, at once by another`,
    )
    const left = leaves ? otherPlaces.leave!(deadline / 2) : Promise.resolve()
    void left
      .catch((cause: unknown) => say(`it could not leave its cluster in order: ${causeOf(cause)}`))
      .then(() => {
        const rest = Math.max(1, deadline - (performance.now() - began))
        return system.shutdown({ deadline: rest, drain: Math.min(drain, rest / 2) })
      })
  }
}

const pathsShown = 20

function sayReport(system: ActorSystem, { stopped, killed, undelivered, cause }: ShutdownReport, ms: number, say: Say): void {
  const { messages, supervision } = system.metrics()
  const left = undelivered === 0 ? '' : `, ${count(undelivered)} ${undelivered === 1 ? 'message' : 'messages'} left in mailboxes`
  say(`${clean(system.name)} ended after ${duration(ms)}: ${count(stopped)} stopped, ${count(killed.length)} killed at the deadline${left}`)
  say(`  ${count(messages.handled)} handled, ${counted(messages.deadLettered, 'dead letter')}, ${counted(supervision.restarts, 'restart')}`)
  for (const path of killed.slice(0, pathsShown)) say(`  killed ${clean(path)}`)
  if (killed.length > pathsShown) say(`  and ${count(killed.length - pathsShown)} more`)
  if (cause !== undefined) say(`  because ${causeOf(cause)}`)
}
