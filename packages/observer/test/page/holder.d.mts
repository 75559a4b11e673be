import type { ActorRef, Behavior } from '@troupe/core'

export const holder: () => Behavior<{ type: 'hold'; until: string; replyTo: ActorRef<string> }>
