// What must not be left behind by the dead and the settled: looks at every cell that a system made. Used at the end of
// each test and of each simulated run.

import type { AnyRef } from '@troupe/core'
import { type Cell, type CellHost, cellOf } from '@troupe/core/internal'

/** The subscriptions that a system has on file, by who is told. */
interface Subscribed {
  readonly events: { readonly byRef: ReadonlyMap<AnyRef, ReadonlySet<{ readonly active: boolean }>> }
}

/** Everything that is left of actors that ended and questions that were settled, in words; empty when all is well. */
export function leaksOf(host: CellHost, cells: Iterable<Cell>): string[] {
  const found: string[] = []
  const known = new Map<Cell, ReadonlySet<Cell>>()
  for (const cell of cells) {
    const { path } = cell.ref
    if (cell.phase === 'terminated') leaksOfDead(cell, path, found)
    else leaksOfLiving(cell, path, found, known)
  }
  for (const [ref, subscriptions] of (host as Partial<Subscribed>).events?.byRef ?? []) {
    if (cellOf(ref)?.phase === 'terminated') found.push(`${ref.path} has ended, and the event stream keeps it`)
    for (const { active } of subscriptions) if (!active) found.push(`the event stream keeps a subscription of ${ref.path} that is over`)
  }
  if (host.pending < 0) found.push(`${-host.pending} more handlers settled than were pending`)
  return found
}

function leaksOfDead(cell: Cell, path: string, found: string[]): void {
  if (cell.extras !== undefined) found.push(`${path} has ended and keeps its extras`)
  if (cell.ctx !== undefined) found.push(`${path} has ended and keeps its context`)
  if (cell.initial !== undefined) found.push(`${path} has ended and keeps the behavior it began with`)
  if (cell.children !== undefined) found.push(`${path} has ended and keeps its list of children`)
  if (cell.lane !== undefined) found.push(`${path} has ended and keeps a system lane`)
  if (cell.previous !== undefined || cell.next !== undefined) found.push(`${path} has ended and is linked to siblings`)
  if (cell.queuedMessages > 0) found.push(`${path} has ended with ${cell.queuedMessages} messages queued`)
}

function leaksOfLiving(cell: Cell, path: string, found: string[], known: Map<Cell, ReadonlySet<Cell>>): void {
  const { extras } = cell
  const parent = cell.ref.parent?.cell
  if (parent !== undefined && !childrenOf(parent, known).has(cell)) found.push(`${path} lives, and its parent does not know it`)
  for (const child of cell.children?.names?.values() ?? [])
    if (child.phase === 'terminated') found.push(`${path} keeps the name of a child that has ended`)
  if (extras === undefined) return
  for (const watcher of extras.watchers ?? []) {
    if (watcher.phase === 'terminated') found.push(`${path} keeps a watcher that has ended: ${watcher.ref.path}`)
    else if (watcher.extras?.watching?.has(cell.ref) !== true) found.push(`${path} keeps a watcher that gave the watch up: ${watcher.ref.path}`)
  }
  for (let ask = extras.asked; ask !== undefined; ask = ask.nextAsk) if (ask.settled) found.push(`${path} keeps a question that was settled`)
  for (let edge = extras.asking; edge !== undefined; edge = edge.next)
    if (edge.ask.settled) found.push(`${path} keeps its own question, which was settled`)
}

/** The children that a parent knows, listed once for all of them. */
function childrenOf(parent: Cell, known: Map<Cell, ReadonlySet<Cell>>): ReadonlySet<Cell> {
  let children = known.get(parent)
  if (children === undefined) known.set(parent, (children = new Set(parent.children?.list())))
  return children
}
