// What goes beside the bytes of a way: posted when a record is whole, all of it at once, and taken when the reader meets the
// place that says so. Order holds, for the posts of each way are in the order of its records.

import type { Freight, Posted } from '../codec/freight.ts'
import type { Definitions } from '../values/definition.ts'
import { BadRecord } from '../errors.ts'
import type { SidePort } from './line.ts'

/** What one record has beside its place on the way. */
interface Post {
  /** The record itself, where it is too large for the way. */
  readonly record: Uint8Array | undefined
  /** Of its values, in order. */
  readonly freights: readonly Posted[]
}

/** A post that is ready, with what moves with it. */
export interface Ready {
  readonly post: Post
  readonly moved: readonly unknown[]
}

export class FreightPort {
  #port: SidePort | undefined = undefined
  /** What is posted as soon as the way is open. */
  readonly #early: Ready[] = []
  /** What came with the record that is being read, and was not asked for yet. */
  #came: readonly Posted[] = []
  readonly #definitions: Definitions
  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  open(port: SidePort): void {
    this.#port = port
    for (const { post, moved } of this.#early.splice(0)) port.post(post, moved)
  }
  close(): void {
    this.#port?.close()
  }

  /** Throws what the platform says of what cannot be moved, and then nothing was. */
  post(ready: Ready): void {
    // A way that is being opened keeps what it will post.
    if (this.#port === undefined) this.#early.push(held(ready))
    else this.#port.post(ready.post, ready.moved)
  }

  /** A new record begins: what came with the last one is nobody's. */
  begin(): void {
    if (this.#came.length > 0) throw new BadRecord('more came beside the bytes than they say')
  }
  take(): readonly unknown[] {
    if (this.#came.length === 0 && this.#receive().record !== undefined) throw new BadRecord('a large record came where none was said to')
    const [freight, ...rest] = this.#came
    if (!isPosted(freight)) throw new BadRecord('what came beside the bytes is not what they say')
    this.#came = rest
    for (const { id, url, name } of freight.origins) this.#definitions.came(id, url, name)
    return freight.leaves
  }
  takeRecord(): Buffer {
    const { record } = this.#receive()
    if (!(record instanceof Uint8Array) || record.length === 0) throw new BadRecord('a large record did not come')
    return Buffer.from(record.buffer, record.byteOffset, record.length)
  }
  #receive(): Post {
    const came = this.#port?.take() as Post | undefined
    if (came === undefined || !Array.isArray(came.freights)) throw new BadRecord('nothing came beside the bytes')
    this.#came = came.freights
    return came
  }
}

/** Of one or more values. */
export function readyPost(freights: readonly Freight[], record: Uint8Array | undefined): Ready {
  const moved: unknown[] = record === undefined ? [] : [record.buffer]
  for (const freight of freights) moved.push(...freight.moved)
  return { post: { record, freights: freights.map((f) => f.posted) }, moved }
}
/** Copied and moved now: what happens to it until it is posted is not what was sent. */
export function held(ready: Ready): Ready {
  return structuredClone(ready, { transfer: ready.moved as never })
}

function isPosted(freight: Posted | undefined): freight is Posted {
  return (
    freight !== undefined &&
    Array.isArray(freight.leaves) &&
    Array.isArray(freight.origins) &&
    freight.origins.every(({ id, url, name }) => Number.isSafeInteger(id) && typeof url === 'string' && typeof name === 'string')
  )
}
