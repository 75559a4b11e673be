// What this node has under way to sharded actors of a kind on other nodes, by actor: an account says how much its actor has not taken yet, and keeps what
// must wait until it has. So a slow actor holds up what is for itself, and nothing else. An account is there as long as anything is under way or waits.

import { measured } from '@troupe/border'
import type { WaitingOffer } from '@troupe/core'
import { Envelope, type SystemCore } from '@troupe/core/internal'
import { Backlog } from './backlog.ts'
import type { Credits, LotOwner, Returned } from './credits.ts'
import { Fifo } from './fifo.ts'
import { entry, type Letter } from './letter.ts'
import type { Refuse } from './refusal.ts'
import type { RoutesHost } from './routes-host.ts'

/** What one node may have under way to one actor, in its mailbox included. */
export const maxMessages = 4_096
export const maxBytes: number = 256 * 1_024
/** How many offers may be on their way to a mailbox of which nothing is known yet. */
const firstWindow = 8
/** At how many offers that wait it is first looked for those that were given up. */
const leastSweep = 64

/** An offer to a sharded actor: it waits, or its message is sent. */
export interface EntityOffer {
  readonly waiting: WaitingOffer
  readonly path: string
  /** Sends its message, and says that it was taken. */
  send(): void
}

export class Account implements LotOwner {
  readonly id: string
  readonly shard: number
  lot: number
  /** Whether its shard had another owner since the first letter that is under way: some of them may be anywhere. */
  moved = false
  readonly waiting: Fifo<Letter> = new Fifo()
  readonly offers: Fifo<EntityOffer> = new Fifo()
  readonly #sizes = new Fifo<number>()
  #bytes = 0
  /** Offers that are not known to be in the mailbox, and how many there may be. */
  #offersOut = 0
  #window = firstWindow
  #sweepAt = leastSweep
  readonly #onCredit: (account: Account) => void

  constructor(id: string, shard: number, lot: (owner: LotOwner) => number, onCredit: (account: Account) => void) {
    this.id = id
    this.shard = shard
    this.lot = lot(this)
    this.#onCredit = onCredit
  }

  /** Letters that are under way. */
  get underWay(): number {
    return this.#sizes.length
  }
  get #hasCredit(): boolean {
    return this.#sizes.length < maxMessages && this.#bytes < maxBytes
  }
  get #hasWindow(): boolean {
    return this.#offersOut < this.#window
  }
  /** Whether there is credit for a letter. What was offered while no owner was known was taken then, and leaves as other offers do. */
  pays({ entry: how }: Letter): boolean {
    return this.#hasCredit && (how !== entry.offered || this.#hasWindow)
  }
  /** Whether one more offer may be taken: it leaves at once, and overtakes none. */
  get takesOffers(): boolean {
    return this.waiting.length === 0 && this.#hasCredit && this.#hasWindow
  }
  get isDone(): boolean {
    return this.#sizes.length === 0 && this.waiting.length === 0 && this.offers.length === 0
  }

  /** A letter has left. */
  charge(bytes: number, offered: boolean): void {
    this.#sizes.push(bytes)
    this.#bytes += bytes
    if (offered) this.#offersOut++
  }

  returned({ taken, entered, window }: Returned): void {
    // Which letters they are does not matter: all are taken some day, and then all is given back.
    for (let left = taken; left > 0; left--) this.#bytes -= this.#sizes.shift() ?? 0
    this.#offersOut = Math.max(0, this.#offersOut - entered)
    if (window !== undefined) this.#window = window === 0 ? Infinity : window
    this.#onCredit(this)
  }

  /** What was under way may be lost: it counts no more, and credit that comes back for it is ignored. */
  reset(lot: number): void {
    this.lot = lot
    this.moved = false
    this.#sizes.drain()
    this.#bytes = 0
    this.#offersOut = 0
  }

  /** Lets an offer wait, and lets go of those that were given up: they must not add up while the actor takes nothing. */
  hold(offer: EntityOffer): void {
    this.offers.push(offer)
    if (this.offers.length < this.#sweepAt) return
    this.sweep()
    this.#sweepAt = Math.max(leastSweep, this.offers.length * 2)
  }
  sweep(): void {
    for (const offer of this.offers.drain()) if (!offer.waiting.ended) this.offers.push(offer)
  }
}

