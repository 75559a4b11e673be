// An actor and tasks that send odd values from the thread they live on.

import { type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Odd =
  /** Tells `to` what the text says, parsed here. */
  | { readonly type: 'parse'; readonly text: string; readonly to: ActorRef<unknown> }
  /** Tells `to` an object that tells it something itself while it is read. */
  | { readonly type: 'nested'; readonly to: ActorRef<unknown> }
  | { readonly type: 'args'; readonly replyTo: ActorRef<unknown> }
  | { readonly type: 'echo'; readonly value: unknown; readonly replyTo: ActorRef<unknown> }
  | { readonly type: 'answer'; readonly what: string; readonly replyTo: ActorRef<unknown> }
  | { readonly type: 'headers'; readonly replyTo: ActorRef<unknown> }

export const odd: ActorDefinition<readonly unknown[], Odd> = defineActor(import.meta.url, 'odd', (...args: readonly unknown[]) =>
  receive<Odd>((ctx, m) => {
    switch (m.type) {
      case 'parse':
        m.to.tell(JSON.parse(m.text))
        return same
      case 'nested':
        m.to.tell(telling(m.to))
        return same
      case 'args':
        m.replyTo.tell(args)
        return same
      case 'echo':
        m.replyTo.tell(m.value)
        return same
      case 'headers':
        m.replyTo.tell(ctx.headers)
        return same
      case 'answer':
        m.replyTo.tell(oddThings[m.what]!())
        return same
    }
  }),
)

/** An object that tells something while it is read. */
export function telling(to: ActorRef<unknown>): object {
  return {
    before: 'a word that is new here',
    get inner() {
      to.tell({ told: 'while another was read', before: 'a word that is new here' })
      return 'seen'
    },
    after: { again: 'another new word' },
  }
}

/** A list that is linked so many times. */
export function linked(length: number): { readonly next: unknown } {
  let list: { next: unknown } = { next: null }
  for (let i = 1; i < length; i++) list = { next: list }
  return list
}

export const oddThings: Readonly<Record<string, () => unknown>> = {
  function: () => ({ at: [1, () => 1] }),
  symbol: () => ({ at: { deep: Symbol('s') } }),
  promise: () => [Promise.resolve(1)],
  throws: () => ({
    get bad() {
      throw new Error('not now')
    },
  }),
}

export function oddResult(what: string): unknown {
  return oddThings[what]!()
}
export async function after(_what: unknown, gate: Int32Array): Promise<unknown> {
  while (Atomics.load(gate, 0) === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  return _what
}
export function take(value: unknown): unknown {
  return value
}
/** Ends when `count` calls have begun. */
export async function meet(runs: Int32Array, count: number): Promise<void> {
  Atomics.add(runs, 0, 1)
  while (Atomics.load(runs, 0) < count) await new Promise((resolve) => setTimeout(resolve, 1))
}
export function countRun(runs: Int32Array): number {
  return Atomics.add(runs, 0, 1) + 1
}
