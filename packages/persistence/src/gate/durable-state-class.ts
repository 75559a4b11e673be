// Durable-state actors as classes: methods look at the state, replace it, and answer.

import { Actor, type ActorContext, type Behavior, unhandled } from '@troupe/core'
import { behaviorFrom, type BehaviorNode, readOptions, type Table } from '@troupe/core/internal'
import { behind, type BehindMethods, classBehavior, keepingOf, madeFor, type MethodContext } from './class-actor.ts'
import { keptState, type StateKeeping, stateTable } from './durable-state.ts'
import { checkKind, idOf } from './ids.ts'
import { hubOf } from './shell.ts'
import { Stated } from './stated.ts'

/** What a class says of how its state is kept, as `static readonly persistence`. */
export interface StateClassKeeping<S> extends StateKeeping<S> {
  /** What stands before the slash in an id; not the name of the class, which may change. */
  readonly kind: string
}

const table: Table<StateClassKeeping<never>> = { kind: (_option, value) => checkKind(value), ...stateTable }

/**
 * The base of durable-state class actors. Spawned with its key: `system.spawn(Settings, { args: ['anna'] })`. Methods are synchronous; what
 * they return, tell and stop is held until the state that they saw is durable.
 *
 * Guarantees: as `durableState`. Fails: at start with `NotAllowed` where `static persistence` is missing.
 *
 * @example
 * class Settings extends DurableState<{ theme: string }> {
 *   static readonly persistence = { kind: 'settings' }
 *   protected initial() { return { theme: 'light' } }
 *   choose(theme: string) { this.set({ theme }); return this.state.theme }
 * }
 */
export abstract class DurableState<S> extends Actor {
  readonly #entity: ByMethods | undefined

  static {
    const plain = Reflect.get(Actor, behaviorFrom) as (this: unknown, args: readonly unknown[]) => BehaviorNode
    Object.defineProperty(this, behaviorFrom, {
      value(this: typeof DurableState, args: readonly unknown[]): Behavior<never> {
        return stateBehavior(this as never, args, plain.call(this, args))
      },
    })
  }

  /** The key comes first in `args`; the constructor of a subclass passes it on. */
  constructor(_key: string) {
    super()
    this.#entity = madeFor(this) as ByMethods | undefined
  }

  /** The state before the first change, and after it was cleared. */
  protected abstract initial(key: string): S

  /** Where it stands; not before it has recovered. */
  protected get state(): S {
    return behind(this.#entity, this, 'look at its state').state as S
  }
  /** Replaces the state, now in memory and soon in the journal. */
  protected set(state: S): void {
    behind(this.#entity, this, 'set its state').set(state)
  }
  /** Replaces the state by what becomes of it. */
  protected update(change: (state: S) => S): void {
    behind(this.#entity, this, 'set its state').update(change as (state: unknown) => unknown)
  }
  /** Goes back to the beginning; the journal keeps that it was cleared, and its revision. */
  protected clear(): void {
    behind(this.#entity, this, 'clear its state').clear()
  }
  /** What else a method may do; the whole context of an actor is given to what `after` runs. */
  protected get gate(): MethodContext {
    return behind(this.#entity, this, 'leave anything')
  }
}

/** Names that are no messages, though they are methods. */
const inner: ReadonlySet<string> = new Set(['initial', 'set', 'update', 'clear'])

class ByMethods extends Stated implements BehindMethods {
  recovered = false
  instance: object | undefined = undefined
  #handle: BehaviorNode['handle'] | undefined = undefined
  calls(handle: BehaviorNode['handle']): void {
    this.#handle = handle
  }
  protected override command(ctx: ActorContext<never>, message: unknown): unknown {
    const type = (message as { readonly type?: unknown } | null)?.type
    return inner.has(type as string) ? unhandled : this.#handle!(ctx as never, message as never)
  }
}

type AnyClass = (new (key: string) => DurableState<unknown>) & { readonly persistence?: StateClassKeeping<never> }

function stateBehavior(actor: AnyClass, args: readonly unknown[], plain: BehaviorNode): Behavior<never> {
  const given = readOptions(`${actor.name}.persistence`, keepingOf(actor) as StateClassKeeping<never>, table)
  const id = idOf(given.kind, args[0])
  return classBehavior(given.kind, plain, (ctx) => {
    const { hub, cell } = hubOf(ctx, id)
    const initial = (of: string): unknown => (entity.instance as { initial(key: string): unknown }).initial(of)
    const entity: ByMethods = new ByMethods(id, hub, cell, keptState(given as unknown as Record<string, unknown>, initial))
    return entity
  })
}
