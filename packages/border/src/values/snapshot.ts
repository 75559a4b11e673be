// A value as it is at this moment, for what cannot go over at once: a copy as the other side would have it, in which refs are
// the refs they were. Messages that wait for their actor are kept so, and arguments until they are sent.

import { weightOf } from '../codec/freight.ts'
import { Reader } from '../codec/reader.ts'
import { tag } from '../codec/tags.ts'
import { refusal } from '../codec/trouble.ts'
import { Writer } from '../codec/writer.ts'
import { isRef } from './is-ref.ts'
import { passTransfer, takeTransfer } from './transfer.ts'

class Copier {
  readonly #writer: Writer
  readonly #reader: Reader
  #refs: object[] = []
  #leaves: readonly unknown[] = []

  constructor() {
    this.#writer = new Writer(4096, {
      write: (writer, value) => {
        if (!isRef(value)) return false
        writer.byte(tag.ref)
        writer.whole(this.#refs.push(value) - 1)
        return true
      },
    })
    this.#reader = new Reader({ readRef: (reader) => this.#refs[reader.whole()], readFreight: () => this.#leaves })
  }

  get busy(): boolean {
    return this.#writer.busy
  }

  copy(value: unknown): Copied {
    const writer = this.#writer
    const list = takeTransfer(value)
    let moved: readonly unknown[] | undefined
    const start = writer.begin()
    try {
      writer.transfer = list
      writer.value(value)
      const [freight] = writer.freights
      let size = writer.position - start
      if (freight !== undefined) {
        const { leaves, chosen } = freight
        size += weightOf(leaves)
        const copied = structuredClone({ leaves, chosen }, { transfer: freight.moved as never })
        this.#leaves = copied.leaves
        moved = list === undefined ? undefined : copied.chosen
      }
      this.#reader.begin(writer.buffer, writer.position)
      writer.commit()
      const copy = this.#reader.value()
      passTransfer(moved, copy)
      return { copy, size }
    } catch (cause) {
      writer.rollback(start)
      throw cause
    } finally {
      writer.empty()
      this.#refs = []
      this.#leaves = []
    }
  }
}

/** A copy, and how many bytes it took to write it. */
interface Copied {
  readonly copy: unknown
  readonly size: number
}

const shared = new Copier()

/** Throws `NotTransferable` for what could not go over either. */
export function snapshot(value: unknown, subject?: string, before?: readonly (string | number)[]): unknown {
  return measured(value, subject, before).copy
}

/** The same, with the bytes that it takes on a way. */
export function measured(value: unknown, subject?: string, before?: readonly (string | number)[]): Copied {
  if (typeof value === 'string') return { copy: value, size: value.length * 2 }
  if (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol') return { copy: value, size: 8 }
  try {
    // A getter may want one while one is made.
    return (shared.busy ? new Copier() : shared).copy(value)
  } catch (cause) {
    throw refusal(cause, before, subject)
  }
}
