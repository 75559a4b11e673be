// What tells a supervisor's behavior from others, so that a supervisor under a supervisor gets all the time it needs
// to stop its own children.

import { type Behavior, BehaviorWithOptions, type SignalHandler } from '../../values/behavior.ts'

/** The behavior that `supervisor` returns. */
export class SupervisorBehavior<M> extends BehaviorWithOptions<M> {
  override onSignal(handler: SignalHandler<M>): Behavior<M> {
    return new SupervisorBehavior(this.behavior.onSignal(handler), this.options)
  }
}

/** Whether a behavior is a supervisor's, also one that `withOptions` wrapped. */
export function isSupervisor(behavior: unknown): boolean {
  for (let b = behavior; b instanceof BehaviorWithOptions; b = b.behavior) if (b instanceof SupervisorBehavior) return true
  return false
}
