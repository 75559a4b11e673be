// What to say about a value that cannot go over.

import type { Writer } from './writer.ts'

/** Thrown while writing: this value must go by structured clone. */
export const needsPort: unique symbol = Symbol('needs a port')

/** Where in a value that could not be written the trouble is; looked for only then, by trying its parts. */
export function troubleIn(writer: Writer, value: unknown): (string | number)[] {
  if (typeof value !== 'object' || value === null) return []
  const parts: Iterable<readonly [string | number, unknown]> =
    value instanceof Map
      ? [...value].flatMap(
          ([k, v]) =>
            [
              ['(key)', k],
              [`(${safeString(k)})`, v],
            ] as const,
        )
      : value instanceof Set
        ? [...value].map((v) => ['(item)', v] as const)
        : Array.isArray(value)
          ? value.entries()
          : Object.entries(value)
  for (const [key, part] of parts) {
    try {
      writer.attempt(() => {
        writer.value(part)
        throw fine
      })
    } catch (cause) {
      if (cause !== fine && cause !== needsPort) return [key, ...troubleIn(writer, part)]
    }
  }
  return []
}
const fine = Symbol('written, and taken back')

export function safeString(value: unknown): string {
  try {
    return String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
