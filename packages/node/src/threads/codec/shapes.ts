// The shapes of objects that a writer has met: a tree by their keys, in order, so that finding one costs a comparison per
// key. Objects used as maps have a new shape each; the tree does not grow with them.

import { mostKeys } from './tags.ts'
import type { Writer } from './writer.ts'

export interface ShapeNode {
  id: number
  readonly keys: readonly string[]
  write: ((writer: Writer, value: never) => void) | undefined
  nextKey: string | undefined
  nextNode: ShapeNode | undefined
  others: Map<string, ShapeNode> | undefined
}

export function makeNode(keys: readonly string[]): ShapeNode {
  return { id: -1, keys, write: undefined, nextKey: undefined, nextNode: undefined, others: undefined }
}

export function nodeAfter(node: ShapeNode, key: string): ShapeNode {
  let next = node.others?.get(key)
  if (next === undefined) {
    next = makeNode([...node.keys, key])
    // Objects used as maps have a new shape each: the tree of shapes must not grow with them.
    if (node.keys.length < mostKeys && (node.others === undefined || node.others.size < 256)) (node.others ??= new Map()).set(key, next)
    if (node.nextKey !== undefined) return next
    node.nextKey = key
    node.nextNode = next
  } else {
    // What is met again is likely to be met again.
    node.nextKey = key
    node.nextNode = next
  }
  return next
}

/** Code made for one shape reads each field where it is; without leave to make code, by name. */
export function shapeWriter(keys: readonly string[]): (writer: Writer, value: never) => void {
  try {
    const lines = keys.map((key) => `writer.value(value[${JSON.stringify(key)}])`)
    // oxlint-disable-next-line typescript/no-implied-eval -- from keys only, each quoted
    return new Function('writer', 'value', lines.join('\n')) as (writer: Writer, value: never) => void
  } catch {
    return (writer, value) => {
      for (const key of keys) writer.value(value[key])
    }
  }
}
