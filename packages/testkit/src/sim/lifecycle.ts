// The account of lives: which phase may follow which, which signals an incarnation saw, whether children ended before
// their parents. Keeps C4, and the phase table a second time, by hand; what a failure leads to is for DecisionAccount.

import type { AnyRef, Phase, Signal } from '@troupe/core'
import { hearsSignals, type LocalRef } from '@troupe/core/internal'
import type { SimCell } from './sim-cell.ts'
import { SimCell as CellClass } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

// Written from the table of the design, not from the code that it checks. One difference: an incarnation that is being
// replaced does not fail any more, whatever its last handler does, so `restarting` leads to `starting` or to the end.
export const follows: Readonly<Record<Phase, readonly Phase[]>> = {
  created: ['starting', 'stopping'],
  starting: ['running', 'failed', 'stopping'],
  running: ['suspended', 'failed', 'restarting', 'stopping'],
  suspended: ['running', 'failed', 'restarting', 'stopping'],
  failed: ['running', 'restarting', 'stopping'],
  restarting: ['starting', 'stopping'],
  stopping: ['stopped'],
  stopped: ['terminated'],
  terminated: [],
}

/** Signals whose handler may fail without any consequence but a line in the log. */
const ofTheEnd: ReadonlySet<string> = new Set(['PreStop', 'PostStop', 'PreRestart'])

export class Lifecycle {
  readonly #tap: SimTap
  /** Signals of the end whose handler failed, and those that were waited for and may have. */
  #failedEnds = 0
  #awaitedEnds = 0
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  born(cell: SimCell): void {
    const parent = cell.ref.parent?.cell
    if (parent instanceof CellClass) {
      parent.livingChildren++
      cell.bornIn = parent.incarnation
      if (parent.phase === 'terminated' || parent.phase === 'stopped')
        this.#tap.violate('C4', cell, `was spawned under ${parent.ref.path}, which is ${parent.phase}`)
    }
  }

  phased(cell: SimCell, from: Phase, to: Phase): void {
    const tap = this.#tap
    if (!follows[from].includes(to)) tap.violate('phases', cell, `went from ${from} to ${to}`)
    switch (to) {
      case 'starting':
        if (from === 'restarting') this.#nextIncarnation(cell)
        return
      case 'running':
        cell.ran = true
        if (from === 'starting' && !cell.sawPostStart && hearsSignals(cell)) tap.violate('C4', cell, 'runs without having seen PostStart')
        return
      case 'stopped':
        this.#endIncarnation(cell)
        if (cell.livingChildren > 0) tap.violate('C4', cell, `stopped before ${cell.livingChildren} of its children had`)
        return
      case 'terminated': {
        const parent = cell.ref.parent?.cell
        if (!(parent instanceof CellClass)) return
        parent.livingChildren--
        // Who runs, and has a handler, is owed the news.
        if ((parent.phase === 'running' || parent.phase === 'suspended') && hearsSignals(parent)) parent.childEnds++
        return
      }
      default:
    }
  }

