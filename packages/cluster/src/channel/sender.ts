// One direction of a channel, the near end: frames that are under way and not acknowledged, when they are sent again, and how many may be.
// It knows no clock and no wire: it is told the time, and says what to send.

import { costOf } from './limits.ts'
import { RoundTrip } from './round-trip.ts'

interface Sent {
  readonly number: number
  readonly bytes: Uint8Array
  sentAt: number
  tries: number
  /** It arrived, ahead of another. */
  arrived: boolean
}

/** What an acknowledgement led to; as a text, what is wrong with it. */
export type Acknowledged = string | { readonly again: readonly Uint8Array[] }

export class Sender {
  readonly #window: number
  readonly #roundTrip = new RoundTrip()
  /** By number, without gaps. */
  readonly #sent: Sent[] = []
  #next = 1
  #cost = 0
  #resent = 0
  /** When the first of them is sent again if nothing is heard. */
  #deadline = Number.POSITIVE_INFINITY

  constructor(window: number) {
    this.#window = window
  }

  /** Bytes under way, as they count against the window. */
  get cost(): number {
    return this.#cost
  }

  get underWay(): number {
    return this.#sent.length
  }

  /** How many frames went out again. */
  get resent(): number {
    return this.#resent
  }

  /** How long an answer takes; undefined before the first. */
  get roundTrip(): number | undefined {
    return this.#roundTrip.mean
  }

  get deadline(): number {
    return this.#deadline
  }

  /** Whether a frame of this size may be sent now. */
  takes(size: number): boolean {
    return this.#cost + costOf(size) <= this.#window
  }

  /** The number of the next frame. */
  get next(): number {
    return this.#next
  }

  /** The frame with the number `next` goes out. */
  send(bytes: Uint8Array, now: number): void {
    this.#sent.push({ number: this.#next++, bytes, sentAt: now, tries: 1, arrived: false })
    this.#cost += costOf(bytes.length)
    if (this.#sent.length === 1) this.#deadline = now + this.#roundTrip.patience
  }

  /** The other end has everything up to `ack`, and these ranges beyond it. */
  acknowledged(ack: number, ranges: readonly (readonly [number, number])[], now: number): Acknowledged {
    const last = this.#next - 1
    if (ack > last || ranges.some(([, end]) => end > last)) return 'it acknowledges what was never sent'
    const base = this.#next - this.#sent.length
    // Who has the first that is not acknowledged, and all before it, acknowledges it with them. So one before it is missing there, whoever
    // has said otherwise; it is not sent again, and nothing behind it would ever be taken.
    if (ranges.some(([first, end]) => first <= base && base <= end)) return 'the other side lacks what was acknowledged in its name'
    let latest = Number.NEGATIVE_INFINITY
    const note = (sent: Sent): void => {
      if (sent.arrived) return
      sent.arrived = true
      latest = Math.max(latest, sent.sentAt)
      // Which of several tries was answered is not known.
      if (sent.tries === 1) this.#roundTrip.sample(now - sent.sentAt)
    }
    for (let number = base; number <= ack; number++) {
      const sent = this.#sent[number - base]!
      note(sent)
      this.#cost -= costOf(sent.bytes.length)
    }
    for (const [from, to] of ranges) for (let number = Math.max(from, base); number <= to; number++) note(this.#sent[number - base]!)
    if (ack >= base) this.#sent.splice(0, ack - base + 1)
    if (latest === Number.NEGATIVE_INFINITY) return { again: [] }
    this.#roundTrip.progress()
    this.#deadline = this.#sent.length === 0 ? Number.POSITIVE_INFINITY : now + this.#roundTrip.patience
    return { again: this.#overtaken(latest, now) }
  }

  /** What is sent again because nothing was heard in time. */
  overdue(now: number): readonly Uint8Array[] {
    if (now < this.#deadline) return []
    this.#roundTrip.missed()
    this.#deadline = now + this.#roundTrip.patience
    return this.#again((sent) => !sent.arrived, now)
  }

  /** What is sent again because the other side has taken none of it. */
  all(now: number): readonly Uint8Array[] {
    if (this.#sent.length > 0) this.#deadline = now + this.#roundTrip.patience
    return this.#again((sent) => !sent.arrived, now)
  }

  clear(): void {
    this.#sent.length = 0
    this.#cost = 0
    this.#deadline = Number.POSITIVE_INFINITY
  }

  /** What was sent well before something that has arrived is lost. */
  #overtaken(latest: number, now: number): readonly Uint8Array[] {
    const limit = latest - this.#roundTrip.tolerance
    return this.#again((sent) => !sent.arrived && sent.sentAt < limit, now)
  }

  #again(which: (sent: Sent) => boolean, now: number): readonly Uint8Array[] {
    const again: Uint8Array[] = []
    for (const sent of this.#sent) {
      if (!which(sent)) continue
      sent.sentAt = now
      sent.tries++
      this.#resent++
      again.push(sent.bytes)
    }
    return again
  }
}
