// The end of a system: drain if asked, for a share of the time, stop from the top, wait, kill survivors at the deadline, close up. Always
// resolves, also when handlers never settle and when nobody else pumps.

import { hostNow, hostYield } from '../ports/host.ts'
import { checkFinite, readOptions, type Table } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { ShutdownOptions, ShutdownReport } from '../values/options.ts'
import type { Cell } from '../cell/turn/cell.ts'
import type { SystemCore } from './core.ts'
import { pathsFrom, walk } from './inspection.ts'

/** How long after its deadline a shutdown waits for one more turn of the killed before it closes without those that are left. */
const grace = 1000

/**
 * How many passes of the host's loop a clock that somebody else moves has to stand still before real time counts: between two of them a busy
 * machine may take longer than the deadline, while whoever moves the clock is about to.
 */
const stillAfterRounds = 10

/** How long the stop of the youngest actors may hold up that of the others, at most. */
const longestInTurn = 1000

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
  let killed: Map<Cell, string> = new Map()
  const terminatedBefore = core.terminated
  const undeliveredBefore = core.undelivered
  return new Promise((resolve) => {
    const finish = (): void => {
      if (isClosed(core)) return
      core.phase = 'closed'
      core.onEmpty = undefined
      core.onIdle = undefined
      core.onEnded = undefined
      core.endLog()
      core.timers.close()
      core.dispatchers.end()
      core.closeMiddleware()
      core.events.close()
      core.runtime.stop?.()
      const report = {
        // One that was killed may have survived even that, in a loop of its own.
        stopped: core.terminated - terminatedBefore - [...killed.keys()].filter((c) => c.phase === 'terminated').length,
        killed: [...killed.values()],
        undelivered: core.undelivered - undeliveredBefore,
      }
      resolve(cause === undefined ? report : { ...report, cause })
    }
    const stop = { verb: 'stop', reason: 'shutdown', cause: undefined } as const
    const stopAll = (): void => {
      core.draining = false
      core.onIdle = undefined
      core.onEnded = undefined
      core.guardian.command(stop)
    }
    // Whoever sends to an actor mostly is younger than it: stopped first, its last messages are still handled.
    const stopInTurn = (): void => {
      core.draining = false
      core.onIdle = undefined
      let told: Cell | undefined
      const next = (): void => {
        const youngest = core.guardian.children?.last
        if (youngest === undefined) return stopAll()
        if (youngest === told) return
        told = youngest
        youngest.command(stop)
      }
      core.onEnded = next
      core.timers.after(Math.min(longestInTurn, (deadline - drainFor) / 2), () => void (core.onEnded === next && stopAll()))
      next()
    }
    // What joined the system may have something to finish.
    const empty = (): void => void (core.extensions.size === 0 ? finish() : core.closeExtensions().then(finish))
    const killAll = (): void => {
      if (core.guardian.phase === 'terminated') return finish()
      if (core.hurried) return
      stopAll()
      core.hurried = true
      killed = pathsFrom(core.guardian)
      killed.delete(core.guardian)
      core.guardian.command({ verb: 'kill' })
      awaitKilled()
    }
    // As long as there are turns, they are on their way: the killed handle no messages.
    const awaitKilled = (): void => {
      const before = turnsOf(core)
      core.timers.after(grace, () => (turnsOf(core) === before ? finish() : awaitKilled()))
    }
    if (core.guardian.phase === 'terminated') return empty()
    core.onEmpty = empty
    core.timers.after(deadline, killAll)
    const endDrain = (): void => void (core.draining && stopInTurn())
    if (core.draining) {
      const { otherPlaces } = core
      core.timers.after(drainFor, endDrain)
      const quiet = otherPlaces === undefined ? endDrain : () => otherPlaces.whenQuiet(() => void (isQuiet(core) && endDrain()))
      core.onIdle = () => void (isQuiet(core) && quiet())
      core.onIdle()
    } else stopAll()
    if (core.runtime.pump === undefined) return
    // Driven from here, as it does not run by itself; real time bounds it where its own clock stands still.
    const started = hostNow()
    let clock = core.runtime.now()
    let stillRounds = 0
    const round = (): void => {
      core.runtime.pump!(() => hostNow() - started > (core.draining ? drainFor : deadline))
      if (isClosed(core)) return
      const now = core.runtime.now()
      stillRounds = now === clock ? stillRounds + 1 : 0
      clock = now
      if (stillRounds >= stillAfterRounds) {
        const waited = hostNow() - started
        if (waited > deadline + grace && core.hurried) return finish()
        if (waited > deadline) killAll()
        else if (waited > drainFor) endDrain()
      }
      if (!isClosed(core)) hostYield(round)
    }
    hostYield(round)
  })
}

function isClosed(core: SystemCore): boolean {
  return core.phase === 'closed'
}

function turnsOf(core: SystemCore): number {
  let turns = 0
  for (const dispatcher of core.dispatchers.all) turns += dispatcher.turns
  return turns
}

/** Whether nothing more will be handled by itself. */
function isQuiet(core: SystemCore): boolean {
  if (core.pending > 0 || [...core.dispatchers.all].some((dispatcher) => dispatcher.depth > 0)) return false
  let quiet = true
  walk(core.guardian, ({ phase, queuedMessages }) => {
    if (queuedMessages > 0 && phase !== 'suspended' && phase !== 'failed') quiet = false
  })
  return quiet
}
