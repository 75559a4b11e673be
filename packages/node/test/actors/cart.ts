// A class of actors that threads can find.

import { threadId } from 'node:worker_threads'
import { Actor } from 'troupe'
import { defineActor } from '@troupe/node'

export class Cart extends Actor {
  readonly #items: string[]
  constructor(first: string) {
    super()
    this.#items = [first]
  }
  add(item: string): void {
    if (item === '') throw new RangeError('an empty item')
    this.#items.push(item)
  }
  async addLater(item: string): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 1))
    this.#items.push(item)
    return this.#items.length
  }
  items(): string[] {
    return this.#items
  }
  where(): { thread: number; path: string } {
    return { thread: threadId, path: this.self<Cart>().path }
  }
}
defineActor(import.meta.url, 'Cart', Cart)
