// What travels beside a message when there is more to say than its sender. A mailbox slot's meta is `undefined`, a
// sender's ref, or one of these; plain tells allocate none.

import type { AnyRef, Headers } from '../../values/ref.ts'
import type { PendingAsk } from '../ask/ask.ts'
import type { Cell } from '../turn/cell.ts'

export abstract class Envelope {
  // Only declared: what has none of these, as questions and timers do, should not pay for three empty fields.
  declare readonly sender: AnyRef | undefined
  declare readonly headers: Headers | undefined
  declare readonly priority: number | undefined
  /** Who is answered when the message names nobody. */
  from(): AnyRef | undefined {
    return this.sender
  }
  /** Until when whoever asked waits; Infinity where nobody does. */
  get deadline(): number {
    return Infinity
  }
  /** What the handler is to see, or undefined when the message must not reach it; then it was accounted for here. */
  open(_cell: Cell, message: unknown): unknown {
    return message
  }
  /** The message ended otherwise than by being handled; an ask learns here that no answer will come. */
  end(_reason: 'failed' | 'unhandled' | 'refused' | 'stopped', _cause: unknown): void {}
  /** What goes along when the opened message is stashed or forwarded: it must not be opened a second time. */
  onward(): Meta {
    return this
  }
  /** The question that this message is, if it is one. */
  asked(): PendingAsk | undefined {
    return undefined
  }
  /** Whether the actor's own code made the message for itself, so that no schema need guard it. */
  get own(): boolean {
    return false
  }
  /** Whether what the message asked for was done without it: left in the mailbox of an actor that stopped, it is no dead letter. */
  get obsolete(): boolean {
    return false
  }
  /** The message went on to another cell's mailbox. */
  moved(_to: Cell): void {}
}

/** What the sender said beside the message. */
export class Told extends Envelope {
  override readonly sender: AnyRef | undefined
  override readonly headers: Headers | undefined
  override readonly priority: number | undefined
  constructor(sender: AnyRef | undefined, headers: Headers | undefined, priority: number | undefined) {
    super()
    this.sender = sender
    this.headers = headers
    this.priority = priority
  }
}

export type Meta = Envelope | AnyRef | undefined

export function senderOf(meta: Meta): AnyRef | undefined {
  return meta instanceof Envelope ? meta.from() : meta
}

export function onwardOf(meta: Meta): Meta {
  return meta instanceof Envelope ? meta.onward() : meta
}

/** The question that is answered with this meta in hand, if any. */
export function askedBy(meta: Meta): PendingAsk | undefined {
  return meta instanceof Envelope ? meta.asked() : undefined
}

export function headersOf(meta: Meta): Headers | undefined {
  return meta instanceof Envelope ? meta.headers : undefined
}
