// What persistent actors tell each other, as plain data, for where it goes by another machine: deliveries, acknowledgements, timers that are due. Whom to
// acknowledge to is not said: that actor may have moved when it is, and is found again by its id.

import { Acked, Delivered } from './delivery.ts'
import { Fired } from './timers.ts'

export type Packed = readonly [is: 'delivered' | 'acked' | 'fired', key: string, other: string, n: number, message?: unknown]

/** Undefined for what is no word of ours. */
export function pack(message: unknown): Packed | undefined {
  if (message instanceof Delivered) return ['delivered', message.key, message.from, message.n, message.message]
  if (message instanceof Acked) return ['acked', message.key, message.by, message.n]
  if (message instanceof Fired) return ['fired', message.key, message.timer, message.due]
  return undefined
}

/** What was packed; `current` says what a message that was delivered is now. Undefined for what nobody packs. */
export function unpack(packed: unknown, current: (message: unknown) => unknown): Delivered | Acked | Fired | undefined {
  if (!Array.isArray(packed)) return undefined
  const [is, key, other, n, message] = packed as unknown[]
  if (typeof key !== 'string' || typeof other !== 'string' || typeof n !== 'number' || !Number.isFinite(n)) return undefined
  if (is === 'acked') return new Acked(key, other, n)
  if (is === 'fired') return new Fired(key, other, n)
  if (is !== 'delivered' || message === undefined) return undefined
  const now = current(message)
  return now === undefined ? undefined : new Delivered(key, other, n, now, undefined)
}
