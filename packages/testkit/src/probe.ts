// An actor that keeps what it is told, so that a test can say what it expects, in order.

import { type ActorRef, type Behavior, receive, same } from 'troupe'

export function probeBehavior<M>(messages: M[]): Behavior<M> {
  return receive<M>((_ctx, message) => {
    messages.push(message)
    return same
  })
}

/** The messages of a probe, oldest first; expectations take them away. */
export class Probe<M> {
  readonly ref: ActorRef<M>
  readonly messages: M[]
  constructor(ref: ActorRef<M>, messages: M[]) {
    this.ref = ref
    this.messages = messages
  }
  /** Takes the next message; fails unless it equals this. */
  expect(expected: M): M {
    const message = this.#next()
    if (!equal(message, expected)) throw new Error(`Expected ${text(expected)}, but got ${text(message)}.`)
    return message
  }
  /** Takes the next message; fails unless its `type` is this. */
  expectType<K extends string>(type: K): Extract<M, { type: K }> {
    const message = this.#next()
    if ((message as { type?: unknown }).type !== type) throw new Error(`Expected a ${type}, but got ${text(message)}.`)
    return message as Extract<M, { type: K }>
  }
  /** Fails if a message is waiting. */
  expectNone(): void {
    if (this.messages.length > 0) throw new Error(`Expected nothing, but got ${this.messages.map(text).join(', ')}.`)
  }
  #next(): M {
    if (this.messages.length === 0) throw new Error('Expected a message, but there is none. Is an advance or settle missing?')
    return this.messages.shift()!
  }
}

function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((k) => equal((a as Record<string, unknown>)[k], (b as Record<string, unknown>)[k]))
}

function text(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
