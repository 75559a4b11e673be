// When two messages are the same, and how they are shown. Structural, with the platform's classes; refs are compared by
// identity, because two refs of one path may be two lives.

/** Structural equality: own keys of plain objects, arrays, maps, sets, dates and errors; identity for all else. */
export function equal(a: unknown, b: unknown): boolean {
  try {
    return same(a, b, new Map())
  } catch {
    // What throws when it is looked at is equal to itself alone.
    return false
  }
}

function same(a: unknown, b: unknown, seen: Map<object, object>): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  // A cycle that was entered with the same partner is equal as far as it goes.
  if (seen.get(a) === b) return true
  seen.set(a, b)
  if (a instanceof Date) return a.getTime() === (b as Date).getTime()
  if (a instanceof Map)
    return (
      a.size === (b as Map<unknown, unknown>).size &&
      [...a].every(([k, v]) => (b as Map<unknown, unknown>).has(k) && same(v, (b as Map<unknown, unknown>).get(k), seen))
    )
  if (a instanceof Set)
    return (
      a.size === (b as Set<unknown>).size && [...a].every((v) => (b as Set<unknown>).has(v) || [...(b as Set<unknown>)].some((w) => same(v, w, seen)))
    )
  if (a instanceof Error) return a.message === (b as Error).message && a.name === (b as Error).name
  if (!isPlain(a) && !Array.isArray(a)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((k) => Object.hasOwn(b, k) && same((a as Record<string, unknown>)[k], (b as Record<string, unknown>)[k], seen))
}

/** Whether an object is a bare record: made by a literal, `Object.create(null)` or a parser. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A message in one line, for errors. Never throws: cycles, bigints and refs have a form of their own. */
export function show(value: unknown): string {
  try {
    return look(value)
  } catch {
    return 'something unreadable'
  }
}

function look(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  const open = new Set<unknown>()
  const replace = function (this: unknown, _key: string, v: unknown): unknown {
    if (typeof v === 'bigint') return `${v}n`
    if (typeof v === 'function') return '(function)'
    if (v instanceof Error) return `${v.name}: ${v.message}`
    if (v instanceof Map || v instanceof Set) return [...v]
    if (typeof v !== 'object' || v === null) return v
    if (typeof (v as { tell?: unknown }).tell === 'function') return `→${String((v as { path?: unknown }).path)}`
    if (open.has(v)) return '(again)'
    open.add(v)
    return v
  }
  return JSON.stringify(value, replace) ?? 'nothing that JSON knows'
}
