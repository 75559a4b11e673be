// A router over children of its own. A routee that fails is first of all its supervision's affair; one that is gone for
// good is replaced where the policy says so, and when the last is gone the pool goes too. It has started when they have.

import { type Behavior, receive, same, setup, stopped, unhandled } from '../../values/behavior.ts'
import { checkCan, checkFinite, checkFunction, checkObject, checkOneOf, checkPart, checkWhole, readOptions, type Table } from '../../values/checks.ts'
import type { ActorContext } from '../../values/context.ts'
import type { SpawnOptions } from '../../values/options.ts'
import type { AnyRef } from '../../values/ref.ts'
import type { ExitReason } from '../../values/signals.ts'
import { cellOf } from '../../cell/ref/local-ref.ts'
import { disarmStep } from '../../cell/life/step-timer.ts'
import { tellAny } from '../../cell/message/telling.ts'
import { hostOfRef } from '../host-of.ts'
import { RouterCommand } from './command.ts'
import { Routing } from './routing.ts'
import { checkStrategy, roundRobin, Routee, type RoutingStrategy } from './strategy.ts'

type Replace = 'on-failure' | 'always' | 'never'
interface ReplacementLimit {
  readonly replacements: number
  readonly within: number
}

/** How a pool is set up. */
export interface PoolOptions<M> {
  /** How many routees it begins with. */
  readonly size: number
  /** Round-robin if left out. */
  readonly strategy?: RoutingStrategy<M> | undefined
  /** Which messages go to all routees, whatever the strategy: such as one that empties their caches. None, if left out. */
  readonly broadcast?: ((message: M) => boolean) | undefined
  /** How each routee is spawned; names are the pool's affair. */
  readonly options?: Omit<SpawnOptions, 'name'> | undefined
  /** Whether a routee that is gone for good gets a successor: if it failed or was killed (default), always, or never. */
  readonly replace?: Replace | undefined
  /** At most so many successors within so many milliseconds, 10 in 10,000 if left out; beyond that the pool shrinks. */
  readonly limit?: ReplacementLimit | undefined
}

const limitTable: Table<ReplacementLimit> = { replacements: [checkWhole, 0], within: [checkFinite, 'above'] }
const table: Table<PoolOptions<unknown>> = {
  size: [checkWhole, 1, true],
  strategy: checkStrategy,
  broadcast: checkFunction,
  options: checkObject,
  replace: [checkOneOf, ['on-failure', 'always', 'never']],
  limit: [checkPart, limitTable],
}

/**
 * A router over `size` children that all run `worker`.
 *
 * Guarantees: each message goes to one routee (or all, as the strategy says) with sender, headers and ask intact; has started when its
 * routees have; survives the loss of a routee and stops with the last. Fails: `InvalidOption` on a wrong option; its start if none
 * of its routees comes up; a message that finds no routee is a dead letter `no-routees`.
 *
 * @example
 * const workers = system.spawn(pool(resizer(), { size: 4, strategy: leastLoaded() }), { name: 'resizers' })
 * workers.tell({ type: 'shrink', file })
 */
export function pool<M>(worker: Behavior<M> | (() => Behavior<M>), options: PoolOptions<M>): Behavior<M | RouterCommand> {
  if (typeof worker !== 'function') checkCan('worker', worker, ['a behavior, or a function that makes one', 'onSignal'])
  const read = readOptions('pool', options, table as Table<PoolOptions<M>>)
  const { size, replace = 'on-failure' } = read
  const limit = { replacements: 10, within: 10_000, ...read.limit }
  return setup<M | RouterCommand>(async (ctx) => {
    const members = new Pool<M>(ctx, worker, read, replace, limit)
    await members.start(size)
    return receive(
      (c, message) => {
        if (!(message instanceof RouterCommand)) return members.routing.route(c, message) as Behavior<M | RouterCommand>
        const { order } = message
        if (order.verb === 'resize') members.resize(order.size)
        else if (order.verb === 'list') tellAny(hostOfRef(c.self), order.to, members.routing.refs)
        else return unhandled
        return same
      },
      (_c, signal) => {
        if (signal.type !== 'ChildStopped') return unhandled
        return members.lost(signal.child, signal.reason) ? same : stopped
      },
    )
  })
}

