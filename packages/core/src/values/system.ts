// What code inside an actor may see of its system; the full class is in `system`.

import type { ActorClass, ActorHooks } from './actor-class.ts'
import type { Behavior } from './behavior.ts'
import type { Clock } from './clock.ts'
import type { EventStream } from './event-stream.ts'
import type { ActorRef, AnyRef } from './ref.ts'
import type { ClassThatNeedsNoArgs, OptionsFor, Spawned } from './spawnable.ts'

/** How far a system's life has come. */
export type SystemPhase = 'open' | 'closing' | 'closed'

/** The system, as an actor sees it. */
export interface SystemView {
  readonly name: string
  /** Tells the systems of one process apart, whatever their names. */
  readonly id: number
  readonly phase: SystemPhase
  /** Time as this system sees it: what `delay`, `timeout` and `retry` are given to run on virtual time too. */
  readonly clock: Clock
  /** Where events are published and subscribed to. */
  readonly events: EventStream
  spawn<M, T extends ActorHooks = never>(actor: Behavior<M> | ClassThatNeedsNoArgs<T>): Spawned<M, T>
  spawn<M, T extends ActorHooks = never, A extends readonly unknown[] = never>(
    actor: Behavior<M> | ActorClass<T, A>,
    options: OptionsFor<T, A>,
  ): Spawned<M, T>
  find(path: string): AnyRef | undefined
  sendAfter<M>(ref: ActorRef<M>, ms: number, message: M): () => void
}
