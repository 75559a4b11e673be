// What code inside an actor may see of its system; the full class is in `system`.

import type { Behavior } from './behavior.ts'
import type { SpawnOptions } from './options.ts'
import type { ActorRef, AnyRef } from './ref.ts'

/** How far a system's life has come. */
export type SystemPhase = 'open' | 'closing' | 'closed'

/** The system, as an actor sees it. */
export interface SystemView {
  readonly name: string
  readonly phase: SystemPhase
  spawn<M>(behavior: Behavior<M>, options?: SpawnOptions): ActorRef<M>
  find(path: string): AnyRef | undefined
  sendAfter<M>(ref: ActorRef<M>, ms: number, message: M): () => void
}
