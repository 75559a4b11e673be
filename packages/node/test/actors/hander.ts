// Actors for the tests of questions that are handed on: built, so that threads of any Node can load them.

import { type ActorRef, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Handed =
  | { type: 'get'; to?: ActorRef<Handed>; after?: 'stop' | 'answer' | 'stay'; replyTo: ActorRef<string> }
  | { type: 'answer'; text: string }
  | { type: 'stop' }

/** Hands a question on, and maybe stops or answers it itself; without somebody to hand it to, keeps it until told what to answer. */
export const hander: ActorDefinition<[], Handed> = defineActor(import.meta.url, 'hander', () =>
  setup<Handed>((ctx) => {
    const kept: ActorRef<string>[] = []
    return receive<Handed>((_ctx, m): Behavior<Handed> | typeof same => {
      if (m.type === 'stop') return stopped
      if (m.type === 'answer') {
        for (const replyTo of kept.splice(0)) replyTo.tell(m.text)
        return same
      }
      if (m.to === undefined || m.to.path === ctx.self.path) {
        kept.push(m.replyTo)
        return same
      }
      ctx.forward(m.to)
      if (m.after === 'answer') m.replyTo.tell('myself')
      return m.after === 'stop' ? stopped : same
    })
  }),
)

/** Takes its time over what it is told, and stops at anything else. */
export const leaver: ActorDefinition<[], Handed | { type: 'wait'; ms: number }> = defineActor(import.meta.url, 'leaver', () =>
  receive<Handed | { type: 'wait'; ms: number }>((_ctx, m) =>
    m.type === 'wait' ? new Promise<typeof same>((resolve) => setTimeout(() => resolve(same), m.ms)) : stopped,
  ),
)
