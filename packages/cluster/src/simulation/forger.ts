// Somebody who sends frames in the name of a session, as anybody can where NATS has no user for each node. It has heard all that was sent, and
// puts in what is wrong: numbers of connections that are over or never were, acknowledgements of what did not arrive, resets, bytes that are none.

import type { Simulation } from '@troupe/testkit'
import { type Head, headSize, readFrame, resetFrame, writeHead, ackFrame } from '../channel/frame.ts'
import type { MemoryHub } from '../engines/memory/hub.ts'
import { type Session, sessionText } from '../values/session.ts'
import { ownVersions } from '../values/versions.ts'

const greatest = 2 ** 32 - 1

export class Forger {
  readonly #sim: Simulation
  readonly #hub: MemoryHub
  /** The head of the last frame on each way, with who sent it to whom. */
  readonly #heads = new Map<string, { readonly from: Session; readonly to: Session; readonly head: Head }>()

  constructor(sim: Simulation, hub: MemoryHub) {
    this.#sim = sim
    this.#hub = hub
    const frame = hub.frame.bind(hub)
    hub.frame = (from, to, bytes) => {
      const read = readFrame(bytes, ownVersions)
      if (read.kind !== 'bad') this.#heads.set(`${sessionText(from)} ${sessionText(to)}`, { from, to, head: read })
      return frame(from, to, bytes)
    }
  }

  /** Sends something in the name of one session to another; false where nothing was ever sent between them. */
  forge(from: Session, to: Session): boolean {
    const there = this.#heads.get(`${sessionText(from)} ${sessionText(to)}`)
    if (there === undefined) return false
    this.#hub.frame(from, to, this.#frame(there.head))
    return true
  }

  /** Sends bytes that are no frame, which ends the connection. */
  spoil(from: Session, to: Session): void {
    this.#hub.frame(from, to, Uint8Array.of(1, 2, 3))
  }

  #frame(last: Head): Uint8Array {
    const { version } = last
    const mine = this.#sim.oneOf([greatest, last.mine, last.mine + 1, 1])
    const yours = this.#sim.oneOf([0, last.yours, greatest])
    const head: Head = { version, mine, yours, ack: last.ack }
    switch (this.#sim.choose(4)) {
      case 0:
        return ackFrame({ ...head, ack: last.ack + 1 }, [])
      case 1:
        return ackFrame(head, [])
      case 2:
        return resetFrame({ ...head, ack: 0 })
      default: {
        const bytes = new Uint8Array(headSize + 2)
        // A bye: whoever reads it does nothing.
        bytes.set([4, 0], headSize)
        // Far ahead, so that it does not stand for a frame that is under way.
        writeHead(bytes, 'data', head, 1_000_000)
        return bytes
      }
    }
  }
}
