// Questions that cross the border. Where it was asked the question stays what it is, with a number; where it is answered it
// has a mirror, whose answer goes back over the wire. Handed on to a third thread it goes there under its number, and the
// answer comes from there. Either side may end first: the other is told, so that an expired question is skipped and a dead
// one rejected at once.

import { type AnyRef, Cancelled } from '@troupe/core'
import { type Cell, cellOf, PendingAsk } from '@troupe/core/internal'
import { AddressRef } from '../values/address-ref.ts'
import { type Crossing, record } from '../way/crossing.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { NotTransferable } from '../errors.ts'
import { Mirror, type MirrorKeeper } from './mirror.ts'

interface Gone {
  readonly ask: PendingAsk
  /** The thread that has it. */
  holder: number
}

/** A question on the wire: where it was asked, and its number there. */
export interface QuestionMark {
  readonly origin: number
  readonly id: number
}

export class Questions implements MirrorKeeper {
  readonly #exchange: Exchange
  /** Asked here, under way or being answered there. */
  readonly #gone = new Map<number, Gone>()
  /** Asked elsewhere, being answered here: by the thread, and the number there. */
  readonly #mirrors = new Map<number, Map<number, Mirror>>()
  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.on('ask.cancelled', ({ id }, crossing) => this.#mirrors.get(crossing.peer)?.get(id)?.leave(new Cancelled('The question')))
    exchange.on('ask.moved', ({ id, to }) => this.#movedTo(id, to))
    exchange.on('ask.passed', ({ id, at }) => this.#passedTo(id, at))
  }

  /** The thread that has a question of this one; undefined where it never left, or has come back. */
  holderOf(ask: PendingAsk): number | undefined {
    const id = this.isMirror(ask) ? undefined : this.#exchange.addresses.known(ask)
    return id === undefined ? undefined : this.#gone.get(id)?.holder
  }
  isAway(ask: PendingAsk): boolean {
    return this.holderOf(ask) !== undefined
  }
  /** Questions of this thread that others have. */
  get pending(): number {
    return this.#gone.size
  }
  /** What stands here for questions of others. */
  get mirrors(): readonly Mirror[] {
    const all: Mirror[] = []
    for (const mirrors of this.#mirrors.values()) all.push(...mirrors.values())
    return all
  }
  /** Questions of others that this thread has. */
  get held(): number {
    let count = 0
    for (const mirrors of this.#mirrors.values()) count += mirrors.size
    return count
  }

  /**
   * Returns if a question was asked at another place of this border. One that came over another border, from a thread to this node, is a question of this
   * place for other nodes: they know none of its threads.
   */
  isMirror(ask: unknown): ask is Mirror {
    return ask instanceof Mirror && ask.isOf(this)
  }

  /** Where a question was asked, and its number there. */
  markOf(ask: PendingAsk): QuestionMark {
    return this.isMirror(ask) ? ask : { origin: this.#exchange.epoch, id: this.#exchange.addresses.idOf(ask) }
  }
  /** A question has gone over to a thread. */
  left(ask: PendingAsk, crossing: Crossing): void {
    if (this.isMirror(ask)) return this.#passedOn(ask, crossing)
    const { addresses } = this.#exchange
    const id = addresses.idOf(ask)
    const known = this.#gone.get(id)
    // From here on it is the thread that has it which says what becomes of it, also when it is handed on there; news of its target's
    // end come by another way, and may come first.
    ask.unlink()
    if (known !== undefined) known.holder = crossing.peer
    else {
      this.#gone.set(id, { ask, holder: crossing.peer })
      const before = ask.onSettled
      ask.onSettled = () => {
        before?.()
        const holder = this.#gone.get(id)?.holder
        this.#gone.delete(id)
        addresses.forget(id)
        // Whoever is to answer need not.
        if (holder !== undefined) this.#exchange.reach(holder, { op: 'ask.cancelled', id })
      }
    }
  }
  /** A question of another thread has gone on to a third, or back. */
  #passedOn(mirror: Mirror, crossing: Crossing): void {
    const { origin, id } = mirror
    mirror.leave(new Cancelled('The question'))
    if (crossing.peer !== origin) this.#exchange.reach(origin, { op: 'ask.passed', id, at: crossing.peer })
  }

  /** A question has come, for the actor of that number: what stands for it here. */
  arrived(mark: QuestionMark, target: Cell, uid: number, remaining: number, headers: PendingAsk['headers']): PendingAsk {
    const { origin, id } = mark
    const { epoch, addresses } = this.#exchange
    if (origin === epoch) {
      const own = addresses.get(id)
      this.#gone.delete(id)
      if (own instanceof PendingAsk && !own.settled) {
        own.moved(target)
        return own
      }
    }
    const mirror = new Mirror(this, origin, id, target, uid, remaining, headers)
    const crossing = this.#exchange.crossingTo(origin)
    if (crossing === undefined) {
      // Nobody waits for it any more: it is skipped when its turn comes.
      mirror.leave(new Cancelled('The question'))
      return mirror
    }
    let mirrors = this.#mirrors.get(origin)
    if (mirrors === undefined) this.#mirrors.set(origin, (mirrors = new Map()))
    mirrors.set(id, mirror)
    mirror.onSettled = () => this.#forget(mirror)
    mirror.link()
    if (mirror.settled) return mirror
    const { host } = target.dispatcher
    host.timers.set(mirror, host.runtime.now() + remaining)
    return mirror
  }
  #forget({ origin, id }: Mirror): void {
    const mirrors = this.#mirrors.get(origin)
    if (mirrors?.delete(id) === true && mirrors.size === 0) this.#mirrors.delete(origin)
  }
  /** What stands here for a question of another thread. */
  mirrorOf(origin: number, id: number): Mirror | undefined {
    return this.#mirrors.get(origin)?.get(id)
  }

  // What becomes of mirrors.

  answered(mirror: Mirror, answer: unknown): void {
    const crossing = this.#exchange.crossingTo(mirror.origin)
    if (crossing === undefined) return
    try {
      crossing.valued((w) => {
        w.byte(record.answer)
        w.whole(mirror.id)
      }, answer)
    } catch (cause) {
      this.refused(mirror, cause)
      this.#exchange.core.logger.error({ actor: mirror.target.ref.path, cause }, 'an answer could not go to the thread that asked')
    }
  }
  refused({ origin, id }: Mirror, cause: unknown): void {
    const crossing = this.#exchange.crossingTo(origin)
    const write = (value: unknown): void =>
      void crossing?.valued((w) => {
        w.byte(record.refusal)
        w.whole(id)
      }, value)
    try {
      write(cause)
    } catch (trouble) {
      write(trouble instanceof NotTransferable ? new Error(`A cause that cannot go to another thread: ${trouble.what}`) : trouble)
    }
  }
  moved(mirror: Mirror, to: Cell): void {
    const { origin, id } = mirror
    this.#exchange.reach(origin, { op: 'ask.moved', id, to: to.ref })
    this.#exchange.deadlocks.came(mirror, origin, id)
  }
  answeredElsewhere({ origin, id, path }: Mirror, answer: unknown): void {
    this.#exchange.tellAddress(new AddressRef(this.#exchange, origin, id, path), answer)
  }

  // What comes back.

  /** The answer has come. It was counted where it was given. */
  answerCame(id: number, answer: unknown): void {
    const gone = this.#gone.get(id)
    const { core } = this.#exchange
    if (gone === undefined) {
      // It was counted as handled, but nobody waited any more.
      core.ledger.handled--
      return core.bury(answer, undefined, undefined, 'late-reply')
    }
    this.#gone.delete(id)
    gone.ask.settleUncounted(answer)
  }
  refusalCame(id: number, cause: unknown): void {
    const gone = this.#gone.get(id)
    this.#gone.delete(id)
    gone?.ask.fail(cause)
  }
  /** Whoever had the question handed it on: that one is waited for now. */
  #movedTo(id: number, to: AnyRef): void {
    const cell = cellOf(to)
    const ask = this.#gone.get(id)?.ask
    if (cell === undefined || ask === undefined) return
    ask.moved(cell)
    ask.unlink()
  }
  #passedTo(id: number, at: number): void {
    const gone = this.#gone.get(id)
    if (gone === undefined) return this.#exchange.reach(at, { op: 'ask.cancelled', id })
    gone.holder = at
    if (this.#exchange.isLost(at)) this.#lostWith(id, gone.ask, this.#exchange.lossOf(at))
    else this.#exchange.deadlocks.went(gone.ask)
  }

  /** A question was on a thread that is gone. */
  #lostWith(id: number, ask: PendingAsk, cause: unknown): void {
    // One that was ended because its actor had: whoever asked that one is told so.
    if ((cause as { readonly why?: unknown } | undefined)?.why === 'retired') ask.end('stopped', undefined)
    else this.refusalCame(id, cause)
  }
  /** A thread is lost: what it was asked gets no answer, and nobody waits for what it asked. */
  lost(peer: number, cause: unknown): void {
    for (const [id, { holder, ask }] of this.#gone) if (holder === peer) this.#lostWith(id, ask, cause)
    const mirrors = this.#mirrors.get(peer)
    this.#mirrors.delete(peer)
    for (const mirror of mirrors?.values() ?? []) mirror.leave(cause)
  }
}
