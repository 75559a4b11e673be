// What a value has beside its bytes: things that only the platform can copy or move, and where code is found. It goes by a
// port, on which nothing comes that a user has written as data.

import { types } from '../ports/host.ts'

/** Where code is found, and the number that bytes know it by. */
export interface PostedOrigin {
  readonly id: number
  readonly url: string
  readonly name: string
}

/** A freight as it is posted. */
export interface Posted {
  readonly leaves: readonly unknown[]
  readonly origins: readonly PostedOrigin[]
}

export class Freight {
  readonly leaves: unknown[] = []
  readonly origins: PostedOrigin[] = []
  /** What moves: the user's choice, and copies of our own. */
  readonly moved: unknown[] = []
  /** What the user wants to be moved. */
  chosen: readonly unknown[] = []
  #chosen: ReadonlySet<unknown> | undefined = undefined

  take(list: readonly unknown[]): void {
    this.chosen = list
    this.#chosen = new Set(list)
    this.moved.push(...list)
  }
  moves(value: unknown): boolean {
    return this.#chosen !== undefined && this.#chosen.has(value)
  }

  get standing(): readonly [number, number, number] {
    return [this.leaves.length, this.origins.length, this.moved.length]
  }
  truncate([leaves, origins, moved]: readonly [number, number, number]): void {
    this.leaves.length = leaves
    this.origins.length = origins
    this.moved.length = moved
  }
  get posted(): Posted {
    return { leaves: this.leaves, origins: this.origins }
  }
}

/** Bytes that went beside those of the record; both sides count them. */
export function weightOf(leaves: readonly unknown[]): number {
  let bytes = 0
  for (const leaf of leaves) if (types.isArrayBuffer(leaf)) bytes += leaf.byteLength
  return bytes
}
