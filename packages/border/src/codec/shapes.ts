// The shapes of objects that a writer has met: a tree by their keys, in order, so that finding one costs a comparison per
// key. Objects used as maps have a new shape each; the tree does not grow with them. A shape that is met often gets code of
// its own, which reads each field where it is; without leave to make code, fields are read by name.

import { longestKeys, mostKeys, worthCode } from './tags.ts'
import { troubleAt } from './trouble.ts'
import type { Writer } from './writer.ts'

type WriteFields = (writer: Writer, value: never) => void

export class ShapeNode {
  /** −1 until the other side knows it. */
  id = -1
  readonly keys: readonly string[]
  /** Whether the other side may be told of it: neither too many keys nor too long ones. */
  readonly small: boolean
  nextKey: string | undefined = undefined
  nextNode: ShapeNode | undefined = undefined
  #others: Map<string, ShapeNode> | undefined = undefined
  /** Code of its own, if it is worth that. */
  code: WriteFields | undefined = undefined
  #uses = 0
  readonly #length: number

  constructor(keys: readonly string[], length: number) {
    this.keys = keys
    this.#length = length
    this.small = keys.length <= mostKeys && length <= longestKeys
  }

  after(key: string): ShapeNode {
    let next = this.#others?.get(key)
    if (next === undefined) {
      next = new ShapeNode([...this.keys, key], this.#length + key.length)
      // Objects used as maps have a new shape each: the tree of shapes must not grow with them.
      if (next.small && (this.#others === undefined || this.#others.size < 256)) (this.#others ??= new Map()).set(key, next)
      if (this.nextKey !== undefined || !next.small) return next
    }
    // What is met again is likely to be met again.
    this.nextKey = key
    this.nextNode = next
    return next
  }

  write(writer: Writer, value: never): void {
    if (this.code !== undefined) return this.code(writer, value)
    if (++this.#uses === worthCode) this.code = compiled(this.keys)
    writeFields(writer, value, this.keys)
  }
}

function writeFields(writer: Writer, value: never, keys: readonly string[]): void {
  let at = 0
  try {
    for (; at < keys.length; at++) writer.field(value, keys[at]!)
  } catch (cause) {
    throw troubleAt(cause, keys[at]!)
  }
}

function compiled(keys: readonly string[]): WriteFields {
  try {
    const lines = keys.map((key, i) => {
      const quoted = JSON.stringify(key)
      // Without a field of its own an object has one all the same.
      if (key === '__proto__') return `at = ${i}; writer.field(value, ${quoted})`
      return `at = ${i}; item = value[${quoted}]; if (item === undefined) writer.nothing(value, ${quoted}); else writer.item(item)`
    })
    const body = `return (writer, value) => { let at = 0, item; try { ${lines.join('\n')} } catch (cause) { throw troubleAt(cause, keys[at]) } }`
    // oxlint-disable-next-line typescript/no-implied-eval -- from keys only, each quoted
    return new Function('keys', 'troubleAt', body)(keys, troubleAt) as WriteFields
  } catch {
    return (writer, value) => writeFields(writer, value, keys)
  }
}
