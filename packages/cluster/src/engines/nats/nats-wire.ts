// Frames over core NATS. The client neither refuses nor bounds what it is given to send, so both are done here: nothing is taken while it
// is not connected, or while more than a bound has not been confirmed by the server.

import type { NatsConnection, Subscription } from '@nats-io/transport-node'
import type { Wire } from '../../ports/wire.ts'
import type { Session } from '../../values/session.ts'
import { frameSubject, framesFor, senderIn } from './nats-layout.ts'

/** The window of a channel: greater frames are of no use, whatever the server takes. */
const greatest = 1_048_576
/** How much may be on its way to the server. */
const unconfirmedAtMost = 16 * 1_048_576
/** The server is asked what it has once so much may be on its way: a question for each frame would double what goes to and fro. */
const askedBeyond = 1_048_576

export class NatsWire implements Wire {
  readonly #connection: NatsConnection
  readonly #cluster: string
  readonly #online: () => boolean
  #self: Session | undefined
  #subscription: Subscription | undefined
  #sent = 0
  #confirmed = 0
  #asking = false

  constructor(connection: NatsConnection, cluster: string, online: () => boolean) {
    this.#connection = connection
    this.#cluster = cluster
    this.#online = online
  }

  /** What the server takes that the client is connected to now. */
  get maxFrame(): number {
    return Math.min(this.#connection.info?.max_payload ?? greatest, greatest)
  }

  get connected(): boolean {
    return this.#self !== undefined && this.#online()
  }

  async open(self: Session, onFrame: (from: Session, bytes: Uint8Array) => void): Promise<void> {
    this.#subscription = this.#connection.subscribe(framesFor(this.#cluster, self), {
      callback: (problem, message) => {
        const from = problem === null ? senderIn(message.subject) : undefined
        if (from !== undefined) onFrame(from, message.data)
      },
    })
    // Whoever is told of this session may send at once.
    await this.#connection.flush()
    this.#self = self
  }

  send(to: Session, bytes: Uint8Array): boolean {
    const self = this.#self
    if (self === undefined || !this.#online() || bytes.length > this.maxFrame) return false
    if (this.#sent - this.#confirmed > unconfirmedAtMost) return false
    this.#connection.publish(frameSubject(this.#cluster, self, to), bytes)
    this.#sent += bytes.length
    if (this.#sent - this.#confirmed > askedBeyond) this.#confirm()
    return true
  }

  /** The client has reconnected: what was under way has gone, or is sent once more by the channel. */
  reconnected(): void {
    this.#confirmed = this.#sent
  }

  async close(): Promise<void> {
    this.#self = undefined
    this.#subscription?.unsubscribe()
  }

  /** One question to the server at a time: its answer confirms all that was sent before. */
  #confirm(): void {
    if (this.#asking) return
    this.#asking = true
    const upTo = this.#sent
    this.#connection.flush().then(
      () => {
        this.#confirmed = Math.max(this.#confirmed, upTo)
        this.#asking = false
        if (this.#sent - this.#confirmed > askedBeyond) this.#confirm()
      },
      () => {
        this.#asking = false
      },
    )
  }
}