export class Accounts {
  /** What waits because its actor is slow: apart from what has no owner, so that neither takes the other's room. */
  readonly backlog: Backlog
  readonly #credits: Credits
  readonly #refuse: Refuse
  readonly #onCredit: (account: Account) => void
  readonly #shards = new Map<number, Map<string, Account>>()

  constructor({ core, credits, refuse }: Pick<RoutesHost, 'core' | 'credits' | 'refuse'>, onCredit: (account: Account) => void) {
    this.backlog = new Backlog(core)
    this.#credits = credits
    this.#refuse = refuse
    this.#onCredit = onCredit
  }

  /** The account of an actor, a new one if need be. */
  of(id: string, shard: number): Account {
    let accounts = this.#shards.get(shard)
    if (accounts === undefined) this.#shards.set(shard, (accounts = new Map()))
    let account = accounts.get(id)
    if (account === undefined) accounts.set(id, (account = new Account(id, shard, (owner) => this.#credits.open(owner), this.#onCredit)))
    return account
  }
  /** The account of an actor, if it has one. */
  find(id: string, shard: number): Account | undefined {
    return this.#shards.get(shard)?.get(id)
  }
  /** Those of a shard. */
  in(shard: number): readonly Account[] {
    const accounts = this.#shards.get(shard)
    return accounts === undefined ? [] : [...accounts.values()]
  }
  get size(): number {
    let count = 0
    for (const accounts of this.#shards.values()) count += accounts.size
    return count
  }
  /** Letters that wait for credit. */
  get waiting(): number {
    let count = 0
    for (const accounts of this.#shards.values()) for (const account of accounts.values()) count += account.waiting.length
    return count
  }

  /** Offers that wait for credit. */
  get offers(): number {
    let count = 0
    for (const accounts of this.#shards.values()) for (const account of accounts.values()) count += account.offers.length
    return count
  }

  /** Lets a letter wait until its actor has taken others; what finds no room is a dead letter. `from` is where it waited before. */
  wait(account: Account, letter: Letter, from: Backlog): void {
    if (letter.waits > 0) {
      this.backlog.take(letter, from)
      account.waiting.push(letter)
      return
    }
    let kept: { readonly copy: unknown; readonly size: number }
    try {
      // What waits is what it was when it was told.
      kept = measured(letter.message)
    } catch (cause) {
      return this.#refuse(letter, 'not-transferable', cause)
    }
    const waiting = { ...letter, message: kept.copy }
    if (this.backlog.reserve(waiting, kept.size)) account.waiting.push(waiting)
    else this.#refuse(letter, 'node-behind')
  }

  /** Takes the letter that has waited longest. */
  next(account: Account): Letter {
    const letter = account.waiting.shift()!
    this.backlog.release(letter)
    return letter
  }

  reset(account: Account): void {
    this.#credits.close(account.lot)
    account.reset(this.#credits.open(account))
    this.settle(account)
  }

  /** Keeps no account of which nothing is under way and for which nothing waits. */
  settle(account: Account): void {
    if (!account.isDone) return
    this.#credits.close(account.lot)
    const accounts = this.#shards.get(account.shard)
    accounts?.delete(account.id)
    if (accounts?.size === 0) this.#shards.delete(account.shard)
  }
}

/** Lets go of asks that have expired or were canceled. */
export function sweepLetters(core: SystemCore, letters: Fifo<Letter>, backlog: Backlog): void {
  const isOver = ({ meta }: Letter): boolean => meta instanceof Envelope && meta.asked()?.settled === true
  if (![...letters].some(isOver)) return
  for (const letter of letters.drain()) {
    if (!isOver(letter)) letters.push(letter)
    else {
      backlog.release(letter)
      core.drop(letter.message, undefined, 'expired')
    }
  }
}
