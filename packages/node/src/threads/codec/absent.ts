// Fields that were there when an object began to be written and not when it was their turn.

/** In place of a field that is not there. */
export const absent: unique symbol = Symbol('absent')

/** Gives an object a field, whatever it is called. */
export function define(target: object, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else (target as Record<string, unknown>)[key] = value
}
