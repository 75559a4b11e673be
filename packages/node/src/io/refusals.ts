// What a listener tells of peers that it turned away. Peers decide how many that are, so at most `most` of these messages
// are unhandled; of the others the last is told as soon as there is room, with how many there were.

import type { ActorRef } from '@troupe/core'
import { Credited, LossyCarrier } from './credit.ts'
import type { Endpoint } from './protocol.ts'

const most = 64

/** A peer was turned away. */
export class Refused<L> extends Credited {
  readonly type = 'refused'
  readonly code: string
  readonly remote: Endpoint
  readonly listener: ActorRef<L>
  readonly missed: number
  constructor(code: string, remote: Endpoint, listener: ActorRef<L>, missed: number) {
    super()
    this.code = code
    this.remote = remote
    this.listener = listener
    this.missed = missed
  }
}

export class Refusals<L> {
  readonly #owner: ActorRef<Refused<L>> | undefined
  readonly #listener: ActorRef<L>
  readonly #source: { readonly stale: boolean; readonly undelivered: () => void }
  #unhandled = 0
  #missed = 0
  #last: readonly [code: string, remote: Endpoint] | undefined = undefined
  constructor(owner: ActorRef<Refused<L>> | undefined, listener: ActorRef<L>, source: { readonly stale: boolean; readonly undelivered: () => void }) {
    this.#owner = owner
    this.#listener = listener
    this.#source = source
  }
  tell(code: string, remote: Endpoint): void {
    if (this.#owner === undefined || this.#source.stale) return
    if (this.#unhandled >= most) {
      this.#missed++
      this.#last = [code, remote]
      return
    }
    const event = new Refused(code, remote, this.#listener, this.#missed)
    this.#missed = 0
    this.#last = undefined
    this.#unhandled++
    const credited = (): void => {
      this.#unhandled--
      this.#catchUp()
    }
    const refused = (): void => {
      if (event.settle()) this.#unhandled--
      this.#missed += 1 + event.missed
      this.#last ??= [code, remote]
    }
    const source = { stale: false, credited, undelivered: () => this.#source.undelivered() }
    this.#owner.tell(event, new LossyCarrier(this.#listener, source, refused))
  }
  #catchUp(): void {
    if (this.#last === undefined || this.#unhandled >= most) return
    this.#missed--
    this.tell(...this.#last)
  }
}
