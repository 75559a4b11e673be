// Where messages for the shards of a kind go from this node. What the own actors send goes to the owner; when that changes, it waits until all
// that went to the owner before has arrived at the next one, so that nothing is overtaken: a barrier goes the same way, and whoever owns the shard
// then says that it has come. What others send here because they know less is passed on, in the order in which it came.
//
//   own ──► owner            own (waits) ─ barrier ─► old owner ─ barrier ─► owner ─ ready ─►
//   others ──► here ──► owner of a later epoch
//
// What others send is not kept back by a barrier, for two nodes could wait for each other so. It need not be: a shard moves on when all nodes have
// settled where it is (settling.ts), and nobody sends by an older way then.

import { measured } from '@troupe/border'
import type { SystemCore } from '@troupe/core/internal'
import type { Post } from '../node/post.ts'
import { readSessionText, sameSession, type Session, sessionText } from '../values/session.ts'
import type { Backlog } from './backlog.ts'
import { Fifo } from './fifo.ts'
import type { Barrier, Item, Letter } from './letter.ts'
import { writeItem } from './letter.ts'
import type { Ownership } from './ownership.ts'
import type { Refuse } from './refusal.ts'

export interface RoutesHost {
  readonly core: SystemCore
  readonly post: Post
  readonly self: Session
  readonly lease: number
  readonly backlog: Backlog
  readonly refuse: Refuse
  isMember(session: Session): boolean
  /** Resolves when an owner knows that a session has ended: nothing that it passed on arrives there any more. */
  endKnown(session: Session, to: Session): Promise<unknown>
  /** Takes an item for a shard that this node owns. */
  deliver(shard: number, item: Item): void
  /** A shard has an owner of whom nothing is known here. */
  lookAt(shard: number): void
}

interface Passing {
  readonly item: Item
  readonly epoch: number
}

class Route {
  readonly shard: number
  owner: Ownership | undefined
  /** What actors of this node sent. */
  readonly own = new Fifo<Letter>()
  /** What was on its way already and is here again: what never left for a node that is lost, and what a shard of this node had. Before all else. */
  readonly back = new Fifo<Item>()
  /** What came from others and cannot go on yet. */
  readonly passing = new Fifo<Passing>()
  /** Who has what went by this node last, in its mailboxes too: when it is the owner no longer, that is on its way to the next. */
  wentTo: Session | undefined
  /** Without `via` it is waited for that the owner knows of an end. */
  barrier: { readonly token: number; readonly via: Session | undefined; readonly since: number } | undefined
  constructor(shard: number) {
    this.shard = shard
  }
}

export class Routes {
  readonly #kind: string
  readonly #host: RoutesHost
  readonly #routes: readonly Route[]
  #token = 0
  #closed: { readonly reason: 'no-owner' | 'unknown-kind'; readonly cause: unknown } | undefined

  constructor(kind: string, shards: number, host: RoutesHost) {
    this.#kind = kind
    this.#host = host
    this.#routes = Array.from({ length: shards }, (_, shard) => new Route(shard))
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
    let count = 0
    for (const { own, back, passing } of this.#routes) {
      count += own.length
      for (const item of back) if (item.is === 'letter') count++
      for (const { item } of passing) if (item.is === 'letter') count++
    }
    return count
  }

  /** An actor of this node has sent something; says whether it goes on, waits here, or goes nowhere. */
  take(shard: number, letter: Letter): 'goes' | 'waits' | 'refused' {
    const route = this.#routes[shard]!
    if (this.#closed !== undefined) {
      this.#refuse(letter)
      return 'refused'
    }
    if (route.own.length === 0 && this.#isOpen(route)) {
      this.#passOn(route, letter)
      return 'goes'
    }
    this.#wait(route, letter)
    return 'waits'
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
    if (item.is === 'letter') this.#host.backlog.keep(item)
    route.back.push(item)
    this.#host.lookAt(shard)
  }

