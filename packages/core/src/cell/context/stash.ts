// Messages put aside by an actor, with their meta. Belongs to the cell, so that it survives a restart; drained like
// the mailbox on stop. Putting the present message aside moves it: it is not in progress any more, and not resent.

import { MessageRing } from '../../queues/ring.ts'
import { checkMessage } from '../../values/checks.ts'
import { NotAllowed, StashOverflow } from '../../values/errors.ts'
import { isSignal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import type { Context } from './context.ts'
import { checkEntered } from '../message/entering.ts'
import { type Meta, onwardOf } from '../message/envelope.ts'

/** Refuses what cannot come back as a message; the one in progress can, whatever it looks like. */
export function checkStashed(path: string, message: unknown, present: unknown): void {
  checkMessage(message)
  if (message !== present && isSignal(message))
    throw new NotAllowed(`${path} cannot stash the signal ${message.type}: only messages come back from the stash. Put a message of your own aside.`)
}

export class CellStash {
  readonly #cell: Cell
  readonly #ring = new MessageRing()
  constructor(cell: Cell) {
    this.#cell = cell
  }
  get size(): number {
    return this.#ring.size
  }
  add(ctx: Context, message: unknown): void {
    const { options, dispatcher, ref } = this.#cell
    const present = ctx.message === message
    if (present) checkEntered(ctx, 'stash')
    const { stashCapacity: capacity } = options
    if (this.#ring.size >= capacity) {
      const { host } = dispatcher
      if (host.listening) host.observe({ type: 'stash.overflow', ref, capacity, at: host.runtime.now() })
      if (options.stashOverflow === 'error') throw new StashOverflow(ref.path, capacity)
      const oldest = this.#ring.shift()
      host.drop(oldest, this.#ring.meta as Meta, 'stash-overflow')
    }
    dispatcher.host.tap?.stashed(this.#cell, message, present)
    this.#ring.push(message, present ? onwardOf(ctx.meta) : undefined)
    if (present) ctx.move()
    else dispatcher.ledger.sent++
  }
  /** Moves everything to the front of the mailbox, oldest first. */
  unstashAll(): void {
    const messages = this.#takeAll()
    if (messages.length > 0) this.#cell.putBack(messages)
  }
  clear(): void {
    for (const [message, meta] of this.#takeAll()) this.#cell.host.drop(message, meta, 'stash-cleared')
  }
  /** Takes the oldest; its meta is then in `takenMeta`. */
  take(): unknown {
    return this.#ring.shift()
  }
  get takenMeta(): Meta {
    return this.#ring.meta as Meta
  }
  #takeAll(): (readonly [unknown, Meta])[] {
    const messages: (readonly [unknown, Meta])[] = []
    for (let m = this.take(); m !== undefined; m = this.take()) messages.push([m, this.takenMeta])
    return messages
  }
}
