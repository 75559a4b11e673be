// The address of an answer or of an adapter that lives on another thread. It takes messages and nothing else.

import type { ActorRef } from '@troupe/core'
import { AskRefused } from '@troupe/core'
import { type Adapter, PendingAsk } from '@troupe/core/internal'
import type { Exchange } from '../exchange/exchange.ts'

export class AddressRef implements ActorRef<unknown> {
  readonly uid = 0
  readonly thread: number
  readonly id: number
  readonly path: string
  readonly #exchange: Exchange
  constructor(exchange: Exchange, thread: number, id: number, path: string) {
    this.#exchange = exchange
    this.thread = thread
    this.id = id
    this.path = path
  }
  /** Whether it is one, and does not only look like one. */
  static is(value: object): value is AddressRef {
    return #exchange in value
  }
  tell(message: unknown): void {
    this.#exchange.tellAddress(this, message)
  }
  ask(): Promise<never> {
    return Promise.reject(new AskRefused(this.path, 'it is the address of an answer, or an adapter, on another thread'))
  }
  offer(message: unknown): Promise<void> {
    this.tell(message)
    return Promise.resolve()
  }
  stop(): void {}
  toString(): string {
    return `ActorRef(${this.path})`
  }
}

/** Addresses of this thread that others know by a number. */
export class Addresses {
  readonly #byId = new Map<number, PendingAsk | Adapter>()
  readonly #ids = new Map<PendingAsk | Adapter, number>()
  #next = 1
  #sweepAt = 1024

  idOf(address: PendingAsk | Adapter): number {
    let id = this.#ids.get(address)
    if (id !== undefined) return id
    if (this.#byId.size >= this.#sweepAt) this.#sweep()
    id = this.#next++
    this.#byId.set(id, address)
    this.#ids.set(address, id)
    return id
  }
  /** The number of an address, if it has one. */
  known(address: PendingAsk | Adapter): number | undefined {
    return this.#ids.get(address)
  }
  get(id: number): PendingAsk | Adapter | undefined {
    return this.#byId.get(id)
  }
  forget(id: number): void {
    const address = this.#byId.get(id)
    if (address === undefined) return
    this.#byId.delete(id)
    this.#ids.delete(address)
  }
  get size(): number {
    return this.#byId.size
  }
  #sweep(): void {
    for (const [id, address] of this.#byId) if (address instanceof PendingAsk ? address.settled : address.fn === undefined) this.forget(id)
    this.#sweepAt = Math.max(1024, this.#byId.size * 2)
  }
}
