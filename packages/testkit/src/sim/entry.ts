// One message, from its sending to its end, as the simulator's own account has it; and how many of them count towards the
// bound of a mailbox.

import { Envelope, type Meta, poison } from '@troupe/core/internal'
import type { SimCell } from './sim-cell.ts'

export class Entry {
  readonly id: number
  message: unknown
  readonly meta: Meta
  readonly type: string
  to: SimCell
  /** Came back from the stash, with this: in front of all, and not counted towards a bound. */
  fronted = false
  carried: Meta = undefined
  /** The incarnation of its receiver when it was sent. */
  readonly sentIn: number
  state: 'under way' | 'queued' | 'taken' | 'running' | 'stashed' | 'ended' = 'under way'
  /** Its handler's context. */
  ctx: unknown = undefined
  /** What its handler's promise came to, and how the cell waits for it. */
  outcome: { readonly ok: boolean; readonly value: unknown } | undefined = undefined
  call: { readonly state: string } | undefined = undefined
  constructor(id: number, message: unknown, meta: Meta, type: string, to: SimCell) {
    this.id = id
    this.message = message
    this.meta = meta
    this.type = type
    this.to = to
    this.sentIn = to.incarnation
  }
}

/** The most that a bounded mailbox may hold. */
export function mostOf(cell: SimCell): number {
  const { capacity = Infinity, overflow } = cell.options.mailbox ?? {}
  return typeof overflow === 'object' ? Math.floor(capacity * overflow.maxFactor) : capacity
}

/** How much of what waits counts towards the bound. */
export function heldBy(cell: SimCell): number {
  let held = 0
  for (const entry of cell.waiting) if (!entry.fronted && entry.meta !== poison) held++
  return held
}

/** Whether nothing is left to be done about a message: a pill whose actor has stopped, or what was done without it. */
export function isObsolete(meta: Meta): boolean {
  return meta === poison || (meta instanceof Envelope && meta.obsolete)
}
