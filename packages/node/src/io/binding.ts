// How far something is with listening, and who waits to learn where: the same for TCP, HTTP and UDP.

import type { ActorRef } from '@troupe/core'
import type { AddressInfo } from 'node:net'
import type { Endpoint } from './protocol.ts'

/** What can be asked where it listens: a server, a UDP socket. */
export interface Listening {
  address(): AddressInfo | string | null
  close(): void
}

export class Binding {
  readonly #what: Listening
  #phase: 'binding' | 'bound' | 'closing' | 'closed' = 'binding'
  #waiting: ActorRef<Endpoint>[] = []
  constructor(what: Listening) {
    this.#what = what
  }
  get binding(): boolean {
    return this.#phase === 'binding' || this.#phase === 'closing'
  }
  get closed(): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }
  /** It listens; undefined where it was closed meanwhile. */
  bound(): Endpoint | undefined {
    if (this.#phase === 'closing') {
      this.closeNow()
      return undefined
    }
    this.#phase = 'bound'
    return this.#answer(this.#address())
  }
  tellAddress(to: ActorRef<Endpoint>): void {
    if (this.#phase === 'binding') this.#waiting.push(to)
    else to.tell(this.#phase === 'bound' ? this.#address() : {})
  }
  /** Closes; a server that still looks up its name cannot be closed yet, and is as soon as it listens. */
  close(): void {
    if (this.#phase === 'bound') return this.closeNow()
    if (this.#phase !== 'binding') return
    this.#phase = 'closing'
    this.#answer({})
  }
  closeNow(): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#answer({})
    this.#what.close()
  }
  #answer(address: Endpoint): Endpoint {
    for (const ref of this.#waiting.splice(0)) ref.tell(address)
    return address
  }
  #address(): Endpoint {
    const address = this.#what.address()
    if (address === null) return {}
    return typeof address === 'string' ? { path: address } : { host: address.address, port: address.port }
  }
}
