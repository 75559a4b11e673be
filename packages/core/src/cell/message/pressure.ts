// When a mailbox fills up and when it has emptied again, as observations. Mailboxes chosen at spawn notice the very
// message; the default one is looked at between the stretches of a turn and after it, because nothing may be added to a message's way.

import type { Cell } from '../turn/cell.ts'

/** The marks of the default mailbox. */
export const highWater = 10_000
const lowWater = 5000

/** Looks at the default mailbox; there is no time for it at every message. */
export function notePressure(cell: Cell, depth: number): void {
  const extras = cell.ensureExtras()
  if (!extras.pressed && depth >= highWater) {
    extras.pressed = true
    observePressure(cell, 'high', depth)
  } else if (extras.pressed && depth <= lowWater) {
    extras.pressed = false
    observePressure(cell, 'low', depth)
  }
}

/** Tells whoever listens. */
export function observePressure(cell: Cell, level: 'high' | 'low', depth: number): void {
  const { host } = cell
  if (host.listening) host.observe({ type: 'mailbox.pressure', ref: cell.ref, level, depth, at: host.runtime.now() })
}
