// One connection between two sessions: exactly once and in order, whatever the wire does, as long as both ends last. Frames are numbered,
// acknowledged, and sent again until they are. It ends when it is closed, when the other end has begun anew, or at a bad frame; what was
// not acknowledged then is not known to have arrived, and is never sent again.
//
//   push ─► Outbox ─► Sender ══ wire ══► Receiver ─► onRecord
//
// Which frames belong to this connection is decided by Channels; here they are taken as its own.

import type { Timing } from '../ports/timing.ts'
import { ackFrame, type Frame, type Head, numberIn, rangesIn, resetFrame, writeHead, yoursIn } from './frame.ts'
import { frameLimit, type Limits } from './limits.ts'
import { Outbox } from './outbox.ts'
import { Receiver } from './receiver.ts'
import { type ChannelRecord, recordsIn } from './record.ts'
import { Sender } from './sender.ts'

/** How long an acknowledgement may wait for a frame that carries it along. */
const ackDelay = 5
/** How long to wait when the wire takes nothing. */
const retryDelay = 50

/** A channel as it stands: one connection between this node and another. */
export interface ChannelReport {
  /** Counts the connections of this node to that session. */
  readonly connection: number
  /** Bytes that were sent and not acknowledged, with what keeping them costs. */
  readonly underWay: number
  /** Bytes that wait for room behind them. */
  readonly queued: number
  /** Bytes that have arrived here ahead of others, and wait for those. */
  readonly held: number
  /** Frames that were sent, each counted once. */
  readonly frames: number
  /** How often one of them was sent again. */
  readonly resent: number
  /** Milliseconds until a frame is acknowledged, smoothed; undefined before the first was. */
  readonly roundTrip: number | undefined
}

/** Why a channel ended. */
export type Closing = 'bad-frame' | 'reset' | 'ended' | 'closed'

export interface ChannelOptions {
  readonly timing: Timing
  /** The most bytes that the wire takes now; frames of this connection are at most as large as it said first. */
  readonly maxFrame: () => number
  readonly limits: Limits
  /** The version that both sides speak. */
  readonly version: number
  /** The number of this side. */
  readonly mine: number
  /** Counts the connections of this side to that peer. */
  readonly count: number
  /** Whether the wire takes anything. */
  readonly ready: () => boolean
  readonly send: (bytes: Uint8Array) => boolean
  /** Payloads are views of bytes that are the wire's: what is kept is copied. */
  readonly onRecord: (record: ChannelRecord) => void
  readonly onClosed: (why: Closing, detail: string) => void
}

