// One actor per key: made at its first message, gone after a silence or when it wants to, made again when it is needed. What an entity
// leaves in its mailbox and stash goes to its successor, before what the router has kept back meanwhile:
//
//   left by the one before ─→ came while it was leaving (the stash of the router) ─→ came since

import type { Context } from '../cell/context/context.ts'
import type { CellOptions } from '../cell/context/options.ts'
import { Succession } from '../cell/life/draining.ts'
import { callsItsChildren } from '../cell/ref/keys-below.ts'
import { cellOf } from '../cell/ref/local-ref.ts'
import type { Cell } from '../cell/turn/cell.ts'
import { type Behavior, receive, same, setup, unhandled, withOptions } from '../values/behavior.ts'
import { checkFinite, checkFunction, checkObject, checkString, checkWhole, readOptions, type Table } from '../values/checks.ts'
import type { ActorContext } from '../values/context.ts'
import { NotAllowed } from '../values/errors.ts'
import { Keyed } from '../values/keyed.ts'
import type { SpawnOptions } from '../values/options.ts'
import type { ActorRef, AnyRef } from '../values/ref.ts'
import { isThenable, observed } from '../values/thenable.ts'
import { passivating } from './passivation.ts'
import { buryPresent } from './router/routing.ts'

/** How entities are made, told apart and put to sleep. */
export interface EntitiesOptions<M> {
  /** Which entity a message is for. */
  keyOf(message: M): string
  /** A new entity, or one that comes back. */
  create(key: string): Behavior<M>
  /** Milliseconds of silence after which an entity leaves. */
  readonly idle: number
  /**
   * Asked after each such silence, in the entity's own turn: false lets it stay until the next one. For entities that are needed while
   * nobody talks to them, such as a room of silent listeners. What it throws is a failure of the entity.
   */
  canPassivate?(key: string): boolean
  /** Messages that may wait for entities that are leaving; 1,000 if left out. */
  readonly capacity?: number | undefined
  /** Spawn options of every entity, such as its supervision; the defaults of `spawn` if left out. */
  readonly options?: Omit<SpawnOptions, 'name'> | undefined
}

const entitiesTable: Table<EntitiesOptions<unknown>> = {
  keyOf: [checkFunction, 0, true],
  create: [checkFunction, 0, true],
  idle: [checkFinite, 'above', true],
  canPassivate: checkFunction,
  capacity: [checkWhole, 1],
  options: checkObject,
}

/**
 * A command for a router of entities: made by `passivateEntity`.
 *
 * @example
 * carts.tell(new EntityCommand('cart-7'))
 */
export class EntityCommand {
  declare readonly key: string
  constructor(key: string) {
    this.key = checkString('key', key)
  }
}

/**
 * Lets the entity of a key leave now: it handles what it has queued, and stops. What comes after that wakes it again, and nothing is lost;
 * a no-op where it is not awake. `canPassivate` is not asked.
 *
 * @example
 * carts.tell(passivateEntity('cart-7'))
 */
export function passivateEntity(key: string): EntityCommand {
  return new EntityCommand(key)
}

/**
 * One actor per key: made at the first message, gone after a silence, made again when it is needed.
 *
 * Guarantees: messages of one key are handled in order, also those that arrive while its entity is leaving, or are in its mailbox or stash
 * when it ends, however it ends: its successor handles them. At most one entity per key lives. Fails: what exceeds `capacity`
 * meanwhile is a dead letter `mailbox-full`; a message for which `keyOf` or `create` throws is one `not-accepted`, and nothing else is
 * touched; an entity that failed for good is made anew by the next message. What an entity leaves is a dead letter where it never came
 * up, where its `drain` says so, on another thread, and where all of them end.
 *
 * @example
 * const carts = system.spawn(entities<Cart>({ keyOf: (m) => m.id, create: (id) => cart(id), idle: 60_000 }))
 */
