// Where a message to an actor that takes no more is refused: it becomes a dead letter, with the reason. Whoever sent it is not told; an
// ask hears of it by its envelope, which the burial ends.

import type { Cell } from '../turn/cell.ts'
import type { Meta } from './envelope.ts'

/** Buries a message that its actor cannot take: it is none, the actor has stopped, or all of the system has. */
export function refuse(cell: Cell, message: unknown, meta: Meta): void {
  const { host } = cell.dispatcher
  const reason = message === undefined ? 'undefined-message' : host.phase === 'open' ? 'stopped' : 'system-closed'
  host.bury(message, meta, cell.ref, reason, cell.end?.cause)
}
