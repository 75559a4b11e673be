// Messages put aside by an actor, with their meta. Belongs to the cell, so that it survives a restart; drained like
// the mailbox on stop. Putting the present message aside moves it: it is not in progress any more, and not resent.

import type { FrontableQueue } from '../../queues/own-kind.ts'
import { MessageRing } from '../../queues/ring.ts'
import { checkMessage } from '../../values/checks.ts'
import { NotAllowed, StashOverflow } from '../../values/errors.ts'
import type { MailboxQueue, WaitingOffer } from '../../values/mailbox.ts'
import { isSignal } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import type { Context } from './context.ts'
import { checkEntered } from '../message/entering.ts'
import { askedBy, type Meta, onwardOf } from '../message/envelope.ts'

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
    if (present) {
      // The asker still waits, as for a question in the mailbox.
      const ask = askedBy(ctx.meta)
      if (ask !== undefined) ask.opened = 'stashed'
      ctx.move()
    } else dispatcher.ledger.sent++
  }
  /** Moves the oldest, at most `most`, to the front of the mailbox, behind those that were moved before and have not been handled. */
  unstash(most: number): void {
    const messages = takeFrom(this.#ring, most)
    if (messages.length === 0) return
    const cell = this.#cell
    const moved = this.#takeMoved()
    cell.putBack(messages, moved)
    cell.queue = new UnstashedQueue(cell, cell.queue!, moved.length + messages.length)
  }
  clear(): void {
    for (const [message, meta] of [...this.#takeMoved(), ...takeFrom(this.#ring, Infinity)]) this.#cell.host.drop(message, meta, 'stash-cleared')
  }
  /** Takes what was moved to the mailbox, and is still there. */
  #takeMoved(): Stashed[] {
    const { queue } = this.#cell
    return queue instanceof UnstashedQueue ? queue.takeMoved() : []
  }
  /** Takes the oldest; its meta is then in `takenMeta`. */
  take(): unknown {
    return this.#ring.shift()
  }
  get takenMeta(): Meta {
    return this.#ring.meta as Meta
  }
}

type Stashed = readonly [message: unknown, meta: Meta]

function takeFrom(queue: MailboxQueue, most: number): Stashed[] {
  const messages: Stashed[] = []
  while (messages.length < most) {
    const message = queue.shift()
    if (message === undefined) break
    messages.push([message, queue.meta as Meta])
  }
  return messages
}

/** Stands before the mailbox as long as messages that came back from the stash are at its front, and knows how many. */
class UnstashedQueue implements FrontableQueue {
  meta: unknown
  readonly #cell: Cell
  readonly #inner: FrontableQueue
  #moved: number
  constructor(cell: Cell, inner: FrontableQueue, moved: number) {
    this.#cell = cell
    this.#inner = inner
    this.#moved = moved
  }
  get size(): number {
    return this.#inner.size
  }
  push(message: unknown, meta: unknown): void {
    this.#inner.push(message, meta)
  }
  shift(): unknown {
    const message = this.#inner.shift()
    this.meta = this.#inner.meta
    if (message !== undefined && --this.#moved === 0) this.#cell.queue = this.#inner
    return message
  }
  unshift(message: unknown, meta: unknown): void {
    this.#inner.unshift(message, meta)
  }
  takeMoved(): Stashed[] {
    this.#cell.queue = this.#inner
    return takeFrom(this.#inner, this.#moved)
  }
  hasRoom(): boolean {
    return this.#inner.hasRoom?.() ?? true
  }
  wait(offer: WaitingOffer): void {
    this.#inner.wait?.(offer)
  }
  endWaits(cause: Error): void {
    this.#inner.endWaits?.(cause)
  }
}
