// All channels of one session, one for each other session that lives. A frame counts only for the connection that it was sent on.
//
// A connection is a pair of numbers, `mine` and `yours` in its frames, each chosen by its own side and never used again. Nothing is believed
// because a number is greater or smaller, so no frame of the past, and none that is forged, can keep two sessions apart:
//
//   frame (x, 0) ──►                    x is not known here, and may be of the past: it is not taken
//           ◄── hello (n, x)            names a number of this side, fresh or not paired yet
//   frame (x, n) ──►                    only who has x now knows of n: x and n are a connection from here on
//
// The first frame of a session that nothing was ever taken from needs no hello: nothing can be of the past. A frame that names a connection
// of this side that is over is answered by a reset with that pair, which ends it on the other side. Resets are never answered.

import type { Timing } from '../ports/timing.ts'
import type { Wire } from '../ports/wire.ts'
import { type Session, sessionText } from '../values/session.ts'
import { commonVersion, type Versions } from '../values/versions.ts'
import { PeerChannel, type Closing } from './channel.ts'
import { ackFrame, type Frame, headSize, readFrame, resetFrame } from './frame.ts'
import { defaultLimits, frameLimit, type Limits } from './limits.ts'
import { type ChannelRecord, payloadOverhead } from './record.ts'

export interface ChannelsOptions {
  readonly timing: Timing
  readonly wire: Wire
  readonly versions: Versions
  readonly limits?: Limits
  /** The versions of a session that lives; undefined for one that does not, or is not known yet. */
  readonly versionsOf: (session: Session) => Versions | undefined
  readonly onRecord: (from: Session, record: ChannelRecord) => void
  /** What was not acknowledged may have arrived or not. The next push, or the next frame, begins a new connection. */
  readonly onClosed: (peer: Session, why: Closing, detail: string) => void
  /** A frame came from a session that is not known. It will come again. */
  readonly onStranger?: (from: Session) => void
}

interface Peer {
  readonly session: Session
  readonly version: number
  /** Connections so far. */
  count: number
  /** The number of this side's next connection. */
  next: number
  /** Whether frames of this session were ever taken. */
  met: boolean
  /** The other side's number of the last connection that ended here: frames of it were taken, and must not be again. */
  over: number
  channel: PeerChannel | undefined
}

/** How many of the 32 bits of a number are chance; the others count, so that no two that follow each other are the same. */
const chanceBits = 16

/** What became of frames that were not taken. */
export interface Refusals {
  late: number
  bad: number
  strangers: number
}

export class Channels {
  readonly refused: Refusals = { late: 0, bad: 0, strangers: 0 }
  readonly #options: ChannelsOptions
  readonly #peers = new Map<string, Peer>()

  constructor(options: ChannelsOptions) {
    this.#options = options
  }

  /** Opens the wire for this session. */
  open(self: Session): Promise<void> {
    return this.#options.wire.open(self, (from, bytes) => this.#frame(from, bytes))
  }

  /** How many sessions there are channels for. */
  get size(): number {
    return this.#peers.size
  }

  /** The most bytes that a payload may have on a connection that begins now. */
  get maxPayload(): number {
    const { wire, limits = defaultLimits } = this.#options
    return frameLimit(wire.maxFrame, limits) - headSize - payloadOverhead
  }

  push(to: Session, record: ChannelRecord): 'taken' | 'full' | 'too-large' | 'closed' {
    const peer = this.#peer(to)
    return peer === undefined ? 'closed' : this.#channelOf(peer).push(record)
  }

  /** The channel to a session, if there is one. */
  channel(to: Session): PeerChannel | undefined {
    return this.#peers.get(sessionText(to))?.channel
  }

  /** A session has ended: its channel is closed and forgotten. Its number is never used again, so nothing need be remembered of it. */
  end(session: Session): void {
    const peer = this.#peers.get(sessionText(session))
    if (peer === undefined) return
    this.#peers.delete(sessionText(session))
    peer.channel?.close('ended', 'the session has ended')
  }

