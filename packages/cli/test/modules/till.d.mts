import type { ActorSystem, Behavior } from '@troupe/core'

export const till: (...args: never) => Behavior<never>
export const mended: (...args: never) => Behavior<never>
export default function shop(system: ActorSystem): void