class Pool<M> {
  readonly routing: Routing<M>
  readonly #ctx: ActorContext<never>
  readonly #make: () => Behavior<M>
  readonly #options: Omit<SpawnOptions, 'name'>
  readonly #replace: Replace
  readonly #limit: ReplacementLimit
  /** When the recent successors were made, oldest first. */
  #replaced: number[] = []
  #spawned = 0
  constructor(
    ctx: ActorContext<never>,
    worker: Behavior<M> | (() => Behavior<M>),
    options: PoolOptions<M>,
    replace: Replace,
    limit: ReplacementLimit,
  ) {
    this.#ctx = ctx
    this.#make = typeof worker === 'function' ? worker : () => worker
    this.#options = options.options ?? {}
    this.#replace = replace
    this.#limit = limit
    this.routing = new Routing(options.strategy ?? roundRobin(), ctx.self, options.broadcast)
  }
  /**
   * Begins with so many, and is done when each is up, or replaced by one that is, or has another try before it; fails if none is left.
   * Takes as long as routees may take to start, and no longer once the pool is to stop.
   */
  async start(size: number): Promise<void> {
    const { signal, self } = this.#ctx
    this.resize(size)
    const starts = this.routing.routees.map((routee) => this.#up(routee))
    // By now its own deadline is armed; it is the routees' that counts.
    await Promise.resolve()
    if (!signal.aborted) disarmStep(cellOf(self)!)
    await Promise.race([Promise.all(starts), new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))])
  }
  async #up({ id, ref }: Routee<M>): Promise<void> {
    const cell = cellOf(ref)!
    const error = await new Promise((settle) => (cell.ensureExtras().startWaiters ??= []).push(settle))
    if (error === undefined || this.#ctx.signal.aborted) return
    if (!this.lost(ref, cell.end!.reason)) throw error
    const successor = this.routing.routees.find((routee) => routee.id === id)
    if (successor !== undefined) await this.#up(successor)
  }
  resize(size: number): void {
    const { routees } = this.routing
    const kept = routees.slice(0, size)
    const taken = new Set(kept.map((r) => r.id))
    for (let slot = 0; kept.length < size; slot++) if (!taken.has(String(slot))) kept.push(this.#spawn(String(slot)))
    this.routing.routees = kept
    for (const { ref } of routees.slice(size)) ref.stop({ after: 'queued' })
  }
  /** A child is gone for good. False: it was the last, and has no successor. */
  lost(child: AnyRef, reason: ExitReason): boolean {
    const { routees } = this.routing
    const at = routees.findIndex((r) => (r.ref as AnyRef) === child)
    if (at < 0) return true
    const rest = routees.filter((_, i) => i !== at)
    // The successor takes the slot, so that consistent hashing sends it the same keys.
    this.routing.routees = this.#mayReplace(reason) ? routees.with(at, this.#spawn(routees[at]!.id)) : rest
    return this.routing.routees.length > 0
  }
  #mayReplace(reason: ExitReason): boolean {
    const wanted = this.#replace === 'always' || (this.#replace === 'on-failure' && (reason === 'failure' || reason === 'killed'))
    if (!wanted) return false
    const now = hostOfRef(this.#ctx.self).runtime.now()
    this.#replaced = this.#replaced.filter((at) => now - at < this.#limit.within)
    if (this.#replaced.length >= this.#limit.replacements) {
      this.#ctx.log.warn({ limit: this.#limit }, 'a routee is not replaced: too many were, recently')
      return false
    }
    this.#replaced.push(now)
    return true
  }
  #spawn(slot: string): Routee<M> {
    return new Routee(this.#ctx.spawn(this.#make(), { ...this.#options, name: `routee-${++this.#spawned}` }), slot)
  }
}