export function entities<M>(options: EntitiesOptions<M>): Behavior<M | EntityCommand> {
  const { capacity = 1000, ...read } = readOptions('entities', options, entitiesTable as Table<EntitiesOptions<M>>)
  const behavior = setup<M | EntityCommand>((ctx) => {
    const all = new Entities<M>(ctx, options, read)
    // What waited for an entity of the incarnation before: that entity is gone, so that nothing else would wake it.
    ctx.stash.unstashAll()
    return receive<M | EntityCommand>(
      (c, message) => {
        if (message instanceof EntityCommand) {
          all.living.get(message.key)?.stop({ after: 'queued' })
          return same
        }
        let key: string
        let ref: ActorRef<M>
        try {
          key = all.keyOf(message)
          ref = all.living.get(key) ?? all.spawn(key)
        } catch (cause) {
          // It is this message's trouble: all other entities would end with a failure of ours.
          c.log.warn({ actor: c.path, cause }, 'a message was refused: it has no key, or no entity could be made for it')
          buryPresent(c, 'not-accepted', cause)
          return same
        }
        // An entity that is on its way out takes nothing more; its successor will, once it has what was left.
        if (cellOf(ref)?.end === undefined && !all.succeeding.has(key)) c.forward(ref)
        else if (c.stash.size < capacity) c.stash.add(message)
        else buryPresent(c, 'mailbox-full')
        return same
      },
      (c, signal) => {
        if (signal.type !== 'ChildStopped') return unhandled
        if (all.gone(signal.child)) c.stash.unstashAll()
        return same
      },
    )
  })
  return withOptions(behavior, { stash: { capacity } })
}

class Entities<M> extends Succession {
  readonly living = new Map<string, ActorRef<M>>()
  /** Keys whose entity was made for what the one before left, while that one was still ending. */
  readonly succeeding = new Set<string>()
  readonly #keys = new Map<AnyRef, string>()
  readonly #ctx: ActorContext<never>
  readonly #options: EntitiesOptions<M>
  readonly #read: Omit<EntitiesOptions<M>, 'capacity'>
  /** The options of the entity that was made last, as they came and with this in place of their drain: most have the same. */
  #given: CellOptions | undefined
  #heired: CellOptions | undefined
  constructor(ctx: ActorContext<never>, options: EntitiesOptions<M>, read: Omit<EntitiesOptions<M>, 'capacity'>) {
    super()
    this.#ctx = ctx
    this.#options = options
    this.#read = read
    callsItsChildren(ctx.self, this.#keys)
  }

  keyOf(message: M): string {
    const key = message instanceof Keyed ? message.key : this.#options.keyOf(message)
    if (!isThenable(key)) return key
    observed(key, () => {})
    throw new NotAllowed(`keyOf of ${this.#ctx.path} returned a promise: a message has its key at once, or none. Put the key into the message.`)
  }

  spawn(key: string): ActorRef<M> {
    const { idle, options, canPassivate } = this.#read
    const can = canPassivate === undefined ? undefined : (): boolean => this.#options.canPassivate!(key)
    const ref = this.#ctx.spawn(passivating(this.#options.create(key), idle, can), options)
    const cell = cellOf(ref)!
    // Whoever says what becomes of the rest means it.
    if (cell.options.drain === 'dead-letter') cell.options = this.#withHeir(cell.options)
    this.living.set(key, ref)
    this.#keys.set(ref, key)
    return ref
  }
  #withHeir(given: CellOptions): CellOptions {
    if (this.#given !== given) {
      this.#given = given
      this.#heired = { ...given, drain: this }
    }
    return this.#heired!
  }

  /** Who takes what an entity leaves: its successor, made now, as all code of the old one has come to its end. */
  override successorOf(cell: Cell): Cell | undefined {
    const context = this.#ctx as unknown as Context
    const router = context.cell
    // One that never came up would come up for nobody else either.
    if (cell.end?.unstarted === true || context.ended || router.end !== undefined || router.phase === 'restarting') return undefined
    if (router.host.phase !== 'open') return undefined
    const key = this.#keys.get(cell.ref)
    if (key === undefined) return undefined
    const present = this.living.get(key)
    if (present !== undefined && present !== (cell.ref as AnyRef)) return cellOf(present)
    try {
      const successor = cellOf(this.spawn(key))
      this.succeeding.add(key)
      return successor
    } catch (cause) {
      router.host.logger.warn({ actor: router.ref.path, cause }, 'what an entity left is dead letters: no successor could be made')
      return undefined
    }
  }

  /** One has ended. True: whoever waits for that key need not wait any more. */
  gone(child: AnyRef): boolean {
    const key = this.#keys.get(child)
    if (key === undefined) return false
    this.#keys.delete(child)
    if (this.living.get(key) === (child as ActorRef<M>)) this.living.delete(key)
    else this.succeeding.delete(key)
    return true
  }
}
