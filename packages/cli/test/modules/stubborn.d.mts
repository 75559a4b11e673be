import type { ActorSystem } from '@troupe/core'

export function release(): void
export default function stubborn(system: ActorSystem): Promise<void>
