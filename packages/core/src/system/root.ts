// The root of a system: one actor that is the application. Its end is the system's end, with its cause.

import { cellOf } from '../cell/ref/local-ref.ts'
import { spawnUnder } from '../cell/context/spawning.ts'
import { type Behavior, SpawnOnly } from '../values/behavior.ts'
import { RootKilled } from '../values/errors.ts'
import type { ActorRef } from '../values/ref.ts'
import type { SystemCore } from './core.ts'

/** Spawns the root; `end` is called once, when it has ended, with the cause unless it ended by itself. */
export function spawnRoot<R>(core: SystemCore, behavior: Behavior<R>, end: (cause: unknown) => void): ActorRef<R> {
  // Nobody is above the root to help: unless it asks for a policy itself, its first failure is its last.
  const ref = spawnUnder(core.guardian, behavior, hasPolicy(behavior) ? { name: 'root' } : { name: 'root', supervision: 'stop' })
  const waiter = ({ reason, cause }: { readonly reason: string; readonly cause: unknown }): void =>
    end(cause ?? (reason === 'killed' ? new RootKilled(ref.path) : undefined))
  ;(cellOf(ref)!.ensureExtras().endWaiters ??= []).push(waiter)
  return ref
}

function hasPolicy(behavior: unknown): boolean {
  try {
    for (let b = behavior; b instanceof SpawnOnly; b = b.behavior) if (b.options.supervision !== undefined) return true
  } catch {
    // Spawning it will say so.
  }
  return false
}
