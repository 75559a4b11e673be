// What waits to leave an actor, in order, each with the number that memory had when the command was done that sent it.

import { Cell, Envelope, fuse, type Meta, PendingAsk } from '@troupe/core/internal'

/** A message to a cell, an answer to a question, or an act. */
export class Leaving {
  /** 0 until its command is done. */
  seq = 0
  readonly target: Cell | PendingAsk | (() => void)
  readonly message: unknown
  readonly meta: Meta
  /** What it came of, while messages are followed: a commit lets go of what many actors sent, in the name of one of them. */
  readonly cause: unknown = fuse.sampler?.cause?.()
  constructor(target: Leaving['target'], message: unknown, meta: Meta) {
    this.target = target
    this.message = message
    this.meta = meta
  }
}

export class Held {
  #all: Leaving[] = []
  #released = 0
  /** Where the outputs of the present command begin. */
  #from = 0

  /** How many were ever added that are not forgotten. */
  get size(): number {
    return this.#all.length
  }
  /** A command begins. */
  begin(): void {
    this.#from = this.#all.length
  }
  add(target: Leaving['target'], message: unknown, meta: Meta): void {
    this.#all.push(new Leaving(target, message, meta))
  }

  /** Stamps what the command sent, and lets go of what is durable. Whether nothing is left. */
  release(seq: number, durable: number, cell: Cell): boolean {
    const all = this.#all
    for (let i = Math.max(this.#from, this.#released); i < all.length; i++) if (all[i]!.seq === 0) all[i]!.seq = seq
    this.#from = all.length
    while (this.#released < all.length && all[this.#released]!.seq <= durable) {
      const leaving = all[this.#released]!
      all[this.#released++] = undefined as never
      const { sampler } = fuse
      if (sampler?.causedBy === undefined) leave(leaving, cell)
      else sampler.causedBy(leaving.cause, () => leave(leaving, cell))
    }
    if (this.#released === all.length) return true
    if (this.#released > 1024 && this.#released * 2 > all.length) {
      this.#all = all.slice(this.#released)
      this.#from -= this.#released
      this.#released = 0
    }
    return false
  }

  /** Takes back what the present command sent. */
  dropPresent(): readonly Leaving[] {
    return this.#all.splice(Math.max(this.#from, this.#released))
  }
  dropAll(): readonly Leaving[] {
    return this.#all.splice(this.#released)
  }
}

function leave({ target, message, meta }: Leaving, cell: Cell): void {
  if (target instanceof Cell) target.send(message, meta)
  else if (target instanceof PendingAsk) target.tell(message)
  else act(cell, target)
}

function act(cell: Cell, what: () => void): void {
  try {
    what()
  } catch (cause) {
    cell.host.logger.error({ actor: cell.ref.path, cause }, 'what was to be done once all is durable failed')
  }
}

/** Whoever waits for an answer that was held learns that there will be none. */
export function refuse(dropped: readonly Leaving[], cause: unknown): void {
  for (const { target, meta } of dropped) {
    if (target instanceof PendingAsk) target.fail(cause)
    if (meta instanceof Envelope) meta.end('failed', cause)
  }
}
