// Refs of sharded actors. They say which kind and which id, and nothing of where that actor is now: the same on every node, and as good after it
// has moved. A message that is told to one is passed to the region of its kind, which knows the way.

import type { OtherRefs } from '@troupe/border'
import { type ActorRef, type AnyRef, ignore } from '@troupe/core'
import {
  type BehaviorNode,
  Cell,
  defaultOptions,
  type FrontableQueue,
  LocalRef,
  type Meta,
  type SystemCore,
  tellWatchers,
} from '@troupe/core/internal'

/** Who takes messages for the actors of a kind. */
export interface EntityTaker {
  /** Whether more may wait here for its actors. */
  readonly hasRoom: boolean
  take(id: string, message: unknown, meta: Meta): void
}

class EntityRef extends LocalRef {
  readonly #path: string
  constructor(path: string, uid: number) {
    super(undefined, path.slice(path.lastIndexOf('/') + 1), uid)
    this.#path = path
  }
  override get base(): string {
    return this.#path
  }
}

/** What an offer asks: there is room as long as what waits on this node for the actors of the kind is within its bound. */
class EntityQueue implements FrontableQueue {
  readonly size = 0
  readonly meta = undefined
  readonly #hasRoom: () => boolean
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom
  }
  // What its cell is told never gets here.
  push(): void {}
  unshift(): void {}
  shift(): undefined {}
  hasRoom(): boolean {
    return this.#hasRoom()
  }
}

/** Stands on each node for one sharded actor, wherever that is. It never has a turn. */
class EntityCell extends Cell {
  readonly kind: string
  readonly id: string
  readonly #refs: EntityRefs
  constructor(refs: EntityRefs, core: SystemCore, kind: string, id: string) {
    super(new EntityRef(`/sharded/${kind}/${id}`, core.nextUid()), core.dispatchers.fallback, defaultOptions, ignore as BehaviorNode)
    this.kind = kind
    this.id = id
    this.#refs = refs
    this.phase = 'running'
    this.queue = refs.queueOf(kind)
  }
  override put(message: unknown, meta: Meta): void {
    this.#refs.take(this, message, meta)
  }
  override rouse(): void {}
  override signal(): void {}
  // Its life is the region's affair.
  override command(): void {}

  /** There is no cluster any more: whoever watches it hears so. */
  finish(cause: unknown): void {
    if (this.phase === 'terminated') return
    const end = { reason: cause === undefined ? ('normal' as const) : ('failure' as const), cause }
    this.phase = 'stopped'
    this.info = end as never
    this.phase = 'terminated'
    const { extras } = this
    if (extras === undefined) return
    for (let ask = extras.asked; ask !== undefined; ask = extras.asked) ask.end('stopped', cause)
    tellWatchers(this, extras, end.reason, cause, Infinity)
    for (const waiter of extras.endWaiters ?? []) waiter(end)
  }
}

export class EntityRefs implements OtherRefs {
  readonly #core: SystemCore
  readonly #takers = new Map<string, EntityTaker>()
  readonly #queues = new Map<string, EntityQueue>()
  readonly #refs = new Map<string, WeakRef<LocalRef>>()
  readonly #forgotten: FinalizationRegistry<string>
  #over: { readonly cause: unknown } | undefined

  constructor(core: SystemCore) {
    this.#core = core
    this.#forgotten = new FinalizationRegistry((text) => {
      if (this.#refs.get(text)?.deref() === undefined) this.#refs.delete(text)
    })
  }

  /** Says who takes messages for the actors of a kind. */
  register(kind: string, taker: EntityTaker): void {
    this.#takers.set(kind, taker)
  }

  /** The one ref of this node for an actor of a kind. */
  ref(kind: string, id: string): ActorRef<never> {
    const text = `${kind}/${id}`
    const known = this.#refs.get(text)?.deref()
    if (known !== undefined) return known
    const cell = new EntityCell(this, this.#core, kind, id)
    if (this.#over !== undefined) cell.finish(this.#over.cause)
    this.#refs.set(text, new WeakRef(cell.ref))
    this.#forgotten.register(cell.ref, text)
    return cell.ref
  }

  /** One for all refs of a kind. */
  queueOf(kind: string): EntityQueue {
    let queue = this.#queues.get(kind)
    if (queue === undefined) this.#queues.set(kind, (queue = new EntityQueue(() => this.#takers.get(kind)?.hasRoom ?? true)))
    return queue
  }

  take({ kind, id, ref }: EntityCell, message: unknown, meta: Meta): void {
    const taker = this.#takers.get(kind)
    if (taker === undefined) this.#core.bury(message, meta, ref, 'unknown-kind')
    else taker.take(id, message, meta)
  }

  write(cell: Cell): string | undefined {
    return cell instanceof EntityCell ? `${cell.kind}/${cell.id}` : undefined
  }
  read(text: string): AnyRef {
    const slash = text.indexOf('/')
    return this.ref(text.slice(0, slash), text.slice(slash + 1))
  }

  close(cause: unknown): void {
    this.#over = { cause }
    for (const ref of this.#refs.values()) (ref.deref()?.cell as EntityCell | undefined)?.finish(cause)
  }
}
