// Where messages for the shards of a kind go from this node. What the own actors send goes to the owner; when that changes, it waits until all
// that went to the owner before has arrived at the next one, so that nothing is overtaken: a barrier goes the same way, and whoever owns the shard
// then says that it has come. What others send here because they know less is passed on, in the order in which it came.
//
//   own ──► account ──► owner            own (waits) ─ barrier ─► old owner ─ barrier ─► owner ─ ready ─►
//   others ──► here ──► owner of a later epoch
//
// What the own actors send to one that is slow waits in the account of that one (accounts.ts). What is passed on for others is not kept back: it has its
// credit from its sender, and that goes along.
//
// What others send is not kept back by a barrier, for two nodes could wait for each other so. It need not be: a shard moves on when all nodes have
// settled where it is (settling.ts), and nobody sends by an older way then.

import { measured } from '@troupe/border'
import { OfferRefused } from '@troupe/core'
import { readSessionText, sameSession, type Session, sessionText } from '../values/session.ts'
import { type Account, Accounts, type EntityOffer, sweepLetters } from './accounts.ts'
import { PassedCredit } from './letter-credit.ts'
import { type Barrier, entry, type Item, type Letter, writeBarrier, writeLetter } from './letter.ts'
import type { Ownership } from './ownership.ts'
import { Route, waits } from './route.ts'
import type { RoutesHost } from './routes-host.ts'

export class Routes {
  readonly #kind: string
  readonly #host: RoutesHost
  readonly #routes: readonly Route[]
  readonly #accounts: Accounts
  #token = 0
  #closed: { readonly reason: 'no-owner' | 'unknown-kind'; readonly cause: unknown } | undefined

  constructor(kind: string, shards: number, host: RoutesHost) {
    this.#kind = kind
    this.#host = host
    this.#routes = Array.from({ length: shards }, (_, shard) => new Route(shard))
    this.#accounts = new Accounts(host, (account) => this.#pump(this.#routes[account.shard]!, account))
  }

  get size(): number {
    return this.#routes.length
  }
  ownerOf(shard: number): Ownership | undefined {
    return this.#routes[shard]?.owner
  }
  /** All that are known. */
  owners(): readonly Ownership[] {
    return this.#routes.flatMap(({ owner }) => (owner === undefined ? [] : [owner]))
  }
  /** Messages that wait here. */
  get waiting(): number {
    let count = this.#accounts.waiting
    for (const { own, back, passing } of this.#routes) {
      count += own.length
      for (const item of back) if (item.is === 'letter') count++
      for (const { item } of passing) if (item.is === 'letter') count++
    }
    return count
  }

  /** Actors to which something is under way, and the letters and offers that wait until theirs has taken others. */
  get accounts(): { readonly count: number; readonly waiting: number; readonly offers: number } {
    const { size, waiting, offers } = this.#accounts
    return { count: size, waiting, offers }
  }

  /** An actor of this node has sent something; says whether it goes on, waits here, or goes nowhere. */
  take(shard: number, letter: Letter): 'goes' | 'waits' | 'refused' {
    const route = this.#routes[shard]!
    if (this.#closed !== undefined) {
      this.#refuse(letter)
      return 'refused'
    }
    if (route.own.length === 0 && this.#isOpen(route)) {
      this.#depart(route, letter)
      return 'goes'
    }
    this.#wait(route, letter)
    return 'waits'
  }

