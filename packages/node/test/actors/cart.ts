// A class of actors that threads can find.

import { threadId } from 'node:worker_threads'
import { Actor, type ActorHandle, type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

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

export interface Shopping {
  readonly type: 'buy'
  readonly cart: ActorHandle<Cart>
  readonly item: string
  /** Makes the message go by port. */
  readonly large?: SharedArrayBuffer
  readonly replyTo: ActorRef<{ readonly items: string[]; readonly cart: ActorHandle<Cart> }>
}

/** Uses the handle of a cart, wherever that lives. */
export const shopper: ActorDefinition<[], Shopping> = defineActor(import.meta.url, 'shopper', () =>
  receive<Shopping>(async (_ctx, m) => {
    m.cart.tell.add(m.item)
    m.replyTo.tell({ items: await m.cart.with({ timeout: 4000 }).ask.items(), cart: m.cart })
    return same
  }),
)
