// Messages that go by structured clone: refs in them are replaced by tokens on the way out and made again on the way
// in. Only what may hold a ref is walked: plain objects, arrays, maps and sets; cycles are kept.

import type { Channel } from './channel.ts'
import type { RefTable } from './ref-table.ts'

const token = '\u0000troupe-ref'

/** A copy with tokens for refs; the value itself where it holds none. */
export function toClone(channel: Channel, refs: RefTable, value: unknown): unknown {
  return walk(value, new Map(), (item) => {
    const made = refs.token(channel, item)
    return made === undefined ? undefined : { [token]: made }
  })
}

export function fromClone(channel: Channel, refs: RefTable, value: unknown): unknown {
  return walk(value, new Map(), (item) =>
    Object.hasOwn(item, token) ? refs.fromToken(channel, (item as Record<string, unknown>)[token] as never) : undefined,
  )
}

function walk(value: unknown, seen: Map<object, unknown>, swap: (item: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = seen.get(value)
  if (known !== undefined) return known
  const swapped = swap(value)
  if (swapped !== undefined) return swapped
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    seen.set(value, copy)
    for (const item of value) copy.push(walk(item, seen, swap))
    return copy
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>()
    seen.set(value, copy)
    for (const [key, item] of value) copy.set(walk(key, seen, swap), walk(item, seen, swap))
    return copy
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>()
    seen.set(value, copy)
    for (const item of value) copy.add(walk(item, seen, swap))
    return copy
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  seen.set(value, copy)
  for (const [key, item] of Object.entries(value))
    Object.defineProperty(copy, key, { value: walk(item, seen, swap), enumerable: true, configurable: true, writable: true })
  return copy
}
