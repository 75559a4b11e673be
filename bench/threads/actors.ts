// The actors of the thread benchmarks, in a module that threads can load.

import { type ActorRef, receive, same, setup } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Sink = { type: 'add'; by: number } | { type: 'total'; after: number; replyTo: ActorRef<number> }

/** Counts; answers once it has seen so many. */
export const sink: ActorDefinition<[], Sink> = defineActor(import.meta.url, 'sink', () =>
  setup<Sink>(() => {
    let seen = 0
    let waiting: { after: number; replyTo: ActorRef<number> } | undefined
    return receive<Sink>((_ctx, m) => {
      if (m.type === 'add') seen++
      else waiting = m
      if (waiting !== undefined && seen >= waiting.after) {
        waiting.replyTo.tell(seen)
        waiting = undefined
        seen = 0
      }
      return same
    })
  }),
)

export type Source =
  | { type: 'send'; count: number; to: ActorRef<Sink>; replyTo: ActorRef<number> }
  | { type: 'more'; left: number; to: ActorRef<Sink>; replyTo: ActorRef<number> }

/** Sends so many from its own thread, in portions, so that others get their turn. */
export const source: ActorDefinition<[], Source> = defineActor(import.meta.url, 'source', () =>
  receive<Source>((ctx, m) => {
    let left = m.type === 'send' ? m.count : m.left
    for (let i = 0; i < 20_000 && left > 0; i++) m.to.tell({ type: 'add', by: left-- })
    if (left > 0) ctx.self.tell({ type: 'more', left, to: m.to, replyTo: m.replyTo })
    else m.replyTo.tell(0)
    return same
  }),
)

export type Echo = { type: 'ping'; n: number; replyTo: ActorRef<number> }

export const echo: ActorDefinition<[], Echo> = defineActor(import.meta.url, 'echo', () =>
  receive<Echo>((_ctx, m) => {
    m.replyTo.tell(m.n)
    return same
  }),
)

export type Burn = { type: 'burn'; rounds: number; replyTo: ActorRef<number> }

export function burn(rounds: number): number {
  let x = 1
  for (let i = 0; i < rounds; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0
  return x
}

export const burner: ActorDefinition<[], Burn> = defineActor(import.meta.url, 'burner', () =>
  receive<Burn>((_ctx, m) => {
    m.replyTo.tell(burn(m.rounds))
    return same
  }),
)
