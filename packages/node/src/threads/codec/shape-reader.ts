// Reads the objects of one shape. One that is met often gets code of its own, which gives its objects one hidden class, for
// which handlers thank with speed; not before, for code costs more than bytes.

import { absent, define } from './absent.ts'
import type { Reader } from './reader.ts'
import { worthCode } from './tags.ts'

type Read = (reader: Reader) => Record<string, unknown>

export class ShapeReader {
  readonly keys: readonly string[]
  #read: Read | undefined = undefined
  #uses = 0
  constructor(keys: readonly string[]) {
    this.keys = keys
  }

  read(reader: Reader): unknown {
    const made = this.#read === undefined ? this.#slowly(reader) : this.#read(reader)
    if (reader.holes !== 0) dropHoles(reader, made)
    return made
  }
  #slowly(reader: Reader): Record<string, unknown> {
    if (++this.#uses === worthCode) this.#read = compiled(this.keys)
    const made: Record<string, unknown> = {}
    for (const key of this.keys) define(made, key, reader.item())
    return made
  }
}

function dropHoles(reader: Reader, made: Record<string, unknown>): void {
  for (const key of Object.keys(made)) {
    if (made[key] !== absent) continue
    delete made[key]
    reader.holes--
  }
}

function compiled(keys: readonly string[]): Read | undefined {
  // Of two fields of one name the hole of the first would be lost; only bytes that nobody wrote have such.
  if (new Set(keys).size < keys.length) return undefined
  try {
    const fields = keys.map((key) => `${key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)}: reader.item()`)
    // oxlint-disable-next-line typescript/no-implied-eval -- from keys only, each quoted
    return new Function('reader', `return { ${fields.join(', ')} }`) as Read
  } catch {
    return undefined
  }
}
