// How all actors are, in a byte each: for a picture in which each is one cell. A hundred thousand take a byte or two for the number and one
// for the state at first, and then only those that changed are told.

import { BadFrame, ByteReader, ByteWriter } from './bytes.ts'

/** The worst that can be said of an actor; a higher number is worse. */
export const states = ['idle', 'busy', 'behind', 'trouble'] as const

/** Those whose state changed, and those that have ended; or all of them. */
export interface Cells {
  readonly whole: boolean
  /** Rising. */
  readonly gone: readonly number[]
  /** Rising; `state` has one number for each. */
  readonly uids: readonly number[]
  readonly state: Uint8Array
}

export function encodeCells(cells: Cells): Uint8Array<ArrayBuffer> {
  const to = new ByteWriter()
  to.byte(cells.whole ? 1 : 0)
  to.rising(cells.gone)
  to.rising(cells.uids)
  to.bytes(cells.state)
  return to.written
}

/** Throws `BadFrame` at what nobody has encoded. */
export function decodeCells(bytes: Uint8Array): Cells {
  const from = new ByteReader(bytes)
  const flag = from.byte()
  const gone = from.rising()
  const uids = from.rising()
  const state = from.bytes(uids.length)
  if (flag > 1 || from.left > 0 || state.some((value) => value >= states.length)) throw new BadFrame('These are no cells.')
  return { whole: flag === 1, gone, uids, state }
}

/** What a page knows of all cells: whole at first, then changed. */
export class CellField {
  readonly #states = new Map<number, number>()
  take(cells: Cells): void {
    if (cells.whole) this.#states.clear()
    for (const uid of cells.gone) this.#states.delete(uid)
    for (let i = 0; i < cells.uids.length; i++) this.#states.set(cells.uids[i]!, cells.state[i]!)
  }
  get size(): number {
    return this.#states.size
  }
  /** In the order of their numbers, which is that of their birth on each thread. */
  sorted(): { readonly uids: readonly number[]; readonly state: Uint8Array } {
    const uids = [...this.#states.keys()].sort((a, b) => a - b)
    return { uids, state: Uint8Array.from(uids, (uid) => this.#states.get(uid)!) }
  }
}
