// Catches state shared through messages: what is sent is frozen, so that a later write throws where it happens, or
// cloned, so that it cannot be seen by the other side. Refs, functions and class instances stay what they are.

import { Cell, type Meta } from '@troupe/core/internal'
import { isPlain } from './compare.ts'

/** What becomes of a message on its way: shared as it is, frozen, or cloned. */
export type MessageGuard = 'share' | 'freeze' | 'clone'

/** Freezes records and arrays, all the way down. */
export function freezeDeep(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (!Array.isArray(value) && !isPlain(value)) return value
  Object.freeze(value)
  for (const key of Object.keys(value)) freezeDeep((value as Record<string, unknown>)[key])
  return value
}

/** Copies records, arrays, maps, sets and dates, all the way down; cycles and shared parts keep their shape. */
export function cloneDeep(value: unknown, seen: Map<object, unknown> = new Map()): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  if (value instanceof Date) return new Date(value)
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    seen.set(value, copy)
    for (const item of value) copy.push(cloneDeep(item, seen))
    return copy
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>()
    seen.set(value, copy)
    for (const [k, v] of value) copy.set(cloneDeep(k, seen), cloneDeep(v, seen))
    return copy
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>()
    seen.set(value, copy)
    for (const v of value) copy.add(cloneDeep(v, seen))
    return copy
  }
  if (!isPlain(value)) return value
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>
  seen.set(value, copy)
  for (const [k, v] of Object.entries(value)) copy[k] = cloneDeep(v, seen)
  return copy
}

/** A cell whose mailbox freezes what it is sent. */
export class FreezingCell extends Cell {
  override send(message: unknown, meta: Meta): void {
    super.send(freezeDeep(message), meta)
  }
}

/** A cell whose mailbox takes copies. */
export class CloningCell extends Cell {
  override send(message: unknown, meta: Meta): void {
    super.send(cloneDeep(message), meta)
  }
}
