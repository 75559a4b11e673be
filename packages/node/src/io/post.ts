// The post between the sockets and the actors of one system. What links have to tell in one pass of the event loop is delivered
// together at its end, in order: the dispatcher is then woken once for fifty sockets that had data, not fifty times. Nothing waits
// longer than the pass, nor for more than `most` others. What a link that has ended still has here is not delivered.

import type { ActorRef } from '@troupe/core'
import type { Carrier } from './credit.ts'

/** Letters after which the rest of the pass is not waited for. */
const most = 64

export class Post {
  /** Addressee, message and carrier, in turn: three slots instead of an object for each. */
  #letters: unknown[] = []
  #called = false

  /** Tells `to` at the end of this pass. */
  send(to: ActorRef<never>, message: unknown, carrier: Carrier): void {
    this.#letters.push(to, message, carrier)
    if (this.#letters.length >= most * 3) return this.#deliver()
    if (this.#called) return
    this.#called = true
    setImmediate(this.#collect)
  }

  /** Tells `to` at once, or behind what is to be told at the end of this pass. */
  tellBehind(to: ActorRef<never>, message: unknown, carrier: Carrier): void {
    if (this.#letters.length === 0) to.tell(message as never, carrier)
    else this.#letters.push(to, message, carrier)
  }

  readonly #collect = (): void => {
    this.#called = false
    this.#deliver()
  }
  #deliver(): void {
    const all = this.#letters
    this.#letters = []
    for (let i = 0; i < all.length; i += 3) {
      const carrier = all[i + 2] as Carrier
      if (!carrier.stale) (all[i] as ActorRef<never>).tell(all[i + 1] as never, carrier)
    }
  }
}

const posts = new WeakMap<object, Post>()

/** The post of a system: of what happens in one, no other hears, and no other waits for it. */
export function postOf(system: object): Post {
  let post = posts.get(system)
  if (post === undefined) posts.set(system, (post = new Post()))
  return post
}
