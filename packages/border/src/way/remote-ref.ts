// An actor of another thread, as this one sees it: a ref with a cell behind it, so that asks, watches and offers work
// as they do for actors that live here. The cell never has a turn: what it is told goes to the actor's thread as long
// as there is credit, and waits in its mailbox otherwise; what it is asked to do goes to the actor's home. Those who watch it hear
// of its end here (`finish`), once whereabouts has.

import { ignore, OfferRefused, type Phase } from '@troupe/core'
import {
  type BehaviorNode,
  Cell,
  type CellOptions,
  type Command,
  defaultOptions,
  drainMailbox,
  type EndInfo,
  Extras,
  HandleRef,
  LocalRef,
  MessageRing,
  type Meta,
  Protocol,
  tellWatchers,
} from '@troupe/core/internal'
import type { Exchange } from '../exchange/exchange.ts'
import { Lives } from './lives.ts'
import { homeOf } from '../values/epochs.ts'
import { WireQueue } from './wire-queue.ts'

const options: CellOptions = { ...defaultOptions, mailbox: { kind: 'wire', create: () => new MessageRing() } }

/** Where what waits is bounded offers wait for credit. */
const blocking: CellOptions = { ...options, mailbox: { kind: 'wire', overflow: 'block', create: () => new MessageRing() } }

/** The ref of an actor of another thread; that of a class actor has its methods. */
export type RemoteRef = PlainRemoteRef | RemoteHandle

class PlainRemoteRef extends LocalRef {
  readonly #path: string
  constructor(uid: number, path: string) {
    super(undefined, path.slice(path.lastIndexOf('/') + 1), uid)
    this.#path = path
  }
  override get base(): string {
    return this.#path
  }
}

class RemoteHandle extends HandleRef {
  readonly #path: string
  constructor(uid: number, path: string, protocol: Protocol) {
    super(undefined, path.slice(path.lastIndexOf('/') + 1), uid, protocol)
    this.#path = path
  }
  override get base(): string {
    return this.#path
  }
}

/** A ref for an actor of another place; with the methods of its class, if it is one of a class. */
export function makeRemoteRef(uid: number, path: string, methods: readonly string[] | undefined): RemoteRef {
  return methods === undefined ? new PlainRemoteRef(uid, path) : new RemoteHandle(uid, path, protocolOf(methods))
}

/** One for each class that was met: handles share what they have of it. */
const protocols = new Map<string, Protocol>()

function protocolOf(methods: readonly string[]): Protocol {
  const key = methods.join('\0')
  let protocol = protocols.get(key)
  if (protocol === undefined) protocols.set(key, (protocol = new Protocol(methods)))
  return protocol
}

/** What stands at this place for an actor of another. */
export class ProxyCell extends Cell {
  readonly exchange: Exchange
  readonly wire: WireQueue
  /** The thread it runs on, as far as is known. */
  at: number | undefined
  /** Its phase, as its home told it last. */
  told: Phase = 'running'
  override get phaseSeen(): Phase {
    return this.phase === 'terminated' ? 'terminated' : this.told
  }
  /** The thread that knows what became of it. */
  get home(): number {
    return homeOf(this.far)
  }
  /** The number by which its home knows it. */
  readonly far: number

  constructor(ref: RemoteRef, exchange: Exchange, at: number | undefined, far: number, drain?: CellOptions['drain']) {
    const base = exchange.bounded ? blocking : options
    super(ref, exchange.core.dispatchers.fallback, drain === undefined ? base : { ...base, drain }, ignore as BehaviorNode)
    this.far = far
    this.exchange = exchange
    this.at = at
    this.phase = 'running'
    this.wire = new WireQueue(this, new MessageRing(), exchange)
    this.queue = this.wire
  }

  /** Those who wait for the end of one life; only where the ref outlives its actor. */
  lives: Lives | undefined
  /** Its ref outlives its actor: a watch is of the present life, and goes behind what waits here for credit. */
  lasts(): void {
    const { exchange, wire } = this
    this.lives ??= new Lives(this, {
      soon: (task) => (wire.size === 0 ? exchange.core.runtime.wake(task) : wire.whenEmpty(task)),
      watch: (onEnd) => exchange.whereabouts.watchLife(this, onEnd),
    })
  }

  /** Whether its home was asked to tell of its end. */
  isFollowed = false
  /** True while `Whereabouts` holds it for its waiters. */
  isAwaited = false
  /** True if its end, or an answer of it, is waited for. */
  get hasWaiters(): boolean {
    const { extras } = this
    if (extras === undefined) return false
    const { watchers, asked, startWaiters, endWaiters, endHooks } = extras
    return (watchers?.size ?? 0) > 0 || asked !== undefined || startWaiters !== undefined || endWaiters !== undefined || endHooks !== undefined
  }
  override ensureExtras(): Extras {
    // Not made here where it has children on this thread, who do not wait for its end.
    const extras = this.lives?.extras() ?? (this.extras ??= new Extras())
    // Somebody wants to know how it ends, or waits for an answer: from now on its home tells us.
    if (!this.isAwaited && this.phase !== 'terminated') this.exchange.whereabouts.follow(this)
    return extras
  }
  override put(message: unknown, meta: Meta): void {
    this.wire.push(message, meta)
  }
  /** Takes a message that is already counted as sent; returns the bytes that it takes, on its way or here, and 0 if it was refused. */
  pass(message: unknown, meta: Meta): number {
    if (this.phase === 'running') return this.wire.push(message, meta)
    this.accept(message, meta)
    return 0
  }
  override rouse(): void {}
  override signal(): void {}
  override command(command: Command): void {
    if (this.phase === 'terminated') return
    const { verb } = command
    if (verb === 'stop' || verb === 'kill' || verb === 'suspend' || verb === 'resume' || verb === 'restart')
      this.exchange.crossingTo(this.home)?.control({ op: 'verb', uid: this.far, command })
  }

  /** It is gone: what waits for it is drained, and those who wait for the news are told. */
  finish(end: EndInfo): void {
    if (this.phase === 'terminated') return
    this.wire.unlink()
    this.phase = 'stopped'
    this.info = end
    this.wire.endWaits(new OfferRefused(this.ref.path, 'the actor has stopped'))
    // It has no turns that could go on with it.
    while (!drainMailbox(this, end));
    this.phase = 'terminated'
    const extras = this.extras
    if (extras === undefined) return
    for (const hook of extras.endHooks ?? []) hook()
    for (let ask = extras.asked; ask !== undefined; ask = extras.asked) ask.end('stopped', end.cause)
    tellWatchers(this, extras, end.reason, end.cause, Infinity)
    for (const waiter of extras.startWaiters ?? []) waiter(undefined)
    for (const waiter of extras.endWaiters ?? []) waiter({ reason: end.reason, cause: end.cause })
    // Watches of an actor that is gone find its end in the cell.
    extras.endWaiters = undefined
    extras.startWaiters = undefined
  }
}