  async close(): Promise<void> {
    for (const peer of this.#peers.values()) peer.channel?.close('closed', 'this side was closed')
    this.#peers.clear()
    await this.#options.wire.close()
  }

  #frame(from: Session, bytes: Uint8Array): void {
    const peer = this.#peer(from)
    if (peer === undefined) {
      this.refused.strangers++
      this.#options.onStranger?.(from)
      return
    }
    const frame = readFrame(bytes, this.#options.versions)
    if (frame.kind === 'bad') {
      this.refused.bad++
      peer.channel?.close('bad-frame', frame.why)
    } else this.#sort(peer, frame)
  }

  /** Finds out which connection a frame is of. */
  #sort(peer: Peer, frame: Frame): void {
    const { channel } = peer
    const { mine: theirs, yours: ours } = frame
    if (frame.kind === 'reset') {
      if (channel !== undefined && isResetOf(channel, frame)) channel.close('reset', 'the other side does not know this connection')
      else this.refused.late++
      return
    }
    const named = channel !== undefined && ours === channel.mine
    if (channel !== undefined && theirs === channel.peer && (named || ours === 0)) return channel.take(frame)
    // Its frames were taken by a connection that is over, of which its sender may not have heard.
    if (theirs === peer.over) return this.#reset(peer, frame)
    if (named && channel.peer === 0) return this.#pair(peer, frame)
    if (ours === peer.next && channel?.peer !== 0) {
      channel?.close('reset', 'the other side has begun a new connection')
      return this.#pair(peer, frame)
    }
    if (ours === 0 && !peer.met) return this.#pair(peer, frame)
    if (ours !== 0 && !named) return this.#reset(peer, frame)
    this.refused.late++
    const mine = channel?.peer === 0 ? channel.mine : peer.next
    this.#options.wire.send(peer.session, ackFrame({ version: peer.version, mine, yours: theirs, ack: 0 }, []))
  }

  /** From here on the connection of this side is one with that of the frame. */
  #pair(peer: Peer, frame: Frame): void {
    peer.met = true
    const channel = this.#channelOf(peer)
    channel.pair(frame.mine)
    channel.take(frame)
    // A hello: the other side has taken nothing of what did not name its connection.
    if (frame.yours === channel.mine && frame.ack === 0) channel.sendAgain()
  }

  /** Tells the other side that the connection of a frame is over. */
  #reset(peer: Peer, { mine, yours }: Frame): void {
    this.refused.late++
    this.#options.wire.send(peer.session, resetFrame({ version: peer.version, mine: yours || peer.next, yours: mine, ack: 0 }))
  }

  #peer(session: Session): Peer | undefined {
    const key = sessionText(session)
    const known = this.#peers.get(key)
    if (known !== undefined) return known
    const versions = this.#options.versionsOf(session)
    const version = versions === undefined ? undefined : commonVersion(this.#options.versions, versions)
    if (version === undefined) return undefined
    const peer: Peer = { session, version, count: 0, next: this.#number(1), met: false, over: 0, channel: undefined }
    this.#peers.set(key, peer)
    return peer
  }

  #channelOf(peer: Peer): PeerChannel {
    if (peer.channel !== undefined) return peer.channel
    const { timing, wire, limits = defaultLimits } = this.#options
    const channel = new PeerChannel({
      timing,
      maxFrame: () => wire.maxFrame,
      limits,
      version: peer.version,
      mine: peer.next,
      count: ++peer.count,
      ready: () => wire.connected,
      send: (bytes) => wire.send(peer.session, bytes),
      onRecord: (record) => this.#options.onRecord(peer.session, record),
      onClosed: (why, detail) => {
        if (channel.peer !== 0) peer.over = channel.peer
        peer.channel = undefined
        this.#options.onClosed(peer.session, why, detail)
      },
    })
    peer.channel = channel
    peer.next = this.#number(peer.count + 1)
    return channel
  }

  /** A number for a connection; never 0. */
  #number(count: number): number {
    const chance = 2 ** chanceBits
    return ((count % (chance - 1)) + 1) * chance + Math.floor(this.#options.timing.random() * chance)
  }
}

/** Whether a reset is of this connection: of its pair, or of one half of it where the other was not known yet. */
function isResetOf({ mine, peer }: PeerChannel, reset: Frame): boolean {
  if (reset.yours === mine) return peer === 0 || peer === reset.mine
  return reset.yours === 0 && peer === reset.mine
}
