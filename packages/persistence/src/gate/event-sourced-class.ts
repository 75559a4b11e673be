// Event-sourced actors as classes: the instance says how its state begins and what an event makes of it.

import { Actor, type ActorContext, type Behavior, unhandled } from '@troupe/core'
import { behaviorFrom, type BehaviorNode, readOptions, type Table } from '@troupe/core/internal'
import { behind, type BehindMethods, classBehavior, keepingOf, madeFor, type MethodContext } from './class-actor.ts'
import { type AnyEvent, type Definition, stateOf } from './definition.ts'
import { kept, type KeepOptions, keepTable } from './event-sourced.ts'
import { checkKind, idOf } from './ids.ts'
import { hubOf } from './shell.ts'
import { Sourced } from './sourced.ts'

/** What a class says of how its events are kept, as `static readonly persistence`. */
export interface ClassKeeping<E> extends KeepOptions<E> {
  /** What stands before the slash in an id; not the name of the class, which may change. */
  readonly kind: string
}

const table: Table<ClassKeeping<never>> = { kind: (_option, value) => checkKind(value), ...keepTable }

/**
 * The base of event-sourced class actors. Spawned with its key: `system.spawn(Cart, { args: ['42'] })`. Methods are synchronous; what
 * they return, tell and stop is held until all that they saw is durable.
 *
 * Guarantees: as `eventSourced`. Fails: at start with `NotAllowed` where `static persistence` is missing.
 *
 * @example
 * class Cart extends EventSourced<State, CartEvent> {
 *   static readonly persistence = { kind: 'cart' }
 *   protected initial() { return { total: 0 } }
 *   protected apply(s: State, e: CartEvent) { return { total: s.total + e.n } }
 *   add(n: number) { this.persist({ type: 'added', n }); return this.state.total }
 * }
 */
export abstract class EventSourced<S, E extends AnyEvent> extends Actor {
  readonly #entity: ByMethods | undefined

  static {
    const plain = Reflect.get(Actor, behaviorFrom) as (this: unknown, args: readonly unknown[]) => BehaviorNode
    Object.defineProperty(this, behaviorFrom, {
      value(this: typeof EventSourced, args: readonly unknown[]): Behavior<never> {
        return sourcedBehavior(this as never, args, plain.call(this, args))
      },
    })
  }

  /** The key comes first in `args`; the constructor of a subclass passes it on. */
  constructor(_key: string) {
    super()
    this.#entity = madeFor(this) as ByMethods | undefined
  }

  /** The state before the first event. */
  protected abstract initial(key: string): S
  /** What an event makes of a state: pure, without a look at anything else. */
  protected abstract apply(state: S, event: E): S

  /** Where it stands; not before it has recovered. */
  protected get state(): S {
    return behind(this.#entity, this, 'look at its state').state as S
  }
  /** Applies the events now, and queues them; those of one method are stored together or not at all. */
  protected persist(...events: readonly E[]): void {
    behind(this.#entity, this, 'persist').persist(...events)
  }
  /** What else a method may do; the whole context of an actor is given to what `after` runs. */
  protected get gate(): MethodContext {
    return behind(this.#entity, this, 'leave anything')
  }
}

/** Names that are no messages, though they are methods. */
const inner: ReadonlySet<string> = new Set(['initial', 'apply', 'persist'])

interface Applying {
  initial(key: string): unknown
  apply(state: unknown, event: AnyEvent): unknown
}

/** One whose commands are methods. */
class ByMethods extends Sourced implements BehindMethods {
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

type AnyClass = (new (key: string) => EventSourced<unknown, AnyEvent>) & { readonly persistence?: ClassKeeping<never> }

/** What is known of all actors of a class; `applying` is what applies events. */
export function classDefinition(actor: AnyClass, applying: () => object): Definition {
  const given = readOptions(`${actor.name}.persistence`, keepingOf(actor) as ClassKeeping<never>, table)
  return {
    ...kept(given.kind, given as unknown as Record<string, unknown>),
    initial: (of) => (applying() as Applying).initial(of),
    // A class decides by itself what it knows: its `apply` throws, or leaves the state as it is.
    knows: () => true,
    apply: (state, event) => stateOf((applying() as Applying).apply(state, event), event.type, given.kind),
  }
}

function sourcedBehavior(actor: AnyClass, args: readonly unknown[], plain: BehaviorNode): Behavior<never> {
  const { kind } = classDefinition(actor, () => actor)
  const id = idOf(kind, args[0])
  return classBehavior(kind, plain, (ctx) => {
    const { hub, cell } = hubOf(ctx, id)
    const entity: ByMethods = new ByMethods(
      id,
      hub,
      cell,
      classDefinition(actor, () => entity.instance!),
    )
    return entity
  })
}
