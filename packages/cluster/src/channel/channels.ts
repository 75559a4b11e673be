// All channels of one session, one for each other session that lives. It tells frames of connections that are over from those of today:
// a frame counts only for the connection that it was sent on.
//
// A connection is known by the number of each side, `mine` and `yours` in its frames, which only grow. What comes with a number of the past
// is refused and answered by a reset, so that a side which still believes in that connection begins anew; a greater number of the other
// side ends the own connection. Resets are never answered.

import type { Timing } from '../ports/timing.ts'
import type { Wire } from '../ports/wire.ts'
import { type Session, sessionText } from '../values/session.ts'
import { commonVersion, type Versions } from '../values/versions.ts'
import { PeerChannel, type Closing } from './channel.ts'
import { type Frame, headSize, readFrame, resetFrame } from './frame.ts'
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
  /** Connections of the other side below this are over. */
  floor: number
  channel: PeerChannel | undefined
}

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
    if (frame.kind === 'reset') {
      if (channel !== undefined && frame.yours === channel.mine) channel.take(frame)
      else this.refused.late++
      return
    }
    if (frame.yours > peer.count) {
      this.refused.bad++
      channel?.close('bad-frame', 'it names a connection that never was')
      return
    }
    if (channel !== undefined && channel.peer !== 0 && frame.mine > channel.peer) {
      peer.floor = frame.mine
      channel.close('reset', 'the other side has begun a new connection')
    }
    const current = peer.channel?.mine ?? peer.count + 1
    if (frame.mine < peer.floor || (frame.yours !== 0 && frame.yours !== current)) {
      this.refused.late++
      this.#options.wire.send(peer.session, resetFrame({ version: peer.version, mine: current, yours: frame.mine, ack: 0 }))
      return
    }
    // A frame of an earlier connection that was overtaken would be taken for one of this.
    peer.floor = frame.mine
    this.#channelOf(peer).take(frame)
  }

  #peer(session: Session): Peer | undefined {
    const key = sessionText(session)
    const known = this.#peers.get(key)
    if (known !== undefined) return known
    const versions = this.#options.versionsOf(session)
    const version = versions === undefined ? undefined : commonVersion(this.#options.versions, versions)
    if (version === undefined) return undefined
    const peer: Peer = { session, version, count: 0, floor: 1, channel: undefined }
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
      mine: ++peer.count,
      ready: () => wire.connected,
      send: (bytes) => wire.send(peer.session, bytes),
      onRecord: (record) => this.#options.onRecord(peer.session, record),
      onClosed: (why, detail) => {
        peer.floor = Math.max(peer.floor, channel.peer + 1)
        peer.channel = undefined
        this.#options.onClosed(peer.session, why, detail)
      },
    })
    peer.channel = channel
    return channel
  }
}
