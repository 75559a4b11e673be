// How many messages this node has sent to each other session, and had from it: those of ways that are open, and of ways that broke or whose
// session has ended. Sessions that ended long ago are folded: what went to them was theirs, what came from them is ours.

import type { Crossing } from '@troupe/border'
import { type Session, sessionText } from '../values/session.ts'

/** Messages between this node and one session. */
export interface Flow {
  readonly sent: number
  readonly received: number
  /** Of those, by ways that broke: what the other has not received of them it never will. */
  readonly brokenSent: number
  readonly brokenReceived: number
}

/** So many sessions that have ended are remembered apart. */
const endedKept = 64

export class Flows {
  readonly #crossing: (place: number) => Crossing | undefined
  readonly #broken = new Map<number, { sent: number; received: number }>()
  readonly #ended = new Map<string, Flow>()
  /** What was folded, to be added to what this node sent. */
  folded = 0

  constructor(crossing: (place: number) => Crossing | undefined) {
    this.#crossing = crossing
  }

  /** A way broke; its session lives. */
  renewed(place: number, sent: number, received: number): void {
    const broken = this.#broken.get(place) ?? { sent: 0, received: 0 }
    this.#broken.set(place, { sent: broken.sent + sent, received: broken.received + received })
  }

  ended(session: Session, place: number, sent: number, received: number): void {
    const broken = this.#broken.get(place) ?? { sent: 0, received: 0 }
    this.#broken.delete(place)
    const before = this.#ended.get(sessionText(session)) ?? { sent: 0, received: 0 }
    const flow = {
      sent: sent + broken.sent + before.sent,
      received: received + broken.received + before.received,
      brokenSent: 0,
      brokenReceived: 0,
    }
    if (flow.sent + flow.received === 0) return
    this.#ended.set(sessionText(session), flow)
    if (this.#ended.size <= endedKept) return
    const [oldest, { sent: out, received: back }] = this.#ended.entries().next().value!
    this.#ended.delete(oldest)
    this.folded += back - out
  }

  /** By session, those that live and those that have ended. */
  all(others: ReadonlyMap<number, Session>): Record<string, Flow> {
    const flows: Record<string, Flow> = Object.fromEntries(this.#ended)
    for (const [place, session] of others) {
      const crossing = this.#crossing(place)
      const broken = this.#broken.get(place)
      if (crossing === undefined && broken === undefined) continue
      const { sent: brokenSent, received: brokenReceived } = broken ?? { sent: 0, received: 0 }
      const sent = (crossing?.sent ?? 0) + brokenSent
      flows[sessionText(session)] = { sent, received: (crossing?.received ?? 0) + brokenReceived, brokenSent, brokenReceived }
    }
    return flows
  }
}
