// Refs of sharded actors. They say which kind and which id, and nothing of where that actor is now: the same on every node, and as good after it
// has moved. A message that is told to one is passed to the region of its kind, which knows the way.

import { LastingCell, Lives, type OtherRefs } from '@troupe/border'
import { type ActorRef, type AnyRef, ignore, NotAllowed, OfferRefused, type WaitingOffer } from '@troupe/core'
import {
  type BehaviorNode,
  type Cell,
  type CellOptions,
  defaultOptions,
  type FrontableQueue,
  LocalRef,
  MessageRing,
  type Meta,
  type SystemCore,
} from '@troupe/core/internal'

import type { EntityOffer } from '../sharding/accounts.ts'
import { entry, type Entry } from '../sharding/letter.ts'
import type { EntityEnd } from '../sharding/watches.ts'

/** Who takes messages for the actors of a kind. */
export interface EntityTaker {
  take(id: string, message: unknown, meta: Meta, how: Entry): void
  offer(id: string, offer: EntityOffer): void
  /** Somebody on this node wants to hear of the end of an actor; returns what ends that. */
  watch(id: string, onEnd: (end: EntityEnd) => void): () => void
}

/** Every offer is the taker's to let wait: it knows the way to the mailbox of the actor. */
const options: CellOptions = { ...defaultOptions, mailbox: { kind: 'sharded', overflow: 'block', create: () => new MessageRing() } }

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

/** Where offers are given to the taker. What its cell is told never gets here. */
class EntityQueue implements FrontableQueue {
  readonly size = 0
  readonly meta = undefined
  readonly #cell: EntityCell
  constructor(cell: EntityCell) {
    this.#cell = cell
  }
  push(): void {}
  unshift(): void {}
  shift(): undefined {}
  hasRoom(): false {
    return false
  }
  wait(offer: WaitingOffer): void {
    this.#cell.offer(offer)
  }
}

/** Stands on each node for one sharded actor, wherever that is. It never has a turn. */
class EntityCell extends LastingCell {
  readonly kind: string
  readonly id: string
  readonly #refs: EntityRefs
  #how: Entry = entry.told
  readonly lives: Lives
  constructor(refs: EntityRefs, core: SystemCore, kind: string, id: string) {
    super(new EntityRef(`/sharded/${kind}/${id}`, core.nextUid()), core.dispatchers.fallback, options, ignore as BehaviorNode)
    this.kind = kind
    this.id = id
    this.#refs = refs
    this.phase = 'running'
    this.queue = new EntityQueue(this)
    this.lives = new Lives(this, { soon: (task) => refs.soon(task), watch: (onEnd) => refs.watch(this, onEnd) })
  }
  override put(message: unknown, meta: Meta): void {
    this.#refs.take(this, message, meta, this.#how)
  }
  offer(waiting: WaitingOffer): void {
    this.#refs.offer(this, { waiting, path: this.ref.path, send: () => this.#sendOffered(waiting) })
  }
  #sendOffered(offer: WaitingOffer): void {
    // It may have waited longer than there is a cluster.
    if (this.phase === 'terminated') return offer.fail(new OfferRefused(this.ref.path, 'the actor has stopped'))
    this.#how = entry.offered
    try {
      this.send(offer.message, offer.meta as Meta)
    } finally {
      this.#how = entry.told
    }
    offer.took()
  }
  override rouse(): void {}
  override signal(): void {}
  // Its life is the region's affair.
  override command(): void {}

  /** There is no cluster any more: whoever watches it hears so. */
  finish(cause: unknown): void {
    if (this.phase === 'terminated') return
    const end = { reason: 'failure' as const, cause }
    this.phase = 'stopped'
    this.info = end as never
    this.phase = 'terminated'
    const { extras } = this
    if (extras === undefined) return
    for (let ask = extras.asked; ask !== undefined; ask = extras.asked) ask.end('stopped', cause)
    this.lives.ended(end)
  }
}

export class EntityRefs implements OtherRefs {
  readonly #core: SystemCore
  readonly #takers = new Map<string, EntityTaker>()
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

  take({ kind, id, ref }: EntityCell, message: unknown, meta: Meta, how: Entry): void {
    const taker = this.#takers.get(kind)
    if (taker === undefined) this.#core.bury(message, meta, ref, 'unknown-kind')
    else taker.take(id, message, meta, how)
  }
  offer({ kind, id }: EntityCell, offer: EntityOffer): void {
    const taker = this.#takers.get(kind)
    if (taker === undefined) offer.send()
    else taker.offer(id, offer)
  }

  watch({ kind, id }: EntityCell, onEnd: (end: EntityEnd) => void): () => void {
    const taker = this.#takers.get(kind)
    if (taker !== undefined) return taker.watch(id, onEnd)
    onEnd({
      reason: 'failure',
      cause: new NotAllowed(`${kind} is not registered on this node: call cluster.sharded for it before its actors are watched.`),
    })
    return () => {}
  }
  /** Does something when the turn that is on is over. */
  soon(task: () => void): void {
    this.#core.runtime.wake(task)
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
