// Who of several gets a message. A strategy is a plain value that many routers may share; what it remembers is made
// anew for each router, and for each of its incarnations.

import { cellOf } from '../../cell/ref/local-ref.ts'
import { checkFinite, checkFunction, readOptions, unreadable } from '../../values/checks.ts'
import { InvalidOption, NotAllowed } from '../../values/errors.ts'
import type { ActorRef } from '../../values/ref.ts'
import { isThenable, observed } from '../../values/thenable.ts'
import { hashOf, highestBidder } from './hash.ts'

/** What a strategy sees of a routee. */
export interface Candidate {
  /** What it is known by to consistent hashing: the same for whoever takes its place. */
  readonly id: string
  readonly hash: number
  /** Messages that wait for it or are being handled; 0 for an actor elsewhere, which cannot be seen from here. */
  readonly load: number
}

/** One of those that a router chooses from. */
export class Routee<in M> implements Candidate {
  readonly ref: ActorRef<M>
  readonly id: string
  readonly hash: number
  constructor(ref: ActorRef<M>, id: string) {
    this.ref = ref
    this.id = id
    this.hash = hashOf(id)
  }
  get load(): number {
    const cell = cellOf(this.ref)
    if (cell === undefined) return 0
    const busy = cell.ctx?.message !== undefined || cell.extras?.pending !== undefined ? 1 : 0
    return cell.queuedMessages + busy + (cell.extras?.calls?.size ?? 0)
  }
}

/** Picks the index of one routee; there is at least one. */
export type Picker<in M> = (message: M, routees: readonly Candidate[]) => number

/** How a router chooses: one routee, all of them, or the first that answers. */
export type RoutingStrategy<M> =
  | { readonly mode: 'one'; readonly kind: string; create(random: () => number): Picker<M> }
  | { readonly mode: 'all'; readonly kind: string }
  | { readonly mode: 'first'; readonly kind: string; readonly timeout: number }

/** Refuses what is not a strategy, where it is given to a router. */
export function checkStrategy(option: string, value: unknown): unknown {
  try {
    const { mode, create, timeout } = value as { readonly mode?: unknown; readonly create?: unknown; readonly timeout?: unknown }
    if (mode === 'all' || (mode === 'one' && typeof create === 'function') || (mode === 'first' && checkFinite('timeout', timeout, 'above')))
      return value
  } catch (cause) {
    throw unreadable(option, value, cause)
  }
  throw new InvalidOption(option, value, 'use roundRobin(), leastLoaded(), or another strategy')
}

/** Whose turn it is. Where routees came or went, it goes on behind the last one that was served and is still there: nobody is skipped. */
class Rotation {
  #routees: readonly Candidate[] = []
  /** Behind the one that was served last. */
  #next = 0
  next(routees: readonly Candidate[]): number {
    if (routees !== this.#routees) {
      const places = new Map(routees.map(({ id }, place) => [id, place]))
      const last = this.#routees.slice(0, this.#next).findLast(({ id }) => places.has(id))
      this.#next = last === undefined ? 0 : places.get(last.id)! + 1
      this.#routees = routees
    }
    return this.#next < routees.length ? this.#next : 0
  }
  served(place: number): number {
    this.#next = place + 1
    return place
  }
}

/**
 * One after the other.
 *
 * @example
 * pool(worker(), { size: 8, strategy: roundRobin() })
 */
export function roundRobin(): RoutingStrategy<unknown> {
  return {
    mode: 'one',
    kind: 'round-robin',
    create: () => {
      const turns = new Rotation()
      return (_message, routees) => turns.served(turns.next(routees))
    },
  }
}

/**
 * Any of them, by the system's own chance.
 *
 * @example
 * pool(worker(), { size: 8, strategy: random() })
 */
export function random(): RoutingStrategy<unknown> {
  return { mode: 'one', kind: 'random', create: (chance) => (_message, routees) => Math.floor(chance() * routees.length) }
}

/**
 * The one with the fewest messages waiting or in progress; equals one after the other.
 *
 * @example
 * pool(worker(), { size: 8, strategy: leastLoaded() })
 */
export function leastLoaded(): RoutingStrategy<unknown> {
  return {
    mode: 'one',
    kind: 'least-loaded',
    create: () => {
      const turns = new Rotation()
      return (_message, routees) => {
        const count = routees.length
        const start = turns.next(routees)
        let best = start
        let least = routees[best]!.load
        for (let i = 1; i < count && least > 0; i++) {
          const at = (start + i) % count
          const { load } = routees[at]!
          if (load < least) {
            least = load
            best = at
          }
        }
        return turns.served(best)
      }
    },
  }
}

/**
 * Messages of one key go to the same routee, as long as it is there. When one of n routees comes or goes only its own
 * share moves, about 1/n of the keys; the others stay where they are.
 *
 * @example
 * pool(session(), { size: 8, strategy: consistentHash<Request>((r) => r.userId) })
 */
export function consistentHash<M>(keyOf: (message: M) => string | number): RoutingStrategy<M> {
  checkFunction('keyOf', keyOf)
  const pick: Picker<M> = (message, routees) => highestBidder(hashOf(keyText(keyOf(message))), routees)
  return { mode: 'one', kind: 'consistent-hash', create: () => pick }
}

/**
 * Everybody gets every message. An ask is answered by whoever is first; later answers are dead letters.
 *
 * @example
 * pool(cache(), { size: 4, strategy: broadcast() })
 */
export function broadcast(): RoutingStrategy<unknown> {
  return { mode: 'all', kind: 'broadcast' }
}

/**
 * Asks everybody and passes on the first answer; the other questions are called off. When nobody answers in time, the
 * asker is told so. For messages with a `replyTo`; others are unhandled.
 *
 * @example
 * group([eu, us], { strategy: scatterGatherFirst({ timeout: 200 }) })
 */
export function scatterGatherFirst(options: { readonly timeout: number }): RoutingStrategy<unknown> {
  const { timeout } = readOptions('scatterGatherFirst', options, { timeout: [checkFinite, 'above', true] })
  return { mode: 'first', kind: 'scatter-gather-first', timeout }
}

function keyText(key: unknown): string {
  if (!isThenable(key)) return String(key)
  observed(key, () => {})
  throw new NotAllowed('keyOf of a router returned a promise: a message has its key at once, or none. Put the key into the message.')
}
