// What becomes of messages that an actor leaves behind: dead letters, drops, or the mailbox of another.

import { takesMessages } from '../deciders/phase.ts'
import type { Cell } from './cell.ts'
import { Envelope, type Meta } from './envelope.ts'
import { cellOf } from './local-ref.ts'
import { poison, poisonPill } from './poison.ts'
import type { EndInfo } from './phase-info.ts'

/** Empties mailbox and stash of a stopped cell as its options say. */
export function drainMailbox(cell: Cell, end: EndInfo): void {
  if (cell.extras?.stash === undefined && cell.queuedMessages === 0) return
  const { host } = cell.dispatcher
  const { drain } = cell.options
  const target = typeof drain === 'object' ? redirectOf(cell) : undefined
  // The cell has left the tree: what it still holds is counted here until it is placed.
  host.leaving += (cell.extras?.stash?.size ?? 0) + cell.queuedMessages
  const leave = (message: unknown, meta: Meta): void => {
    host.leaving--
    if (meta === poison) return host.drop(message, meta, 'drain')
    host.undelivered++
    if (drain === 'dead-letter') host.bury(message, meta, cell.ref, host.phase === 'open' ? 'stopped' : 'system-closed', end.cause)
    else if (drain === 'drop') host.drop(message, meta, 'drain')
    else if (target === undefined) host.bury(message, meta, cell.ref, 'redirect-cycle', end.cause)
    else {
      if (meta instanceof Envelope) meta.moved(target)
      target.put(message, meta)
    }
  }
  for (const [message, meta] of cell.extras?.stash?.takeAll() ?? []) leave(message, meta)
  for (let message = cell.take(); message !== undefined; message = cell.take()) leave(message, cell.dispatcher.takenMeta)
}

/** The first living actor along the redirects; undefined where they lead nowhere or back. */
function redirectOf(cell: Cell): Cell | undefined {
  const seen = new Set<Cell>([cell])
  let at: Cell = cell
  for (;;) {
    const drain = at.options.drain
    const next = typeof drain === 'object' ? cellOf(drain.redirect) : undefined
    if (next === undefined || seen.has(next)) return undefined
    if (takesMessages(next.phase)) return next
    seen.add(next)
    at = next
  }
}

/** Drops what is queued: for actors that want to restart with an empty mailbox. Whoever asked for a stop still gets it. */
export function clearMailbox(cell: Cell): void {
  const { host } = cell.dispatcher
  let pills = 0
  for (let message = cell.take(); message !== undefined; message = cell.take()) {
    if (cell.dispatcher.takenMeta === poison) pills++
    else host.drop(message, cell.dispatcher.takenMeta, 'restart')
  }
  for (; pills > 0; pills--) cell.put(poisonPill, poison)
}
