// This node's end of the border with all others: an Exchange whose places are sessions. Ways are opened to those that live, by whoever has
// something to say first; a session that ends is lost, with all its actors; a connection that breaks between two that live is begun anew.

import { type Crossing, Exchange, type Loop, type OtherRefs } from '@troupe/border'
import type { SystemCore } from '@troupe/core/internal'
import type { Channels } from '../channel/channels.ts'
import { ConnectionLost, NodeLost } from '../values/errors.ts'
import { readSessionText, type Session, sessionText } from '../values/session.ts'
import { Flows } from '../ledger/flows.ts'
import { Exports } from './exports.ts'
import { NodeLine } from './node-line.ts'
import { goneBy, here, Places } from './places.ts'
import { WayNames } from './way-names.ts'

/** What may wait for one node in refs of its actors, beside the window of the channel. */
const mostWaiting = 63 * 1_048_576
/** Why the last sessions ended is known for so many of them. */
const lossesKept = 256

export interface NodeBorderOptions {
  readonly core: SystemCore
  readonly self: Session
  readonly channels: Channels
  /** How large a message may be. */
  readonly maxMessageBytes: number
  readonly otherRefs?: OtherRefs
  /** Whether a session is a member. */
  readonly isMember: (session: Session) => boolean
  /** A session is named that nobody here has heard of: it may have ended, or only begun. */
  readonly onUnknown: (session: Session) => void
}

export class NodeBorder {
  readonly exchange: Exchange
  readonly places: Places
  readonly exports: Exports = new Exports()
  readonly flows: Flows
  readonly #options: NodeBorderOptions
  /** What each way is called by, from when it is wanted; its line from when it is open. */
  readonly #names = new Map<number, WayNames>()
  readonly #lines = new Map<number, NodeLine>()
  readonly #losses: number[] = []
  /** Sessions that ended last: whoever names one of them names nobody. */
  readonly #over = new Set<string>()
  #isClosed = false
  readonly #onWay: ((crossing: Crossing) => void)[] = []

