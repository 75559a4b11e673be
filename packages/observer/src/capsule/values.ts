// Values of a message as they are kept: text from the moment they are handled, so that a handler that changes its message changes nothing here.
// Actors become their paths. What cannot be kept is left out, and said.

import { stringify, unflatten } from 'devalue'

/** A value as it stands in a file: what devalue makes of it, read by `decodeValue`. */
export type Encoded = unknown

/** What stands in a file, and what of it is not as it was. */
export interface Kept {
  readonly text: string
  readonly missing: readonly string[]
}

interface Named {
  readonly name?: unknown
  readonly message?: unknown
  readonly stack?: unknown
  readonly code?: unknown
}

const plain = new Set<unknown>([null, Object.prototype, Array.prototype])
/** What devalue keeps as it is. */
const known =
  /^(?:Object|Array|Map|Set|Date|RegExp|Number|String|Boolean|BigInt|URL|URLSearchParams|ArrayBuffer|\w*(?:Int|Uint|Float)\d+(?:Clamped)?Array|DataView)$/

/** As it is now. Never throws: what cannot be read at all is nothing, and that is said. */
export function keep(value: unknown): Kept {
  const missing = new Set<string>()
  try {
    return { text: stringify(value, reducersFor(missing)), missing: [...missing] }
  } catch (cause) {
    return { text: stringify(undefined), missing: [`a value that cannot be copied (${cause instanceof Error ? cause.message : 'it throws'})`] }
  }
}

function reducersFor(missing: Set<string>): Record<string, (value: unknown) => unknown> {
  return {
    Ref: (value) => refPath(value, missing),
    Left: (value) => {
      if (typeof value !== 'function' && typeof value !== 'symbol') return undefined
      missing.add(`a ${typeof value} in a message`)
      return typeof value
    },
    Error: (value) => {
      if (!(value instanceof Error)) return undefined
      const { name, message, stack, code } = value as Named
      return [String(name), String(message), String(stack), typeof code === 'string' ? code : '']
    },
    Instance: (value) => {
      if (typeof value !== 'object' || plain.has(value) || value === null) return undefined
      const prototype = Object.getPrototypeOf(value) as { readonly constructor?: { readonly name?: unknown } } | null
      if (plain.has(prototype)) return undefined
      const name = String(prototype?.constructor?.name)
      if (known.test(name)) return undefined
      missing.add(`the class of an instance of ${name}, which is plain data in the replay`)
      return [name, { ...value }]
    },
  }
}

/** Whatever can be told something and has a path is an actor, or stands for one. */
function refPath(value: unknown, missing: Set<string>): string | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  const { tell, path } = value as { readonly tell?: unknown; readonly path?: unknown }
  if (typeof path !== 'string' || typeof tell !== 'function') return undefined
  if (Object.keys(tell).length > 0) missing.add(`the methods of the handle of ${path}`)
  return path
}

/**
 * A value of a capsule as it was; `refOf` says who stands for the actor of a path.
 *
 * @example
 * const message = decodeValue(entry.value, (path) => inboxOf(path).ref)
 */
export function decodeValue(encoded: Encoded, refOf: (path: string) => unknown): unknown {
  return unflatten(encoded as number | unknown[], {
    Ref: (path: string) => refOf(path),
    Left: () => undefined,
    Error: (parts: readonly string[]) => errorFrom(parts),
    Instance: ([, data]: readonly [string, object]) => data,
  })
}

/** An error that is called and says what that one did. */
export function errorFrom([name = 'Error', message = '', stack = '', code = '']: readonly string[]): Error {
  const error = new Error(message)
  Object.defineProperty(error, 'name', { value: name, configurable: true })
  Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true })
  return code === '' ? error : Object.assign(error, { code })
}
