// The post between sockets and actors. What links have to tell in one pass of the event loop is delivered together at
// its end, in order: the dispatcher is then woken once for fifty sockets that had data, not fifty times. Nothing waits
// longer than the pass, nor for more than `most` others. What a link that has ended still has here is not delivered.

import type { ActorRef } from '@troupe/core'
import type { Carrier } from './credit.ts'

/** Letters after which the rest of the pass is not waited for. */
const most = 64

/** Addressee, message and carrier, in turn: three slots instead of an object for each. */
let letters: unknown[] = []
let called = false

/** Tells `to` at the end of this pass. */
export function post(to: ActorRef<never>, message: unknown, carrier: Carrier): void {
  letters.push(to, message, carrier)
  if (letters.length >= most * 3) return deliver()
  if (called) return
  called = true
  setImmediate(collect)
}

/** Tells `to` at once, or behind what is to be told at the end of this pass. */
export function tellBehind(to: ActorRef<never>, message: unknown, carrier: Carrier): void {
  if (letters.length === 0) to.tell(message as never, carrier)
  else letters.push(to, message, carrier)
}

function collect(): void {
  called = false
  deliver()
}

function deliver(): void {
  const all = letters
  letters = []
  for (let i = 0; i < all.length; i += 3) {
    const carrier = all[i + 2] as Carrier
    if (!carrier.stale) (all[i] as ActorRef<never>).tell(all[i + 1] as never, carrier)
  }
}