  constructor(options: NodeBorderOptions) {
    const { core, self } = options
    this.#options = options
    this.places = new Places(self)
    this.exchange = new Exchange({
      epoch: here,
      core,
      loop: loopOf(core),
      bell: new StillBell(),
      spin: 0,
      connect: (peer) => this.#open(peer),
      place: () => Promise.reject(new Error('Actors are not placed on other nodes')),
      broken: (peer, cause) => this.#broken(peer, cause),
      names: (peer) => this.#namesOf(peer),
      numbers: this.exports,
      makeUid: () => core.nextUid(),
      mostWaiting,
      isGone: (peer) => this.places.isGone(peer),
      lossOf: (peer) => new NodeLost(this.places.session(peer) ?? { node: 'unknown', number: 0 }, 'it ended before this node heard of it'),
      ...(options.otherRefs === undefined ? undefined : { otherRefs: options.otherRefs }),
    })
    this.flows = new Flows((place) => this.exchange.knownCrossing(place))
    this.exchange.onWay = (crossing) => {
      this.#introduce(crossing)
      for (const tell of this.#onWay) tell(crossing)
    }
    this.exchange.on('named', ({ place, name }, crossing) => {
      const session = readSessionText(name)
      this.#names.get(crossing.peer)?.named(place, session === undefined ? goneBy : this.met(session))
    })
  }

  /** Tells of each new way, after the sessions were named on it. */
  onWay(tell: (crossing: Crossing) => void): void {
    this.#onWay.push(tell)
  }

  /** The number of a session that somebody named. */
  met(session: Session): number {
    const known = this.places.number(session)
    if (known !== undefined) return known
    if (this.#isClosed || this.#over.has(sessionText(session))) return goneBy
    const place = this.#add(session)
    if (!this.#options.isMember(session)) this.#options.onUnknown(session)
    return place
  }

  /** A session has become a member: what waits for it goes. */
  joined(session: Session): void {
    const place = this.places.number(session) ?? this.#add(session)
    if (this.exchange.knownCrossing(place)?.state === 'connecting') this.#open(place)
  }

  /** A session has ended, and its actors with it. */
  ended(session: Session, cause: NodeLost): void {
    const place = this.places.number(session)
    if (place === undefined || place === here) return
    const { sent, received } = this.exchange.lose(place, cause)
    this.flows.ended(session, place, sent, received)
    this.places.end(session)
    this.#lines.delete(place)
    this.#names.delete(place)
    for (const names of this.#names.values()) names.forget(place)
    if (this.#losses.push(place) > lossesKept) this.exchange.forget(this.#losses.shift()!)
    this.#over.add(sessionText(session))
    if (this.#over.size > lossesKept) this.#over.delete(this.#over.values().next().value!)
  }

  /** This node is no member any more: there is nobody else. */
  close(cause: (session: Session) => unknown): void {
    this.#isClosed = true
    for (const [place, session] of this.places.others) {
      const { sent, received } = this.exchange.lose(place, cause(session))
      this.flows.ended(session, place, sent, received)
    }
  }

  /** A payload of the channel to a session. */
  payload(from: Session, bytes: Uint8Array): void {
    const place = this.met(from)
    if (place === goneBy) return
    let line = this.#lines.get(place)
    if (line === undefined) {
      this.#open(place)
      line = this.#lines.get(place)
    }
    try {
      line?.payload(bytes)
    } catch (cause) {
      this.#broken(place, cause)
    }
  }

  /** The connection to a session ended, and the session did not. */
  disconnected(session: Session, detail: string): void {
    const place = this.places.number(session)
    if (place === undefined) return
    const cause = new ConnectionLost(session, detail)
    this.#options.core.events.publish({ type: 'connection.lost', cause, at: this.#options.core.runtime.now() })
    // First: what waits opens the next way at once, with a line and names of its own.
    this.#lines.delete(place)
    this.#names.delete(place)
    const { sent, received } = this.exchange.renew(place, cause)
    this.flows.renewed(place, sent, received)
  }

  #add(session: Session): number {
    const place = this.places.add(session)
    for (const crossing of this.exchange.crossings) if (crossing.peer !== place) explain(crossing, place, session)
    return place
  }

  /** All sessions are named on a new way before anything else. */
  #introduce(crossing: Crossing): void {
    for (const [place, session] of this.places.others) if (place !== crossing.peer) explain(crossing, place, session)
  }

  #namesOf(place: number): WayNames {
    const names = new WayNames(this.places, place)
    this.#names.set(place, names)
    return names
  }

  #open(place: number): void {
    const session = this.places.session(place)
    if (session === undefined || this.#lines.has(place) || !this.#options.isMember(session)) return
    const { channels, maxMessageBytes } = this.#options
    const push = (bytes: Uint8Array): void => {
      const taken = channels.push(session, { kind: 'payload', bytes })
      // The line keeps to the limits of the channel. If it did not, what follows would be read from the wrong place.
      if (taken === 'full' || taken === 'too-large') this.#broken(place, new Error(`the channel refused ${bytes.length} bytes: ${taken}`))
    }
    const line = new NodeLine(push, channels.maxPayload, maxMessageBytes)
    this.#lines.set(place, line)
    this.exchange.open(place, line.end)
  }

  #broken(place: number, cause: unknown): void {
    const session = this.places.session(place)
    if (session === undefined) return
    const { core, channels } = this.#options
    core.logger.error({ session: sessionText(session), cause }, 'what another node sent cannot be read; the connection to it begins anew')
    channels.channel(session)?.close('bad-frame', cause instanceof Error ? cause.message : String(cause))
  }
}

function explain(crossing: Crossing, place: number, session: Session): void {
  crossing.control({ op: 'named', place: WayNames.of(place), name: sessionText(session) })
}

/** Nobody looks whether a node sleeps. */
class StillBell {
  readonly asleep = true
  rest(): void {}
  rise(): void {}
}

/** What the runtime of a system offers, as the border wants it. */
function loopOf({ runtime }: SystemCore): Loop {
  return {
    microtask: (task) => runtime.wake(task),
    soon: (task) => runtime.yield(task),
    after: (ms, task) => runtime.timer(ms, task),
    every: (ms, task) => {
      let cancel = runtime.timer(ms, function again() {
        cancel = runtime.timer(ms, again)
        task()
      })
      return () => cancel()
    },
  }
}
