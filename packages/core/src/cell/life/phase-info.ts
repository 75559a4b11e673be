// What a phase carries: why, since when, and how far it has come. A class for each phase that has anything to tell, with what is valid
// in that phase and nothing else; all in the cell's one slot. `Stopping` and `Restarting` are with what they do; one that runs has none.

import type { BehaviorNode } from '../../values/behavior.ts'
import type { Phase } from '../../values/phase.ts'
import type { ExitReason, Signal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import type { Restarting } from './restarting.ts'
import type { Stopping } from './stopping.ts'

/** How an actor ended. */
export interface EndInfo {
  readonly reason: ExitReason
  readonly cause: unknown
  /** Whether it ended without ever having come up. */
  readonly unstarted?: boolean
}

/** What all of them have. */
export abstract class PhaseInfo {
  declare cause: unknown
  declare since: number
  /** The phase before: a first start comes from `created`, and from `starting` the failure of one. */
  declare readonly from: Phase
  /** Whether the present incarnation saw PreStart and has not seen PostStop. */
  declare live: boolean
  /** What `spawn` was given: the cell has one place for it and for this. */
  initial: BehaviorNode | undefined
  constructor(cell: Cell, cause?: unknown) {
    this.cause = cause
    this.since = cell.dispatcher.now
    this.from = cell.phase
    this.live = isLive(cell)
  }
}

export class Starting extends PhaseInfo {
  step: 'setup' | 'pre-start' | 'post-start' | 'post-restart' = 'setup'
  /** Says what keeps it from coming up, where somebody knows. */
  hindrance: (() => unknown) | undefined
}

export class Suspended extends PhaseInfo {
  declare readonly reason: string
  constructor(cell: Cell, reason: string) {
    super(cell)
    this.reason = reason
  }
}

export class Failed extends PhaseInfo {
  /** Whether it was told to begin anew with its parent, to which it failed up: nothing is left to decide. */
  told = false
}

/** What an incarnation that ends carries, and where the ways of stopping and restarting differ. */
export abstract class Ending extends PhaseInfo {
  /** How far it has come; `clearing` and `backoff` are of a restart, once the incarnation has ended. */
  step: 'handler' | 'pre-stop' | 'children' | 'post-stop' | 'clearing' | 'backoff' = 'handler'
  /** When the time is up that the actor itself, and whoever is above it, has to end. */
  until: number = Infinity
  above: number = Infinity
  /** Of one that stops, because it was killed or is below one that was: no user code is waited for. */
  declare readonly hurry?: boolean
  /** What the behavior hears first. */
  abstract get signal(): Signal
  /** Whether the children end with it. */
  endsChildren(_cell: Cell): boolean {
    return true
  }
  /** Its time is up before its children were told. Whether they are told at once, and the behavior is spared what it would hear first. */
  abstract cutShort(): boolean
  /** The incarnation has seen its end. */
  abstract ended(cell: Cell): void
}

/** By phase. */
export interface PhaseInfos {
  readonly starting: Starting
  readonly suspended: Suspended
  readonly failed: Failed
  readonly restarting: Restarting
  readonly stopping: Stopping
}

/** What a cell in this phase carries; undefined in any other. */
export function infoIn<P extends keyof PhaseInfos>(cell: Cell, phase: P): PhaseInfos[P] | undefined {
  return cell.phase === phase ? (cell.info as PhaseInfos[P]) : undefined
}

/** Lets a package say what keeps an actor from coming up, for as long as it starts. */
export function explainStart(cell: Cell, hindrance: () => unknown): void {
  const info = infoIn(cell, 'starting')
  if (info !== undefined) info.hindrance = hindrance
}

/** What a cell that ends carries; undefined for any other. */
export function endingOf(cell: Cell): Ending | undefined {
  const { info } = cell
  return info instanceof Ending ? info : undefined
}

/** Whether the present incarnation saw PreStart and has not seen PostStop. */
export function isLive(cell: Cell): boolean {
  return cell.phase === 'running' || (cell.info as PhaseInfo | undefined)?.live === true
}

/** How the fast way out of the running phase ended. */
export const normalEnd: EndInfo = { reason: 'normal', cause: undefined }
