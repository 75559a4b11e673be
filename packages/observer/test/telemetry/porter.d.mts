import type { ActorRef, Behavior } from '@troupe/core'

export const porter: () => Behavior<{ type: 'carry'; to: ActorRef<unknown> }>
