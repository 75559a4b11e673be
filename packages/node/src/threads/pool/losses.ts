// What lost threads had not told, settled so that the ledger of the whole adds up: each message that went to one and neither
// ended there nor came out again is `unknown`. A loss is settled once every other thread has said what it exchanged with it, and all
// that are open together: what one lost thread sent to another is in the account of both.

import type { LedgerCounts } from '../wire/ledger-shape.ts'
import { Poll } from '../survey/poll.ts'
import type { Thread } from './thread.ts'

/** What one thread exchanged with one that is gone. */
interface Exchanged {
  readonly sent: number
  readonly received: number
}

interface Loss {
  readonly thread: Thread
  /** The question to all others what they sent to it and had from it. */
  poll: number
  /** All that went to it and came from it; undefined until all have said so. */
  exchanged: Exchanged | undefined
}

export class Losses {
  readonly #ledger: LedgerCounts
  readonly #open = new Map<number, Loss>()
  readonly #poll = new Poll<Exchanged>()
  #waiting: (() => void)[] = []
  constructor(ledger: LedgerCounts) {
    this.#ledger = ledger
  }

  /** A thread is gone; this one sent it so many messages, and had so many from it. The others of those `awaited` will say so. */
  begin(thread: Thread, sentTo: number, receivedFrom: number, awaited: Iterable<number>): void {
    const loss: Loss = { thread, poll: 0, exchanged: undefined }
    this.#open.set(thread.epoch, loss)
    loss.poll = this.#poll.begin(awaited, (answers) => {
      let sent = sentTo
      let received = receivedFrom
      for (const said of answers!.values()) {
        sent += said.sent
        received += said.received
      }
      loss.exchanged = { sent, received }
      this.#settle()
    })
  }

  /** A thread says what it exchanged with one that is gone. */
  counted(epoch: number, by: Thread, sent: number, received: number): void {
    by.toGone += sent
    by.fromGone += received
    const loss = this.#open.get(epoch)
    if (loss !== undefined && this.#poll.answered(loss.poll, by.epoch, { sent, received })) return
    // A thread that was started after that loss had heard of it from elsewhere; the loss itself may be long settled.
    this.#ledger.unknown += sent - received
  }

  /** What a thread owed to the losses of others will not come: it is gone as well. */
  gone(epoch: number): void {
    this.#poll.gone(epoch)
  }

  /** What those had shown that are not settled. */
  get unsettled(): Iterable<LedgerCounts> {
    return Array.from(this.#open.values(), ({ thread }) => thread.signs.lastLedger)
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
      this.#open.values(),
      ({ thread, poll }) => `the loss of thread ${thread.epoch} is settled when these have told: ${this.#poll.awaitedFor(poll).join(', ')}`,
    )
  }

  #settle(): void {
    const losses = [...this.#open.values()]
    if (losses.some(({ exchanged }) => exchanged === undefined)) return
    for (const { thread, exchanged } of losses) this.#account(thread, exchanged!)
    this.#open.clear()
    for (const done of this.#waiting.splice(0)) done()
  }
  #account(thread: Thread, { sent, received }: Exchanged): void {
    const theirs = thread.signs.lastLedger
    const ended = theirs.handled + theirs.failed + theirs.unhandled + theirs.dropped + theirs.deadLettered + theirs.unknown
    const ledger = this.#ledger
    ledger.sent += theirs.sent
    ledger.handled += theirs.handled
    ledger.failed += theirs.failed
    ledger.unhandled += theirs.unhandled
    ledger.dropped += theirs.dropped
    ledger.deadLettered += theirs.deadLettered
    ledger.unknown += theirs.unknown + theirs.sent + sent + thread.fromGone - ended - received - thread.toGone
  }
}
