// Numbers as people read them.

/** 34, 2,410, 257 k, 1.4 M. */
export function count(n: number): string {
  if (n < 10_000) return Math.round(n).toLocaleString('en-US')
  return n < 1_000_000 ? `${Math.round(n / 1000)} k` : `${(n / 1_000_000).toFixed(1)} M`
}

/** 4 µs, 12 ms, 11 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`
  if (ms < 1000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

export function times(n: number, what: string, many = `${what}s`): string {
  return `${count(n)} ${n === 1 ? what : many}`
}

/** A cause with its numbers starred, so that failures of one sort are one. */
export function sortOf(cause: string): string {
  return cause.replaceAll(/\d+/g, '*')
}

/** In lists by what each is, in the order in which they came. */
export function grouped<T>(all: Iterable<T>, by: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const key = by(one)
    const list = groups.get(key)
    if (list === undefined) groups.set(key, [one])
    else list.push(one)
  }
  return groups
}