  /**
   * A shard is known to have an owner; one of an earlier epoch is of the past. What this node had of it goes there before all that came since:
   * barriers are among that, and say that it has gone.
   */
  owned(shard: number, owner: Ownership, had: readonly Item[] = []): void {
    const route = this.#routes[shard]!
    if (route.owner !== undefined && owner.epoch <= route.owner.epoch) return this.leave(shard, had)
    route.owner = owner
    this.#putBack(route, had)
    const { wentTo } = route
    if (wentTo !== undefined && !sameSession(wentTo, owner.session)) {
      if (this.#host.isMember(wentTo)) this.#raise(route, wentTo)
      else this.#awaitEnd(route, wentTo)
    }
    this.#flush(route)
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
      const wentThere = route.wentTo !== undefined && sameSession(route.wentTo, session)
      // What it was to wait for is lost with it, or has arrived, or arrives late: until the owner knows of the end, too.
      const isFirst = barrier?.via === undefined ? wentThere : sameSession(barrier.via, session)
      if (owner !== undefined && sameSession(owner.session, session)) {
        route.barrier = undefined
        if (wentThere) route.wentTo = undefined
      } else if (isFirst) this.#awaitEnd(route, session)
      // The barrier may have been lost with it.
      else if (barrier?.via !== undefined) this.#raise(route, barrier.via)
      if (barrier !== undefined || isFirst) this.#flush(route)
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

  /** Barriers that did not come are sent again: somebody on their way may be gone whom nobody here knew. */
  tick(): void {
    const now = this.#host.core.runtime.now()
    for (const route of this.#routes)
      if (route.barrier?.via !== undefined && now - route.barrier.since > this.#host.lease) this.#raise(route, route.barrier.via)
  }

  /** There is no cluster any more, or the kind cannot be had on this node: what waits is nobody's, and so is what comes. */
  close(reason: 'no-owner' | 'unknown-kind' = 'no-owner', cause?: unknown): void {
    this.#closed ??= { reason, cause }
    for (const route of this.#routes) {
      for (const item of route.back.drain()) this.#refuse(item)
      for (const { item } of route.passing.drain()) this.#refuse(item)
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

  #passOn(route: Route, item: Item): void {
    const { session, epoch } = route.owner!
    this.#wentTo(route)
    if (sameSession(session, this.#host.self)) return this.#host.deliver(route.shard, item)
    if (item.is === 'letter') this.#host.backlog.release(item)
    const mail = writeItem(this.#kind, route.shard, epoch, item)
    if (item.is === 'letter') this.#host.post.pass(session, mail, item.meta)
    else this.#host.post.send(session, mail)
  }

  #flush(route: Route): void {
    if (this.#closed !== undefined) return
    const { back, passing, own } = route
    while (back.length > 0 && this.#reaches(route)) this.#passOn(route, back.shift()!)
    while (back.length === 0 && passing.length > 0 && this.#reaches(route) && passing.first!.epoch <= route.owner!.epoch)
      this.#passOn(route, passing.shift()!.item)
    while (own.length > 0 && this.#isOpen(route)) this.#passOn(route, own.shift()!)
  }

  #raise(route: Route, via: Session): void {
    const token = ++this.#token
    route.barrier = { token, via, since: this.#host.core.runtime.now() }
    const barrier: Barrier = { is: 'barrier', origin: sessionText(this.#host.self), token }
    if (!this.#host.post.send(via, writeItem(this.#kind, route.shard, route.owner!.epoch, barrier))) {
      this.#awaitEnd(route, via)
    }
  }

  #refuse(item: Item): void {
    if (item.is !== 'letter') return
    this.#host.backlog.release(item)
    this.#host.refuse(item, this.#closed?.reason ?? 'no-owner', this.#closed?.cause)
  }
}

/** Whether something is here that was on its way before whatever comes now. */
function waits({ back, passing }: Route): boolean {
  return back.length > 0 || passing.length > 0
}

/** Tells whoever raised a barrier that it has come. */
export function answerBarrier(host: RoutesHost, routes: Routes, kind: string, shard: number, { origin, token }: Barrier): void {
  const session = readSessionText(origin)
  if (session === undefined) return
  if (sameSession(session, host.self)) routes.ready(shard, token)
  else host.post.send(session, ['ready', kind, shard, token])
}