export class PeerChannel {
  readonly #options: ChannelOptions
  readonly #outbox: Outbox
  readonly #sender: Sender
  readonly #receiver: Receiver
  #peer = 0
  #open = true
  #flushing = false
  /** Bytes that arrived since the last acknowledgement went out; undefined where none is owed. */
  #owed: number | undefined
  #ackTimer: { readonly soon: boolean; readonly cancel: () => void } | undefined
  #againTimer: { readonly at: number; readonly cancel: () => void } | undefined
  /** The wire did not take what it was given. */
  #blocked = false

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#outbox = new Outbox(options.limits.queue, frameLimit(options.maxFrame(), options.limits))
    this.#sender = new Sender(options.limits.window)
    this.#receiver = new Receiver(options.limits.window)
  }

  get mine(): number {
    return this.#options.mine
  }

  /** The number of the other side; 0 until it is known. */
  get peer(): number {
    return this.#peer
  }

  /** What is under way and what waits, in bytes with what keeping them costs; what is held until others arrive. */
  get costs(): { readonly underWay: number; readonly queued: number; readonly held: number } {
    return { underWay: this.#sender.cost, queued: this.#outbox.cost, held: this.#receiver.cost }
  }

  /** The same, with what it took so far. */
  get report(): ChannelReport {
    const { next, resent, roundTrip } = this.#sender
    return { connection: this.#options.count, ...this.costs, frames: next - 1, resent, roundTrip }
  }

  /** Whether all that was pushed has been acknowledged. */
  get settled(): boolean {
    return this.#outbox.empty && this.#sender.underWay === 0
  }

  /** Takes a record to be sent, or says why not. What is pushed in one turn goes out together. */
  push(record: ChannelRecord): 'taken' | 'full' | 'too-large' | 'closed' {
    if (!this.#open) return 'closed'
    const taken = this.#outbox.push(record)
    if (taken === 'taken' && !this.#flushing) {
      this.#flushing = true
      this.#options.timing.wake(() => {
        this.#flushing = false
        this.#flush()
      })
    }
    return taken
  }

  /** The number of the other side is known; it never changes. */
  pair(peer: number): void {
    this.#peer = peer
  }

  /** Sends everything under way again, at once. */
  sendAgain(): void {
    this.#again(this.#sender.all(this.#options.timing.now()))
  }

  /** A frame of this connection: data or an acknowledgement. */
  take(frame: Frame): void {
    if (!this.#open) return
    // Not meant for this connection unless it says so: the sender may not have heard of it.
    if (frame.yours === this.mine && !this.#acknowledged(frame)) return
    if (frame.kind === 'data') this.#data(frame)
    this.#flush()
  }

  /** Ends it: nothing is sent or taken after that. */
  close(why: Closing, detail: string): void {
    if (!this.#open) return
    this.#open = false
    if (why === 'bad-frame') this.#options.send(resetFrame(this.#head()))
    this.#outbox.clear()
    this.#sender.clear()
    this.#receiver.clear()
    this.#ackTimer?.cancel()
    this.#againTimer?.cancel()
    this.#options.onClosed(why, detail)
  }

  /** Takes an acknowledgement; false where it is nonsense. */
  #acknowledged(frame: Frame): boolean {
    const ranges = frame.kind === 'ack' ? rangesIn(frame.body) : []
    const result = this.#sender.acknowledged(frame.ack, ranges, this.#options.timing.now())
    if (typeof result === 'string') {
      this.close('bad-frame', result)
      return false
    }
    this.#again(result.again)
    return true
  }

  #data(frame: Frame): void {
    const size = frame.body.length
    const arrival = this.#receiver.arrived(frame.number, frame.body, size)
    if (typeof arrival === 'string') {
      // Something is missing, or an acknowledgement was lost: the other side should hear of it.
      this.#owe(Number.POSITIVE_INFINITY)
      return
    }
    this.#owe(this.#receiver.hasGaps || arrival.length > 1 ? Number.POSITIVE_INFINITY : size)
    for (const body of arrival)
      for (const record of recordsIn(body)) {
        // Whoever takes a record may close the channel.
        if (!this.#open) return
        this.#options.onRecord(record)
      }
  }

  #flush(): void {
    const { timing } = this.#options
    while (this.#open && !this.#outbox.empty && this.#sender.takes(this.#outbox.nextSize)) {
      const frame = this.#outbox.next()!
      writeHead(frame, 'data', this.#head(), this.#sender.next)
      this.#sender.send(frame, timing.now())
      this.#transmit(frame)
      // It carries the acknowledgement; gaps only an ack tells of.
      if (!this.#receiver.hasGaps) this.#paid()
    }
    this.#arm()
  }

  #again(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#transmit(this.#paired(frame))
    this.#arm()
  }

  /** A frame as it is sent again: as it was, for an older acknowledgement says nothing wrong, but with the number of the other side. */
  #paired(frame: Uint8Array): Uint8Array {
    if (yoursIn(frame) === this.#peer) return frame
    // A copy: the wire may still have the bytes.
    const copy = frame.slice()
    writeHead(copy, 'data', this.#head(), numberIn(frame))
    return copy
  }

  #transmit(frame: Uint8Array): void {
    if (!this.#open || this.#options.send(frame)) return
    const { maxFrame } = this.#options
    // The wire has moved to a server with a smaller limit: this frame can never go, and nothing behind it.
    if (frame.length > maxFrame())
      return this.close('bad-frame', `the wire takes frames of at most ${maxFrame()} bytes now, and one of ${frame.length} bytes is under way`)
    this.#blocked = true
  }

  /** Sets the timer for what is sent again. It is left alone where it fires early enough: it looks again then. */
  #arm(): void {
    if (!this.#open) return
    const { timing } = this.#options
    const at = this.#blocked ? timing.now() + retryDelay : this.#sender.deadline
    if (at === Number.POSITIVE_INFINITY || (this.#againTimer !== undefined && this.#againTimer.at <= at)) return
    this.#againTimer?.cancel()
    const cancel = timing.timer(Math.max(0, at - timing.now()), () => this.#look())
    this.#againTimer = { at, cancel }
  }

  #look(): void {
    const { timing, ready } = this.#options
    this.#againTimer = undefined
    // Where the wire takes nothing, waiting is no sign of a slow way.
    this.#blocked = !ready()
    if (!this.#blocked) for (const frame of this.#sender.overdue(timing.now())) this.#transmit(this.#paired(frame))
    if (this.#sender.underWay > 0) this.#arm()
  }

  /** An acknowledgement of so many bytes is owed; when it is of many, or something is amiss, it goes out at the end of this turn. */
  #owe(bytes: number): void {
    this.#owed = (this.#owed ?? 0) + bytes
    const soon = this.#owed >= this.#options.limits.window / 8
    if (this.#ackTimer !== undefined && (this.#ackTimer.soon || !soon)) return
    this.#ackTimer?.cancel()
    let cancelled = false
    const pay = (): void => {
      if (!cancelled && this.#open) this.#options.send(ackFrame(this.#head(), this.#receiver.ranges()))
      if (!cancelled) this.#paid()
    }
    let cancel: (() => void) | undefined
    if (soon) this.#options.timing.wake(pay)
    else cancel = this.#options.timing.timer(ackDelay, pay)
    this.#ackTimer = {
      soon,
      cancel: () => {
        cancelled = true
        cancel?.()
      },
    }
  }

  #paid(): void {
    this.#owed = undefined
    this.#ackTimer?.cancel()
    this.#ackTimer = undefined
  }

  #head(): Head {
    return { version: this.#options.version, mine: this.mine, yours: this.#peer, ack: this.#receiver.ack }
  }
}
