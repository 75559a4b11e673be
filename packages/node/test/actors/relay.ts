// Passes on whatever it is told, so that it comes by one thread more.

import { type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export const relay: ActorDefinition<[to: ActorRef<never>], unknown> = defineActor(import.meta.url, 'relay', (to: ActorRef<never>) =>
  receive<unknown>((_ctx, message) => {
    to.tell(message as never)
    return same
  }),
)
