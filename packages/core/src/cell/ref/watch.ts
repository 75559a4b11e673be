// Who hears of whose end. A watch is kept on both sides by ref, so that an old life of a name is never mistaken for a
// new one; the watcher's side decides at delivery, which is what lets `unwatch` silence a Terminated already queued.

import { NotAllowed } from '../../values/errors.ts'
import type { AnyRef } from '../../values/ref.ts'
import type { TerminationReason, Terminated } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { Envelope } from '../message/envelope.ts'
import type { Extras } from '../turn/extras.ts'
import { cellIn, cellOf } from './local-ref.ts'

export class Watch extends Envelope {
  /** What to deliver instead of Terminated; undefined for a plain watch. */
  declare readonly message: unknown
  declare deathPact: boolean
  declare readonly ref: AnyRef
  /** The watched actor has ended, and the news is queued. */
  ended = false
  constructor(ref: AnyRef, message: unknown, deathPact: boolean) {
    super()
    this.ref = ref
    this.message = message
    this.deathPact = deathPact
  }
  /** Opens a `watchWith` message, unless the watch was given up meanwhile. */
  override open(cell: Cell, message: unknown): unknown {
    const watching = cell.extras?.watching
    if (watching?.get(this.ref) !== this) {
      cell.host.drop(message, this, 'unwatched')
      return undefined
    }
    watching.delete(this.ref)
    return message
  }
  override onward(): undefined {}
  override get own(): boolean {
    return true
  }
}

/** Begins to watch; idempotent, but the two ways of being told do not mix, and the last message given is the one delivered. */
export function watch(cell: Cell, ref: AnyRef, message: unknown, deathPact: boolean): void {
  const target = cellIn(cell.host, ref, 'watch')
  if (target === cell) throw new NotAllowed(`${ref.path} cannot watch itself. Handle PostStop instead.`)
  cell.host.tap?.watched(cell, ref)
  const watching = (cell.ensureExtras().watching ??= new Map())
  const present = watching.get(ref)
  if (present !== undefined) {
    if ((present.message === undefined) !== (message === undefined))
      throw new NotAllowed(`${cell.ref.path} already watches ${ref.path} the other way. Call unwatch before mixing watch and watchWith.`)
    // Watching again changes nothing, unless it asks for more. Another message takes the place of the first.
    if (deathPact) present.deathPact = true
    if (present.message === message) return
  }
  const entry = new Watch(ref, message, deathPact)
  watching.set(ref, entry)
  const end = target.phase === 'terminated' ? target.end : undefined
  if (end === undefined) (target.ensureExtras().watchers ??= new Set()).add(cell)
  else tellOf(cell, ref, end.reason, end.cause)
}

export function unwatch(cell: Cell, ref: AnyRef): void {
  cell.host.tap?.unwatched(cell, ref)
  if (cell.extras?.watching?.delete(ref) !== true) return
  cellOf(ref)?.extras?.watchers?.delete(cell)
}

/** Gives up all watches of a cell that ends. */
export function clearWatches(cell: Cell): void {
  const watching = cell.extras?.watching
  if (watching === undefined) return
  for (const ref of watching.keys()) cellOf(ref)?.extras?.watchers?.delete(cell)
  watching.clear()
}

/** Tells those who watch this cell, at most `most` of them, that it has ended. */
export function tellWatchers(cell: Cell, extras: Extras, reason: TerminationReason, cause: unknown, most: number): void {
  const watchers = extras.watchers
  if (watchers === undefined) return
  let left = most
  for (const watcher of watchers) {
    if (left-- <= 0) return
    watchers.delete(watcher)
    tellOf(watcher, cell.ref, reason, cause)
  }
  extras.watchers = undefined
}

function tellOf(watcher: Cell, ref: AnyRef, reason: TerminationReason, cause: unknown): void {
  const entry = watcher.extras?.watching?.get(ref)
  if (entry === undefined || entry.ended) return
  entry.ended = true
  if (entry.message !== undefined) watcher.send(entry.message, entry)
  else watcher.signal(cause === undefined ? { type: 'Terminated', ref, reason } : ({ type: 'Terminated', ref, reason, cause } satisfies Terminated))
}
