// Cycles of actors that wait for each other. An edge asker → target binds while the asker's handler is pending and its
// question is queued or stashed at the target, or being handled there. Whether it does is read off the question under way when one
// is asked, so that a tell costs nothing and an ask costs the length of the chain behind it.

import { DeadlockError } from '../../values/errors.ts'
import type { DeadlockMode } from '../../values/ref.ts'
import type { PendingAsk } from './ask.ts'
import type { Cell } from '../turn/cell.ts'
import type { Context } from '../context/context.ts'
import { askedBy, Envelope, type Meta, Told } from '../message/envelope.ts'
import type { PendingCall } from '../life/pending.ts'

export const deadlockModes: readonly DeadlockMode[] = ['reject', 'warn', 'off']

/** Makes the meta of a plain message, which may come many times over, one of a kind. Moves on as what it stands for. */
class Mark extends Told {
  override onward(): Meta {
    return this.sender
  }
}

/** What the handler that runs now has and no other: the envelope of its message, or a mark in its place. */
function markOf(asker: Context): Meta {
  const { meta } = asker
  if (meta instanceof Envelope || asker.cell.options.reentrant) return meta
  return (asker.meta = new Mark(meta, undefined, undefined))
}

/** A signal handler or setup begins: what those before it asked without waiting is not its concern. */
export function beginSignal(asker: Context | undefined): void {
  if (asker !== undefined && asker.meta instanceof Mark) asker.meta = undefined
}

/** A question as its asker sees it, in a list of all that the asker has under way, the youngest first. */
export class AskEdge {
  declare readonly ask: PendingAsk
  declare readonly asker: Context
  /** The pending handler that waits for the answer; undefined as long as the one that asked has not become pending. */
  declare call: PendingCall | undefined
  /** What tells the handler that asked from all others, until it returns. */
  declare readonly during: Meta
  /** Whether the question ends with the asker's incarnation: asked through its context. */
  declare readonly owned: boolean
  declare readonly mode: DeadlockMode
  previous: AskEdge | undefined
  next: AskEdge | undefined
  constructor(ask: PendingAsk, asker: Context, owned: boolean, mode: DeadlockMode) {
    this.ask = ask
    this.asker = asker
    this.call = asker.cell.extras?.pending
    this.during = this.call === undefined ? markOf(asker) : undefined
    this.owned = owned
    this.mode = mode
  }
  link(): void {
    const extras = this.asker.cell.ensureExtras()
    const first = extras.asking
    this.next = first
    if (first !== undefined) first.previous = this
    extras.asking = this
  }
  unlink(): void {
    const { previous, next } = this
    const extras = this.asker.cell.extras
    if (previous !== undefined) previous.next = next
    else if (extras !== undefined && extras.asking === this) extras.asking = next
    if (next !== undefined) next.previous = previous
    this.previous = undefined
    this.next = undefined
  }
  /** What came of the question is part of its asker's story, where that is written down. */
  note(ok: boolean, value: unknown): void {
    const { extras, dispatcher } = this.asker.cell
    extras?.flight?.note?.({ what: 'answer', of: this.ask.target.ref, ok, value, at: dispatcher.now })
  }
  /** Whether it keeps the handler that asked waiting: it is still that handler, and the target still has the question. */
  get binds(): boolean {
    const { ask, call } = this
    if (call === undefined || call !== this.asker.cell.extras?.pending || ask.settled) return false
    return ask.opened !== true || inProgress(ask)
  }
}

/** Whether the target is handling the question now. */
export function inProgress(ask: PendingAsk): boolean {
  const ctx = ask.target.ctx
  return ctx !== undefined && ctx.message !== undefined && askedBy(ctx.meta) === ask
}

function bindingFrom(edge: AskEdge | undefined): AskEdge | undefined {
  let at = edge
  while (at !== undefined && !at.binds) at = at.next
  return at
}

/** The first question that keeps this actor's pending handler waiting. */
export function waitsFor(cell: Cell): AskEdge | undefined {
  const extras = cell.extras
  return extras === undefined || extras.pending === undefined || cell.options.reentrant ? undefined : bindingFrom(extras.asking)
}

/** The cycle that an edge from `asker` to `target` closes, beginning with the asker; undefined where there is none. */
export function cycleOf(asker: Cell, target: Cell): Cell[] | undefined {
  if (asker.options.reentrant || target.options.reentrant) return undefined
  if (asker === target) return [asker]
  // Most of those who are asked wait for nobody, and nothing is made to find that out.
  if (waitsFor(target) === undefined) return undefined
  // Whom the target waits for, directly or not, and by whom that was found; those added on the way are looked at too.
  const found = new Map<Cell, Cell | undefined>([[target, undefined]])
  for (const cell of found.keys())
    for (let edge = waitsFor(cell); edge !== undefined; edge = bindingFrom(edge.next)) {
      const next = edge.ask.target
      if (next === asker) return [asker, ...trail(found, cell)]
      if (!found.has(next)) found.set(next, cell)
    }
  return undefined
}

function trail(found: ReadonlyMap<Cell, Cell | undefined>, last: Cell): Cell[] {
  const cells: Cell[] = []
  for (let at: Cell | undefined = last; at !== undefined; at = found.get(at)) cells.unshift(at)
  return cells
}

/** The error of a question that closes a cycle; undefined where it does not, or where only a warning was wanted. */
export function deadlockOf(edge: AskEdge): DeadlockError | undefined {
  if (edge.mode === 'off') return undefined
  const asker = edge.asker.cell
  const cycle = cycleOf(asker, edge.ask.target)
  const { host, ref } = asker
  if (cycle === undefined) {
    host.onWait?.(edge)
    return undefined
  }
  const error = new DeadlockError([...cycle, asker].map((c) => c.ref.path))
  const rejected = edge.mode === 'reject'
  if (host.listening) host.observe({ type: 'deadlock', ref, cycle: error.cycle, rejected, at: host.runtime.now() })
  if (rejected) return error
  host.logger.warn({ actor: ref.path, cycle: error.cycle }, 'a question closes a cycle of waiting actors')
  return undefined
}

/** A handler has become pending: what it asked in its synchronous part keeps it waiting from now on. */
export function checkHeld(first: AskEdge, call: PendingCall): void {
  for (let edge: AskEdge | undefined = first; edge !== undefined; edge = edge.next)
    if (edge.call === undefined && edge.during !== undefined && edge.during === edge.asker.meta) edge.call = call
  for (let edge: AskEdge | undefined = first; edge !== undefined;) {
    const next: AskEdge | undefined = edge.next
    const error = edge.binds ? deadlockOf(edge) : undefined
    if (error !== undefined) edge.ask.fail(error)
    edge = next
  }
}

/** The incarnation has ended: what it asked through its context ends with it, the rest goes on alone. */
export function orphanAsks(cell: Cell): void {
  const extras = cell.extras
  if (extras === undefined) return
  for (let edge = extras.asking; edge !== undefined; edge = extras.asking) {
    edge.unlink()
    if (edge.owned) edge.ask.cancel(`The question of ${cell.ref.path}`, undefined)
  }
}
