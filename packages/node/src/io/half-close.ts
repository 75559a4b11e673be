// The peer of a connection has ended its side: when this side may follow. That is once the owner has dealt with all that came,
// `half-closed` included; before, answers to it are under way. Who ends the side, and how, is left to the link.
//
//   told ─→ half-closed was handled ─→ heard ─→ every chunk was handled, or acknowledged ─→ asked

import { afterwards, type Cell } from '@troupe/core/internal'

export class HalfClose {
  readonly #follow: () => void
  #phase: 'told' | 'heard' | 'asked' = 'told'
  constructor(follow: () => void) {
    this.#follow = follow
  }
  /** The owner has dealt with it, or does not want to know. */
  heard(unhandled: number, taker: Cell | undefined): void {
    if (this.#phase !== 'told') return
    this.#phase = 'heard'
    this.look(unhandled, taker)
  }
  /** `unhandled` chunks are still with the owner; `taker` took the last of the others, and may be at work on it. */
  look(unhandled: number, taker: Cell | undefined): void {
    if (this.#phase !== 'heard' || unhandled > 0) return
    this.#phase = 'asked'
    if (taker === undefined) this.#follow()
    else afterwards(taker, this.#follow)
  }
}

/** To a connection actor: its owner has dealt with the peer's end. It comes behind what the owner has told it to write. */
export class Follow {
  readonly type = 'follow'
  readonly halfClose: HalfClose
  constructor(halfClose: HalfClose) {
    this.halfClose = halfClose
  }
}
