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
  /** Returns if it is the address of a place of this border; each border has its own. */
  isOf(exchange: Exchange): boolean {
    return this.#exchange === exchange
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

/** The most addresses of another border that are kept; the oldest is forgotten first. */
const foreignKept = 10_000

/** Addresses of this place that others know by a number; those of its threads, where the others are nodes, among them. */
export class Addresses {
  readonly #byId = new Map<number, PendingAsk | Adapter | AddressRef>()
  readonly #ids = new Map<PendingAsk | Adapter, number>()
  /** The numbers of those that came over another border, by what each is called there. */
  readonly #foreign = new Map<string, number>()
  #next = 1
  #sweepAt = 1024

  idOf(address: PendingAsk | Adapter | AddressRef): number {
    if (address instanceof AddressRef) return this.#foreignId(address)
    let id = this.#ids.get(address)
    if (id !== undefined) return id
    if (this.#byId.size >= this.#sweepAt) this.#sweep()
    id = this.#next++
    this.#byId.set(id, address)
    this.#ids.set(address, id)
    return id
  }
  #foreignId(address: AddressRef): number {
    const name = `${address.thread}/${address.id}`
    const known = this.#foreign.get(name)
    if (known !== undefined) return known
    const id = this.#next++
    this.#byId.set(id, address)
    this.#foreign.set(name, id)
    if (this.#foreign.size > foreignKept) {
      const [oldest, oldestId] = this.#foreign.entries().next().value!
      this.#foreign.delete(oldest)
      this.#byId.delete(oldestId)
    }
    return id
  }
  /** The number of an address, if it has one. */
  known(address: PendingAsk | Adapter): number | undefined {
    return this.#ids.get(address)
  }
  get(id: number): PendingAsk | Adapter | AddressRef | undefined {
    return this.#byId.get(id)
  }
  forget(id: number): void {
    const address = this.#byId.get(id)
    if (address === undefined) return
    this.#byId.delete(id)
    if (!(address instanceof AddressRef)) this.#ids.delete(address)
  }
  get size(): number {
    return this.#byId.size
  }
  #sweep(): void {
    for (const [id, address] of this.#byId) {
      if (address instanceof AddressRef) continue
      if (address instanceof PendingAsk ? address.settled : address.fn === undefined) this.forget(id)
    }
    this.#sweepAt = Math.max(1024, this.#byId.size * 2)
  }
}
