// Reads the objects of one shape. One that is met often gets code of its own, which gives its objects one hidden class, for
// which handlers thank with speed; not before, for code costs more than bytes.

import { define } from './define.ts'
import type { Reader } from './reader.ts'
import { worthCode } from './tags.ts'

type Read = (reader: Reader) => Record<string, unknown>

export class ShapeReader {
  readonly keys: readonly string[]
  /** Code of its own, if it is worth that. */
  code: Read | undefined = undefined
  #uses = 0
  constructor(keys: readonly string[]) {
    this.keys = keys
  }

  read(reader: Reader): unknown {
    return this.code === undefined ? this.#slowly(reader) : this.code(reader)
  }
  #slowly(reader: Reader): Record<string, unknown> {
    if (++this.#uses === worthCode) this.code = compiled(this.keys)
    const made: Record<string, unknown> = {}
    for (const key of this.keys) define(made, key, reader.item())
    return made
  }
}

function compiled(keys: readonly string[]): Read | undefined {
  try {
    const fields = keys.map((key) => `${key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)}: reader.item()`)
    // oxlint-disable-next-line typescript/no-implied-eval -- from keys only, each quoted
    return new Function('reader', `return { ${fields.join(', ')} }`) as Read
  } catch {
    return undefined
  }
}
