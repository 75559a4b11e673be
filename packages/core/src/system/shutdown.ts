// The end of a system: drain if asked, for a share of the time, stop from the top, wait, kill survivors at the deadline, close up. Always
// resolves, also when handlers never settle and when nobody else pumps.

import type { Deadline } from '../queues/timers.ts'
import { hostNow, hostYield } from '../ports/host.ts'
import { checkFinite, readOptions, type Table } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { ShutdownOptions, ShutdownReport } from '../values/options.ts'
import type { Cell } from '../cell/cell.ts'
import type { SystemCore } from './core.ts'
import { pathsBelow, walk } from './inspection.ts'

/** How long after its deadline a shutdown waits for one more turn of the killed before it closes without those that are left. */
const grace = 1000

class Alarm implements Deadline {
  at = 0
  order = 0
  readonly #act: () => void
  constructor(act: () => void) {
    this.#act = act
  }
  fire(): void {
    this.#act()
  }
}

const table: Table<ShutdownOptions> = {
  deadline: [checkFinite, 'from'],
  drain: (option, value) => (typeof value === 'boolean' ? value : checkFinite(option, value, 'from')),
}

export function shutDown(core: SystemCore, options: ShutdownOptions, cause: unknown): Promise<ShutdownReport> {
  const { deadline = 30_000, drain = false } = readOptions('shutdown', options, table)
  // Half of the time, unless it is said: what is left is for an orderly stop.
  const drainFor = typeof drain === 'boolean' ? deadline / 2 : drain
  if (typeof drain === 'number' && drain >= deadline)
    throw new InvalidOption('drain', drain, `leave time to stop before the deadline, ${deadline} ms`)
  core.phase = 'closing'
  core.draining = drain !== false
  let killed: ReadonlyMap<Cell, string> = new Map()
  const terminatedBefore = core.terminated
  const undeliveredBefore = core.undelivered
  let done = false
  return new Promise((resolve) => {
    const finish = (): void => {
      if (done) return
      done = true
      core.onEmpty = undefined
      core.onIdle = undefined
      core.endLog()
      core.timers.close()
      core.phase = 'closed'
      core.dispatchers.end()
      core.closeMiddleware()
      core.events.close()
      core.runtime.stop?.()
      const report = {
        // Who was killed may have survived even that, in a loop of its own.
        stopped: core.terminated - terminatedBefore - [...killed.keys()].filter((c) => c.phase === 'terminated').length,
        killed: [...killed.values()],
        undelivered: core.undelivered - undeliveredBefore,
      }
      resolve(cause === undefined ? report : { ...report, cause })
    }
    const stopAll = (): void => {
      core.draining = false
      core.onIdle = undefined
      core.guardian.command({ verb: 'stop', reason: 'shutdown', cause: undefined })
    }
    let cut = false
    const killAll = (): void => {
      if (done || cut) return
      cut = true
      stopAll()
      core.hurried = true
      killed = pathsBelow(core.guardian)
      core.guardian.command({ verb: 'kill' })
      awaitKilled(turnsOf(core))
    }
    // As long as there are turns, they are on their way: the killed handle no messages.
    const awaitKilled = (before: number): void => {
      const look = (): void => (turnsOf(core) === before ? finish() : awaitKilled(turnsOf(core)))
      core.timers.set(new Alarm(look), core.runtime.now() + grace)
    }
    if (core.guardian.phase === 'terminated') return finish()
    core.onEmpty = finish
    core.timers.set(new Alarm(killAll), core.runtime.now() + deadline)
    const endDrain = (): void => void (core.draining && stopAll())
    if (core.draining) {
      const { federation } = core
      core.timers.set(new Alarm(endDrain), core.runtime.now() + drainFor)
      const quiet = federation === undefined ? stopAll : () => federation.whenQuiet(() => void (core.draining && isQuiet(core) && stopAll()))
      core.onIdle = () => void (isQuiet(core) && quiet())
      core.onIdle()
    } else stopAll()
    if (core.runtime.pump !== undefined) pumpToEnd(core, { deadline, drainFor }, () => done, { endDrain, killAll, finish })
  })
}

function turnsOf(core: SystemCore): number {
  let turns = 0
  for (const dispatcher of core.dispatchers.all) turns += dispatcher.turns
  return turns
}

/** Whether nothing more will be handled by itself. */
function isQuiet(core: SystemCore): boolean {
  if (core.pending > 0) return false
  for (const dispatcher of core.dispatchers.all) if (dispatcher.depth > 0) return false
  let quiet = true
  walk(core.guardian, (cell) => {
    const stuck = cell.phase === 'suspended' || cell.phase === 'failed'
    if (!stuck && cell.queuedMessages > 0) quiet = false
  })
  return quiet
}

/** Drives a runtime that does not run by itself; real time bounds it where its own clock stands still. */
function pumpToEnd(
  core: SystemCore,
  { deadline, drainFor }: { readonly deadline: number; readonly drainFor: number },
  done: () => boolean,
  { endDrain, killAll, finish }: { readonly endDrain: () => void; readonly killAll: () => void; readonly finish: () => void },
): void {
  const started = hostNow()
  const round = (): void => {
    core.runtime.pump!(() => hostNow() - started > (core.draining ? drainFor : deadline))
    if (done()) return
    const waited = hostNow() - started
    if (waited > drainFor) endDrain()
    if (waited > deadline + grace) finish()
    else if (waited > deadline) killAll()
    if (!done()) hostYield(round)
  }
  hostYield(round)
}
