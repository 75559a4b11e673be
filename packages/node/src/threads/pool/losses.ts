// What lost threads had not told, settled so that the ledger of the whole adds up: each message that went to one and neither
// ended there nor came out again is `unknown`. A loss is settled once every other thread has said what it exchanged with it.

import type { Ledger } from '../wire/ledger-shape.ts'
import type { Thread } from './thread.ts'

interface Loss {
  readonly thread: Thread
  /** Threads that have not said yet what they sent to it and had from it. */
  readonly awaited: Set<number>
  sentTo: number
  receivedFrom: number
}

export class Losses {
  readonly #ledger: Ledger
  readonly #open = new Set<Loss>()
  #waiting: (() => void)[] = []
  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** A thread is gone; this one sent it so many messages, and had so many from it. */
  begin(thread: Thread, sentTo: number, receivedFrom: number, awaited: Set<number>): void {
    const loss: Loss = { thread, awaited, sentTo, receivedFrom }
    this.#open.add(loss)
    this.#settle(loss)
  }

  /** A thread says what it exchanged with one that is gone. */
  counted(epoch: number, by: Thread, sent: number, received: number): void {
    by.toGone += sent
    by.fromGone += received
    for (const loss of this.#open) {
      if (loss.thread.epoch !== epoch || !loss.awaited.delete(by.epoch)) continue
      loss.sentTo += sent
      loss.receivedFrom += received
      return this.#settle(loss)
    }
    // A thread that was started after that loss had heard of it from elsewhere; the loss itself may be long settled.
    this.#ledger.unknown += sent - received
  }

  /** What a thread owed to the losses of others will not come: it is gone as well. */
  gone(epoch: number): void {
    for (const loss of this.#open) if (loss.awaited.delete(epoch)) this.#settle(loss)
  }

  /** What those had shown that are not settled. */
  get unsettled(): Iterable<Ledger> {
    return Array.from(this.#open, ({ thread }) => thread.signs.lastLedger)
  }
  get settled(): boolean {
    return this.#open.size === 0
  }
  whenSettled(): Promise<void> {
    return this.settled ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
  /** What is waited for, in words. */
  get waits(): readonly string[] {
    return Array.from(
      this.#open,
      ({ thread, awaited }) => `the loss of thread ${thread.epoch} is settled when these have told: ${[...awaited].join(', ')}`,
    )
  }

  #settle(loss: Loss): void {
    if (loss.awaited.size > 0) return
    this.#open.delete(loss)
    const { thread } = loss
    const theirs = thread.signs.lastLedger
    const ended = theirs.handled + theirs.failed + theirs.unhandled + theirs.dropped + theirs.deadLettered + theirs.unknown
    const ledger = this.#ledger
    ledger.sent += theirs.sent
    ledger.handled += theirs.handled
    ledger.failed += theirs.failed
    ledger.unhandled += theirs.unhandled
    ledger.dropped += theirs.dropped
    ledger.deadLettered += theirs.deadLettered
    ledger.unknown += theirs.unknown + theirs.sent + loss.sentTo + thread.fromGone - ended - loss.receivedFrom - thread.toGone
    if (this.settled) for (const done of this.#waiting.splice(0)) done()
  }
}