  signal(cell: SimCell, signal: Signal): void {
    const tap = this.#tap
    if (cell.postStops > 0) tap.violate('C4', cell, `saw ${signal.type} after PostStop`)
    switch (signal.type) {
      case 'PreStart':
        if (cell.sawPreStart) tap.violate('C4', cell, 'saw PreStart twice')
        cell.sawPreStart = true
        return
      case 'PostStart':
        if (!cell.sawPreStart || cell.sawPostStart) tap.violate('C4', cell, 'saw PostStart out of order')
        cell.sawPostStart = true
        return
      case 'PostStop':
        cell.postStops++
        if (!cell.sawPreStart && !cell.ran) tap.violate('C4', cell, 'saw PostStop without a start')
        if (cell.phase === 'stopping') this.#checkHeard(cell)
        if (cell.extras?.pending?.state === 'waiting') tap.violate('C4', cell, 'saw PostStop while something of it was waited for')
        if (cell.livingChildren > 0 && (cell.phase === 'stopping' || cell.options.restartChildren === 'stop'))
          tap.violate('C4', cell, `saw PostStop while ${cell.livingChildren} of its children lived`)
        return
      case 'ChildStopped':
        cell.childEnds--
        this.#checkKin(cell, signal.child)
        if ((signal.child as unknown as LocalRef).cell.end?.reason !== signal.reason)
          tap.violate('C4', cell, `was told that a child stopped by ${signal.reason}, and it did not`)
        break
      case 'ChildFailed':
        cell.childFailures--
        this.#checkKin(cell, signal.child)
        break
      case 'PostRestart':
        if (!cell.sawPostStart || cell.incarnation === 0) tap.violate('C4', cell, 'saw PostRestart out of order')
        return
      case 'PreStop':
      case 'PreRestart':
        if (!cell.sawPreStart && !cell.ran) tap.violate('C4', cell, `saw ${signal.type} without a start`)
        if (cell.extras?.pending?.state === 'waiting' || (cell.extras?.calls?.size ?? 0) > 0)
          tap.violate('C4', cell, `saw ${signal.type} while handlers were pending, which were neither waited for nor cut off`)
        return
      default:
    }
    if (cell.phase !== 'running' && cell.phase !== 'suspended' && cell.phase !== 'stopping')
      tap.violate('phases', cell, `saw ${signal.type} while ${cell.phase}`)
  }
  /** Of children that went with an incarnation, the next hears nothing. */
  #checkKin(cell: SimCell, ref: AnyRef): void {
    const child = (ref as unknown as LocalRef).cell
    if (cell.options.restartChildren === 'stop' && child instanceof CellClass && child.bornIn !== cell.incarnation)
      this.#tap.violate('C7', cell, `hears of a child of incarnation ${child.bornIn} in incarnation ${cell.incarnation}`)
  }
  signalFailed({ type }: Signal): void {
    if (ofTheEnd.has(type)) this.#failedEnds++
  }
  signalAwaited({ type }: Signal): void {
    if (ofTheEnd.has(type)) this.#awaitedEnds++
  }
  /** In the end: as many of them count as failed as did. */
  checkCounts(): void {
    const { failedEndSignals } = this.#tap.host
    const logged = this.#tap.log.times('a stop handler failed; the stop goes on')
    if (failedEndSignals < this.#failedEnds || failedEndSignals > this.#failedEnds + this.#awaitedEnds || logged !== failedEndSignals)
      this.#tap.violate('C13', undefined, `${this.#failedEnds} stop handlers failed, ${failedEndSignals} are counted and ${logged} logged`)
  }
  /** A parent hears of each child's end before its own. */
  #checkHeard(cell: SimCell): void {
    const signals = cell.lane?.signals
    if (signals === undefined) return
    for (let i = 0; i < signals.size; i++)
      if (signals.at(i)?.type === 'ChildStopped') this.#tap.violate('C4', cell, 'saw PostStop before it heard that a child had stopped')
  }
  /** A user message is about to be handled. */
  handles(cell: SimCell): void {
    if (cell.postStops > 0) this.#tap.violate('C4', cell, 'handled a message after PostStop')
  }

  /** All is quiet: who could go on has done so, and nobody is between two phases for longer than any step may take. */
  checkRest(cell: SimCell): void {
    const { phase } = cell
    const parent = cell.ref.parent?.cell
    const now = this.#tap.host.runtime.now()
    if (phase === 'running' && cell.childEnds > 0 && cell.extras?.pending === undefined)
      this.#tap.violate('C4', cell, `did not hear of ${cell.childEnds} children that stopped`)
    if (phase === 'running' && cell.childFailures > 0 && cell.extras?.pending === undefined)
      this.#tap.violate('C4', cell, `did not hear of ${cell.childFailures} failures of its children`)
    if (cell.failures !== undefined && !this.#tap.log.hasFailed(cell.ref.path)) this.#tap.violate('C13', cell, 'failed, and the log does not say so')
    if (phase === 'created') this.#tap.violate('stuck', cell, 'was spawned and never started')
    else if (phase === 'starting' || phase === 'restarting' || phase === 'stopping' || (phase === 'failed' && parent?.phase === 'running')) {
      const longest = Math.max(cell.options.startTimeout, cell.options.stopTimeout) + 1500
      if (cell.changedAt + longest < now) this.#tap.violate('stuck', cell, `has been ${phase} for ${now - cell.changedAt} ms`)
    }
  }

  /** Time is about to move: whoever could handle a message has done so. */
  checkAwake(cell: SimCell): void {
    // A call goes on also when its message was forwarded meanwhile.
    const calls = cell.calls !== undefined || (cell.extras?.calls?.size ?? 0) > 0
    const busy = cell.never || cell.extras?.pending !== undefined || calls || cell.running !== undefined
    if (cell.phase === 'running' && !busy && cell.queuedMessages > 0)
      this.#tap.violate('stuck', cell, `has ${cell.queuedMessages} messages in its mailbox, runs, and does not handle them`)
  }

  #nextIncarnation(cell: SimCell): void {
    this.#endIncarnation(cell)
    if (cell.livingChildren > 0 && cell.options.restartChildren === 'stop')
      this.#tap.violate('C4', cell, `restarted before ${cell.livingChildren} of its children had stopped`)
    cell.incarnation++
    if (cell.options.restartChildren === 'stop') {
      cell.childEnds = 0
      cell.childFailures = 0
    }
    cell.setups = 0
    cell.ran = false
    cell.sawPreStart = false
    cell.sawPostStart = false
    cell.postStops = 0
    // Whatever its timers were, they ended with the incarnation; so this account holds, however the real one was kept.
    cell.timers = undefined
    cell.never = false
    if (cell.extras !== undefined && cell.extras.incarnation !== cell.incarnation)
      this.#tap.violate('C7', cell, `counts incarnation ${cell.extras.incarnation}, and it is the ${cell.incarnation}th`)
  }
  #endIncarnation(cell: SimCell): void {
    if (cell.postStops > 1) this.#tap.violate('C4', cell, `saw PostStop ${cell.postStops} times`)
    if (cell.sawPreStart && cell.postStops === 0 && hearsSignals(cell)) this.#tap.violate('C4', cell, 'ended an incarnation without PostStop')
  }
}
