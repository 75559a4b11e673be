// A look at the whole tree: what each actor is and does, and where each message is. Walks with a stack of its own, so
// that a deep tree costs no recursion.

import type { Cell } from '../cell/turn/cell.ts'
import { endingOf, infoIn, PhaseInfo } from '../cell/life/phase-info.ts'
import type { FlightEntry } from '../values/flight.ts'
import type { ActorMetrics } from '../values/metrics.ts'
import type { Phase } from '../values/phase.ts'
import type { LedgerReport } from '../values/ledger.ts'

/** What is known of one actor and those below it. */
export interface ActorSnapshot {
  readonly path: string
  readonly name: string
  readonly uid: number
  readonly phase: Phase
  /** Restarts so far. */
  readonly incarnation: number
  readonly queued: number
  readonly stashed: number
  /** What a handler that has not settled is about, and for how long, in milliseconds. */
  readonly pending: { readonly what: string; readonly ms: number } | undefined
  /** Why and for how long it is suspended, failed, restarting or stopping. */
  readonly waiting: { readonly reason: string; readonly ms: number; readonly cause: unknown } | undefined
  readonly dispatcher: string
  /** What holds its messages, and how many at most. */
  readonly mailbox: { readonly kind: string; readonly capacity: number | undefined }
  /** What was measured, where the actor or the system asked for `metrics`. */
  readonly metrics: ActorMetrics | undefined
  /** The last messages and transitions, where the system has a flight recorder. */
  readonly recent: readonly FlightEntry[] | undefined
  /** The thread it runs on, where that is not this one. */
  readonly thread?: number | undefined
  readonly children: readonly ActorSnapshot[]
}

export type Draft = { -readonly [K in keyof ActorSnapshot]: ActorSnapshot[K] } & { children: ActorSnapshot[] }

export function snapshotOf(root: Cell): ActorSnapshot {
  const drafts = new Map<Cell, Draft>()
  for (const [cell, path] of pathsFrom(root)) {
    const draft = draftOf(cell, path)
    drafts.set(cell, draft)
    if (cell !== root) drafts.get(cell.ref.parent!.cell)!.children.push(draft)
  }
  return drafts.get(root)!
}

/** One actor without those below it. The path is given: asking each ref for its own would walk to the top each time. */
export function draftOf(cell: Cell, path: string): Draft {
  const { ref, phaseSeen: phase, extras, dispatcher } = cell
  const now = dispatcher.host.runtime.now()
  const pending = extras?.pending
  return {
    path,
    name: ref.segment,
    uid: ref.uid,
    phase,
    incarnation: extras?.incarnation ?? 0,
    queued: cell.queuedMessages,
    stashed: extras?.stash?.size ?? 0,
    pending: pending === undefined ? undefined : { what: pending.what, ms: now - pending.since },
    waiting: waitingOf(cell, now),
    dispatcher: dispatcher.name,
    mailbox: { kind: cell.options.mailbox?.kind ?? 'unbounded', capacity: cell.options.mailbox?.capacity },
    metrics: extras?.metrics?.report(cell, now),
    recent: extras?.flight?.entries(),
    children: [],
  }
}

function waitingOf(cell: Cell, now: number): ActorSnapshot['waiting'] {
  const { info } = cell
  if (!(info instanceof PhaseInfo)) return undefined
  const reason = infoIn(cell, 'suspended')?.reason ?? infoIn(cell, 'starting')?.step ?? endingOf(cell)?.step ?? 'failed'
  return { reason, ms: now - info.since, cause: info.cause }
}

/** Calls `visit` for a cell and all below it, parents first. */
export function walk(root: Cell, visit: (cell: Cell) => void): void {
  const stack: Cell[] = [root]
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    visit(cell)
    for (let c = cell.children?.last; c !== undefined; c = c.previous) stack.push(c)
  }
}

/** The paths of a cell and all below it, parents first. */
export function pathsFrom(root: Cell): Map<Cell, string> {
  const paths = new Map([[root, root.ref.path]])
  walk(root, (cell) => void (cell === root || paths.set(cell, `${paths.get(cell.ref.parent!.cell)!}/${cell.ref.segment}`)))
  return paths
}

/** The counters, and what is under way, found by looking at every cell. */
export function ledgerOf(ledger: Omit<LedgerReport, 'queued' | 'stashed' | 'inProgress'>, root: Cell): LedgerReport {
  let queued = 0
  let stashed = 0
  let inProgress = 0
  walk(root, (cell) => {
    queued += cell.queuedMessages
    stashed += cell.extras?.stash?.size ?? 0
    if (cell.ctx?.message !== undefined) inProgress++
    for (const call of cell.extras?.calls ?? []) if (call.message !== undefined) inProgress++
  })
  return { ...ledger, queued, stashed, inProgress }
}
