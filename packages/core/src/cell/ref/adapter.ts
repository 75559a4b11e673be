// A ref of another protocol that leads to an actor: what it is told is turned into the actor's own messages, in the
// actor's turn, so that a throwing adapter is a failure of the actor and of nobody else.

import type { AbortSignalLike } from '../../values/abort.ts'
import { NotAllowed } from '../../values/errors.ts'
import type { ActorRef, AnyRef, AskOptions, TellOptions } from '../../values/ref.ts'
import { isThenable, observed } from '../../values/thenable.ts'
import { askCell, contextNow, type PendingAsk } from '../ask/ask.ts'
import type { Cell } from '../turn/cell.ts'
import type { Context } from '../context/context.ts'
import { askedBy, Envelope, headersOf, type Meta, onwardOf, senderOf, Told } from '../message/envelope.ts'
import { entering } from '../message/entering.ts'
import { metaFrom } from './local-ref.ts'
import { offerTo } from './offer.ts'

export class Adapter implements ActorRef<unknown> {
  declare readonly uid: number
  declare readonly key: string
  declare readonly cell: Cell
  /** The incarnation it belongs to, by its context. */
  readonly #of: Context | undefined
  #fn: ((message: unknown) => unknown) | undefined
  constructor(cell: Cell, key: string, uid: number, fn: (message: unknown) => unknown) {
    this.cell = cell
    this.key = key
    this.uid = uid
    this.#of = cell.ctx
    this.#fn = fn
  }
  get path(): string {
    return `${this.cell.ref.path}/$adapter:${this.key}`
  }
  /** What the actor makes of a foreign message; undefined once the adapter has ended. */
  get fn(): ((message: unknown) => unknown) | undefined {
    return this.cell.ctx === this.#of ? this.#fn : undefined
  }
  end(): void {
    this.#fn = undefined
  }
  tell(message: unknown, options?: AnyRef | TellOptions): void {
    const meta = options === undefined ? undefined : metaFrom(options)
    if (message === undefined) this.cell.send(message, meta)
    else this.cell.send(message, new Adapted(this, meta))
  }
  ask(question: unknown, options?: AskOptions): Promise<never> {
    return this.askAs(contextNow(this.cell.host), false, question, options)
  }
  /** Asks on behalf of a context, whose incarnation the question ends with if it is `owned`. */
  askAs(asker: Context | undefined, owned: boolean, question: unknown, options: AskOptions | undefined): Promise<never> {
    return askCell(this.cell, question, options, asker, { owned, wrap: (ask) => new Adapted(this, ask) }) as Promise<never>
  }
  offer(message: unknown, options?: { readonly signal?: AbortSignalLike | undefined }): Promise<void> {
    return offerTo(this.cell, message, new Adapted(this, undefined), options)
  }
  stop(): void {
    this.end()
  }
  toString(): string {
    return `ActorRef(${this.path})`
  }
}

/** The adapter that a ref is, if it is one. */
export function adapterOf(ref: unknown): Adapter | undefined {
  try {
    return ref instanceof Adapter ? ref : undefined
  } catch {
    return undefined
  }
}

/** The envelope of a message that came through an adapter. */
export class Adapted extends Told {
  declare readonly adapter: Adapter
  declare readonly inner: Meta
  constructor(adapter: Adapter, inner: Meta) {
    super(senderOf(inner), headersOf(inner), inner instanceof Envelope ? inner.priority : undefined)
    this.adapter = adapter
    this.inner = inner
  }
  override open(cell: Cell, message: unknown): unknown {
    const { fn } = this.adapter
    if (fn === undefined) {
      cell.host.bury(message, this.inner, this.adapter, 'stale-adapter')
      return undefined
    }
    const opened = this.inner instanceof Envelope ? this.inner.open(cell, message) : message
    return opened === undefined ? undefined : this.#adapt(cell, fn, opened)
  }
  override end(reason: 'failed' | 'unhandled' | 'refused' | 'stopped', cause: unknown): void {
    if (this.inner instanceof Envelope) this.inner.end(reason, cause)
  }
  override get deadline(): number {
    return this.inner instanceof Envelope ? this.inner.deadline : Infinity
  }
  override onward(): Meta {
    return onwardOf(this.inner)
  }
  override asked(): PendingAsk | undefined {
    return askedBy(this.inner)
  }
  override moved(to: Cell): void {
    if (this.inner instanceof Envelope) this.inner.moved(to)
  }
  /** Marks the message as the one in progress first, so that a throw is accounted for like a handler's. */
  #adapt(cell: Cell, fn: (message: unknown) => unknown, message: unknown): unknown {
    const ctx = cell.ctx!
    ctx.begin(message, this)
    const adapted = entering(ctx, () => fn(message))
    if (adapted !== message && isThenable(adapted)) {
      observed(adapted, () => {})
      throw new NotAllowed(`${this.adapter.path} made a promise of a message. It makes another message, at once; await first, and use pipeToSelf.`)
    }
    // The handler's context, which may be another one, is told by its caller.
    ctx.clear()
    if (adapted !== undefined) return adapted
    cell.host.bury(message, this.inner, this.adapter, 'undefined-message')
    return undefined
  }
}
