// An actor that passes on to the one it was made with, for the tests of siblings on threads.

import { type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Told = { readonly type: 'who'; readonly replyTo: ActorRef<string> }

export const teller: ActorDefinition<[to: ActorRef<Told>], Told> = defineActor(import.meta.url, 'teller', (to: ActorRef<Told>) =>
  receive<Told>(async (ctx, m) => {
    m.replyTo.tell(await ctx.ask(to, { type: 'who' }).catch((cause: Error) => cause.name))
    return same
  }),
)
