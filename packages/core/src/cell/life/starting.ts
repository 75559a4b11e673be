// From nothing to running: setup, PreStart, PostStart and, after a restart, PostRestart. Each may be async; one
// deadline bounds them together. Runs in the actor's turn, never inside `spawn`.

import { on, quickStart } from '../../deciders/phase.ts'
import { BehaviorNode } from '../../values/behavior.ts'
import { StartTimeout } from '../../values/errors.ts'
import { postStart, preStart, type Signal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { fail } from './failing.ts'
import { become } from './outcome.ts'
import { hear, hearsSignals } from './hearing.ts'
import { endTimers } from './incarnation.ts'
import { abandon, type Continuation } from './pending.ts'
import { armStep, disarmStep } from './step-timer.ts'
import { change, rush } from './phase-change.ts'
import { infoIn, Starting } from './phase-info.ts'
import { refusalOf } from './returned.ts'
import { resolveNode } from './setup.ts'
import { restartEscalated } from './escalated-children.ts'

/** The first start. */
export function beginStart(cell: Cell): void {
  const initial = cell.initial!
  if (initial.kind === 'receive' && initial.signal === undefined && cell.extras === undefined && !cell.options.linksHear) {
    // Nothing to run and nobody to tell: the whole start is one step. Listeners still hear of both phases.
    cell.ctx = cell.host.makeContext(cell)
    if (rush(cell, quickStart, undefined)) return
    change(cell, on.start, undefined)
    change(cell, on.started, undefined)
    return
  }
  change(cell, on.start, new Starting(cell))
  launch(cell)
}

/** The start of the next incarnation. */
export function relaunch(cell: Cell): void {
  const { cause } = cell.info!
  disarmStep(cell)
  const extras = cell.extras!
  extras.incarnation++
  extras.groupHistory = undefined
  extras.group?.left(cell)
  change(cell, on.relaunch, new Starting(cell, cause))
  restartEscalated(cell, cause)
  launch(cell)
}

function launch(cell: Cell): void {
  const extras = cell.extras
  if (extras !== undefined) {
    extras.handedOver = extras.handingOver
    extras.handingOver = undefined
  }
  cell.ctx = cell.host.makeContext(cell)
  resolveNode(cell, cell.initial!, (c, ok, value) => {
    if (!arriving(c)) return
    if (!ok) return startFailed(c, value)
    const node = value as BehaviorNode
    if (node.kind === 'stopped') return void become(c, node)
    c.behavior = node
    infoIn(c, 'starting')!.live = true
    step(c, 'pre-start')
  })
  boundStart(cell)
}

/** Arms the start's deadline, once, when something is pending. */
function boundStart(cell: Cell): void {
  if (arriving(cell) && cell.extras?.pending !== undefined && cell.extras.stepTimer === undefined) armStep(cell, cell.options.startTimeout)
}

function arriving(cell: Cell): boolean {
  return cell.phase === 'starting'
}

function step(cell: Cell, at: 'pre-start' | 'post-start' | 'post-restart' | 'done'): void {
  if (at === 'done') return arrive(cell)
  const info = infoIn(cell, 'starting')!
  info.step = at
  if (at === 'pre-start') tell(cell, preStart, 'post-start')
  else if (at === 'post-start') tell(cell, postStart, info.from === 'created' ? 'done' : 'post-restart')
  else tell(cell, { type: 'PostRestart', cause: info.cause }, 'done')
}

function tell(cell: Cell, signal: Signal, then: 'post-start' | 'post-restart' | 'done'): void {
  if (!hearsSignals(cell)) return step(cell, then)
  hear(cell, signal, arriving, taking(then))
  boundStart(cell)
}

/** Goes on with what a start handler, or a setup that it returned, came to. */
function taking(then: 'post-start' | 'post-restart' | 'done'): Continuation {
  return (cell, ok, value) => {
    if (!arriving(cell)) return
    if (ok) took(cell, value, then)
    else startFailed(cell, value)
  }
}

function took(cell: Cell, next: unknown, then: 'post-start' | 'post-restart' | 'done'): void {
  if (next === undefined) return step(cell, then)
  if (!(next instanceof BehaviorNode)) return startFailed(cell, refusalOf(next, `A start handler of ${cell.ref.path} returned`))
  if (next.kind !== 'setup') {
    become(cell, next)
    if (arriving(cell)) step(cell, then)
    return
  }
  resolveNode(cell, next, taking(then))
  boundStart(cell)
}

function arrive(cell: Cell): void {
  disarmStep(cell)
  change(cell, on.started, undefined)
  const extras = cell.extras
  if (extras === undefined) return
  extras.runningSince = cell.dispatcher.now
  extras.neverUp = false
  const waiters = extras.startWaiters
  extras.startWaiters = undefined
  for (const waiter of waiters ?? []) waiter(undefined)
  extras.keeper?.started(cell)
}

function startFailed(cell: Cell, cause: unknown): void {
  disarmStep(cell)
  fail(cell, cause)
}

/** The deadline of the start has passed. */
export function startOverrun(cell: Cell): void {
  abandon(cell)
  endTimers(cell)
  cell.ctx = cell.host.makeContext(cell)
  startFailed(cell, new StartTimeout(cell.ref.path, cell.options.startTimeout))
}