  /**
   * An actor of this node offers something: it is sent when the mailbox of its actor has room, as far as is known; while the actor has no owner, when it may
   * wait here.
   */
  offer(shard: number, id: string, offer: EntityOffer): void {
    const route = this.#routes[shard]!
    if (this.#closed !== undefined) return offer.send()
    const before = this.#accounts.find(id, shard)
    // First come, first served.
    if (before !== undefined && before.offers.length > 0) return before.hold(offer)
    if (route.own.length > 0 || !this.#isOpen(route)) {
      if (this.#host.backlog.hasRoom) return offer.send()
      return offer.waiting.fail(new OfferRefused(offer.path, `too much waits for actors of ${this.#kind} that have no owner now`))
    }
    if (this.#isHere(route)) return this.#host.offerHere(shard, id, offer)
    const account = before ?? this.#accounts.of(id, shard)
    if (account.takesOffers) return offer.send()
    account.hold(offer)
    route.behind.add(account)
  }

  /** The owner of a shard, if what is sent to it now waits for nothing. */
  openTo(shard: number): Ownership | undefined {
    const route = this.#routes[shard]!
    return route.own.length === 0 && this.#isOpen(route) ? route.owner : undefined
  }

  /** Whether this node knows of an owner of that epoch at least, and nothing that went by it is on the way to an earlier one. */
  isSettled(shard: number, epoch: number): boolean {
    const route = this.#routes[shard]
    return route === undefined || this.#closed !== undefined || ((route.owner?.epoch ?? 0) >= epoch && route.barrier === undefined && !waits(route))
  }

  /** Something has come from another node, which knew of an owner of that epoch. */
  came(shard: number, epoch: number, item: Item): void {
    const route = this.#routes[shard]
    if (route === undefined || this.#closed !== undefined) return this.#refuse(item)
    if (!waits(route) && epoch <= (route.owner?.epoch ?? 0) && this.#reaches(route)) return this.#passOn(route, item)
    if (item.is === 'letter' && !this.#host.backlog.admit(item)) this.#refuse(item)
    else route.passing.push({ item, epoch })
    this.#host.lookAt(shard)
  }

  /** Something that this node had sent comes back: its owner is gone, and it never left. In the order in which it was sent, before all that waits. */
  returned(shard: number, item: Item): void {
    const route = this.#routes[shard]
    if (route === undefined || this.#closed !== undefined) return this.#refuse(item)
    let again = item
    if (item.is === 'letter') {
      // One of this node's own is under way no longer.
      if (item.origin !== undefined && this.#host.credits.isOwn(item.origin)) {
        this.#host.credits.taken(item.origin, item.entry === entry.offered ? 1 : 0)
        again = { ...item, origin: undefined }
      }
      this.#host.backlog.keep(again as Letter)
    }
    route.back.push(again)
    this.#host.lookAt(shard)
  }

  /**
   * A shard is known to have an owner; one of an earlier epoch is of the past. What this node had of it goes there before all that came since:
   * barriers are among that, and say that it has gone.
   */
  owned(shard: number, owner: Ownership, had: readonly Item[] = []): void {
    const route = this.#routes[shard]!
    const before = route.owner
    if (before !== undefined && owner.epoch <= before.epoch) return this.leave(shard, had)
    route.owner = owner
    if (before !== undefined && !sameSession(before.session, owner.session)) this.#movedOn(route, owner.epoch > before.epoch + 1)
    this.#putBack(route, had)
    const { wentTo } = route
    if (wentTo !== undefined && !sameSession(wentTo, owner.session)) {
      if (this.#host.isMember(wentTo)) this.#raise(route, wentTo)
      else this.#awaitEnd(route, wentTo)
    }
    this.#flush(route)
  }

  /** What is under way goes from the owner before to the next, unless there was one between them, who may be lost with it. */
  #movedOn(route: Route, unseen: boolean): void {
    for (const account of this.#accounts.in(route.shard)) {
      if (unseen) this.#accounts.reset(account)
      else if (account.underWay > 0) account.moved = true
    }
  }

  /** What a shard of this node had when it was given away goes to its owner, before all else. */
  leave(shard: number, items: readonly Item[]): void {
    const route = this.#routes[shard]!
    if (items.length === 0) return
    if (this.#closed !== undefined) return items.forEach((item) => this.#refuse(item))
    this.#putBack(route, items)
    this.#flush(route)
  }
  #putBack(route: Route, items: readonly Item[]): void {
    for (const item of items) if (item.is === 'letter') this.#host.backlog.keep(item)
    route.back.prepend(items)
  }

  /** A barrier of this node has come to the owner. */
  ready(shard: number, token: number): void {
    const route = this.#routes[shard]
    if (route?.barrier?.token !== token) return
    route.barrier = undefined
    this.#wentTo(route)
    this.#flush(route)
  }

  joined(): void {
    for (const route of this.#routes) this.#flush(route)
  }

  ended(session: Session): void {
    for (const route of this.#routes) {
      const { barrier, owner } = route
      const isOwner = owner !== undefined && sameSession(owner.session, session)
      // What it was given may be lost with it; so may what went by another to it, or by it to another.
      const lost = this.#accounts.in(route.shard).filter(({ moved }) => moved || isOwner)
      for (const account of lost) this.#accounts.reset(account)
      const wentThere = route.wentTo !== undefined && sameSession(route.wentTo, session)
      // What it was to wait for is lost with it, or has arrived, or arrives late: until the owner knows of the end, too.
      const isFirst = barrier?.via === undefined ? wentThere : sameSession(barrier.via, session)
      if (isOwner) {
        route.barrier = undefined
        if (wentThere) route.wentTo = undefined
      } else if (isFirst) this.#awaitEnd(route, session)
      // The barrier may have been lost with it.
      else if (barrier?.via !== undefined) this.#raise(route, barrier.via)
      if (barrier !== undefined || isFirst || lost.length > 0) this.#flush(route)
    }
  }
  #awaitEnd(route: Route, session: Session): void {
    const { owner } = route
    route.barrier = undefined
    route.wentTo = undefined
    if (owner === undefined || sameSession(owner.session, this.#host.self)) return
    const token = ++this.#token
    route.barrier = { token, via: undefined, since: this.#host.core.runtime.now() }
    void this.#host.endKnown(session, owner.session).then(() => this.ready(route.shard, token))
  }

  /** A connection between two nodes broke, and letters or credit may be lost with it: nothing counts as under way any more. */
  broken(): void {
    for (const route of this.#routes) {
      const accounts = this.#accounts.in(route.shard)
      for (const account of accounts) this.#accounts.reset(account)
      if (accounts.length > 0) this.#flush(route)
    }
  }

  /** Barriers that did not come are sent again: somebody on their way may be gone whom nobody here knew. What was given up waits no longer. */
  tick(): void {
    const now = this.#host.core.runtime.now()
    for (const route of this.#routes) {
      if (route.barrier?.via !== undefined && now - route.barrier.since > this.#host.lease) this.#raise(route, route.barrier.via)
      if (route.own.length > 0) sweepLetters(this.#host.core, route.own, this.#host.backlog)
      for (const account of route.behind) {
        account.sweep()
        sweepLetters(this.#host.core, account.waiting, this.#accounts.backlog)
        this.#settle(route, account)
      }
    }
  }
  /** There is no cluster any more, or the kind cannot be had on this node: what waits is nobody's, and so is what comes. */
  close(reason: 'no-owner' | 'unknown-kind' = 'no-owner', cause?: unknown): void {
    this.#closed ??= { reason, cause }
    for (const route of this.#routes) {
      for (const item of route.back.drain()) this.#refuse(item)
      for (const { item } of route.passing.drain()) this.#refuse(item)
      for (const account of route.behind) {
        for (let left = account.waiting.length; left > 0; left--) this.#refuse(this.#accounts.next(account))
        for (const { waiting, path } of account.offers.drain()) waiting.fail(new OfferRefused(path, 'this node is no member of the cluster any more'))
        this.#settle(route, account)
      }
      for (const letter of route.own.drain()) this.#refuse(letter)
      route.barrier = undefined
    }
  }

  #wait(route: Route, letter: Letter): void {
    let kept: { readonly copy: unknown; readonly size: number }
    try {
      // What waits is what it was when it was told.
      kept = measured(letter.message)
    } catch (cause) {
      return this.#host.refuse(letter, 'not-transferable', cause)
    }
    const waiting = { ...letter, message: kept.copy }
    if (!this.#host.backlog.reserve(waiting, kept.size)) return this.#refuse(letter)
    route.own.push(waiting)
    if (route.owner === undefined) this.#host.lookAt(route.shard)
  }

  /** Whether its owner can be told something. */
  #reaches({ owner }: Route): boolean {
    return owner !== undefined && (sameSession(owner.session, this.#host.self) || this.#host.isMember(owner.session))
  }
  #isOpen(route: Route): boolean {
    return route.barrier === undefined && !waits(route) && this.#reaches(route)
  }

  /** What went by this node before a barrier is waited for first. */
  #wentTo(route: Route): void {
    const { owner, barrier } = route
    if (barrier === undefined) route.wentTo = owner === undefined || sameSession(owner.session, this.#host.self) ? undefined : owner.session
  }

  #isHere({ owner }: Route): boolean {
    return owner !== undefined && sameSession(owner.session, this.#host.self)
  }

  /** A letter of this node's own leaves, or waits until its actor has taken what went before. */
  #depart(route: Route, letter: Letter): void {
    const account = this.#isHere(route) ? undefined : this.#accounts.of(letter.id, route.shard)
    if (account === undefined || (account.waiting.length === 0 && account.pays(letter))) return this.#passOn(route, letter)
    this.#accounts.wait(account, letter, this.#host.backlog)
    route.behind.add(account)
  }

  #passOn(route: Route, item: Item): void {
    const { session, epoch } = route.owner!
    this.#wentTo(route)
    if (this.#isHere(route)) return this.#host.deliver(route.shard, item)
    // The node that watches finds the owner by itself: it has to know whose end it has to listen for.
    if (item.is === 'watch') this.#host.watchers.elsewhere(item, epoch)
    else if (item.is === 'barrier') this.#host.post.send(session, writeBarrier(this.#kind, route.shard, epoch, item))
    else this.#post(route, item, session, epoch)
  }

  #post(route: Route, letter: Letter, to: Session, epoch: number): void {
    const { post, credits, backlog } = this.#host
    backlog.release(letter)
    const offered = letter.entry === entry.offered
    const account = letter.origin === undefined ? this.#accounts.of(letter.id, route.shard) : undefined
    const origin = letter.origin ?? credits.originOf(account!.lot)
    // What leaves at once can end here no more.
    const meta = account !== undefined && post.isOpen(to) ? letter.meta : new PassedCredit(credits, origin, offered, letter.meta)
    const bytes = post.pass(to, writeLetter(this.#kind, route.shard, epoch, letter, origin), meta)
    if (account !== undefined && bytes !== undefined && bytes > 0) account.charge(bytes, offered)
    else if (account !== undefined) this.#accounts.settle(account)
    if (bytes === undefined) this.returned(route.shard, letter)
  }

  #flush(route: Route): void {
    if (this.#closed !== undefined) return
    const { back, passing, own, behind } = route
    while (back.length > 0 && this.#reaches(route)) this.#passOn(route, back.shift()!)
    while (back.length === 0 && passing.length > 0 && this.#reaches(route) && passing.first!.epoch <= route.owner!.epoch)
      this.#passOn(route, passing.shift()!.item)
    // What waits for its actor is older than what waits for the owner; offers are not sent before either has left.
    const mayHoldUp = own.length > 0
    for (const account of behind) this.#pump(route, account)
    while (own.length > 0 && this.#isOpen(route)) this.#depart(route, own.shift()!)
    if (mayHoldUp) for (const account of behind) this.#pump(route, account)
    this.#host.flushed(route.shard)
  }

  /**
   * Lets leave what waits in an account, as far as its credit goes; offers after letters. One that is sent while others wait for the owner would wait behind
   * them, and be taken without being counted.
   */
  #pump(route: Route, account: Account): void {
    const { waiting, offers } = account
    const mayGo = (): boolean => this.#closed === undefined && this.#isOpen(route)
    while (waiting.length > 0 && mayGo() && (account.pays(waiting.first!) || this.#isHere(route))) this.#passOn(route, this.#accounts.next(account))
    while (offers.length > 0 && waiting.length === 0 && route.own.length === 0 && mayGo()) {
      const isHere = this.#isHere(route)
      if (!isHere && !account.takesOffers) break
      const offer = offers.shift()!
      if (offer.waiting.ended) continue
      if (isHere) this.#host.offerHere(route.shard, account.id, offer)
      else offer.send()
    }
    this.#settle(route, account)
  }
  #settle(route: Route, account: Account): void {
    if (account.waiting.length === 0 && account.offers.length === 0) route.behind.delete(account)
    this.#accounts.settle(account)
  }

  #raise(route: Route, via: Session): void {
    const token = ++this.#token
    route.barrier = { token, via, since: this.#host.core.runtime.now() }
    const barrier: Barrier = { is: 'barrier', origin: sessionText(this.#host.self), token }
    if (!this.#host.post.send(via, writeBarrier(this.#kind, route.shard, route.owner!.epoch, barrier))) this.#awaitEnd(route, via)
  }

  #refuse(item: Item): void {
    if (item.is !== 'letter') return
    this.#host.backlog.release(item)
    this.#host.refuse(item, this.#closed?.reason ?? 'no-owner', this.#closed?.cause)
  }
}

/** Tells whoever raised a barrier that it has come. */
export function answerBarrier(host: RoutesHost, routes: Routes, kind: string, shard: number, { origin, token }: Barrier): void {
  const session = readSessionText(origin)
  if (session === undefined) return
  if (sameSession(session, host.self)) routes.ready(shard, token)
  else host.post.send(session, ['ready', kind, shard, token])
}
