// Which actor is where: refs of actors elsewhere, who watches from elsewhere and is told of an end, where an actor has gone, and messages that
// came before their actor did. An actor's home, the thread that spawned it, is the one that knows.

import type { Phase } from '@troupe/core'
import type { Cell, EndInfo } from '@troupe/core/internal'
import type { Arrivals } from '../way/arrivals.ts'
import type { Crossing } from '../way/crossing.ts'
import { homeOf } from '../values/epochs.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { HeldRefs } from './held-refs.ts'
import { Link, widest } from '../way/link.ts'
import { LocalRoute } from '../way/local-route.ts'
import { LastingCell, type LifeEnd } from '../way/lives.ts'
import { makeRemoteRef, ProxyCell, type RemoteRef } from '../way/remote-ref.ts'

/** The first sweep of awaited actors happens at this size. */
const sweepFrom = 1_024

export class Whereabouts {
  readonly #exchange: Exchange
  /** Which threads want to know of the end of which actor of this one. */
  readonly #followers = new Map<number, Set<number>>()
  /** Actors elsewhere whose end may be waited for here: held until then, or until a sweep finds no waiters. */
  readonly #awaited = new Map<number, ProxyCell>()
  #sweepAt = sweepFrom
  /** Tells when a ref was collected. */
  readonly #refs = new FinalizationRegistry<number>((uid) => this.#collected(uid))
  readonly #remotes = new Map<number, WeakRef<RemoteRef>>()
  readonly #locating = new Set<number>()
  /** Actors of this thread that the main one knows: it is told their phases. */
  readonly #shown = new Set<number>()
  /** Links whose messages wait for an actor that has not come, by its uid. */
  readonly #early = new Map<number, Arrivals[]>()
  /** Watches of lives of actors elsewhere, by the number that this place gave them. */
  readonly #watchedLives = new Map<number, (end: LifeEnd) => void>()
  #nextLife = 0
  /** Functions that end the watches of other places, by place and their number. */
  readonly #lifeWatchers = new Map<number, Map<number, () => void>>()
  readonly held: HeldRefs

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    this.held = new HeldRefs(exchange, (uid) => this.#heldByNobody(uid))
    exchange.on('follow', ({ uid }, crossing) => this.#followedBy(uid, crossing))
    exchange.on('phases', ({ uid }, crossing) => {
      const cell = exchange.residents.cell(uid)
      if (cell === undefined) return this.#tellGone(uid, crossing)
      this.show(uid)
      crossing.control({ op: 'phase', uid, phase: cell.phase })
    })
    exchange.on('phase', ({ uid, phase }) => {
      const cell = this.#remotes.get(uid)?.deref()?.cell
      if (cell instanceof ProxyCell) cell.told = phase
    })
    exchange.on('gone', ({ uid, reason, cause }) => this.#isGone(uid, { reason, cause }))
    exchange.on('locate', ({ uid }, crossing) => this.#locatedBy(uid, crossing))
    exchange.on('located', ({ uid, at }) => this.#isLocated(uid, at))
    exchange.on('life.watch', ({ uid, id }, crossing) => this.#lifeWatchedBy(uid, id, crossing))
    exchange.on('life.unwatch', ({ id }, crossing) => this.#lifeUnwatchedBy(id, crossing.peer))
    exchange.on('life.ended', ({ id, reason, cause }) => {
      const onEnd = this.#watchedLives.get(id)
      this.#watchedLives.delete(id)
      onEnd?.({ reason, cause })
    })
    exchange.on('whereis', ({ uid }, crossing) => this.#whereIs(uid, crossing))
    exchange.on('absent', ({ uid }) => this.#absent(uid))
  }

  /** Messages that wait for an actor to come. */
  get early(): number {
    let count = 0
    for (const links of this.#early.values()) for (const arrivals of links) count += arrivals.early?.size ?? 0
    return count
  }

  /** A message for nobody we know: not here yet, or gone. */
  lookFor(arrivals: Arrivals): void {
    const { uid } = arrivals
    const cell = this.#exchange.residents.cell(uid)
    if (cell !== undefined) arrivals.cell = cell
    else if (homeOf(uid) === this.#exchange.epoch || this.#exchange.residents.ended(uid) !== undefined) arrivals.cell = this.deadCell(uid)
    else {
      const others = this.#early.get(uid)
      if (others === undefined) this.#early.set(uid, [arrivals])
      else others.push(arrivals)
      this.#exchange.crossingTo(homeOf(uid))?.control({ op: 'whereis', uid })
    }
  }
  /** A cell that is gone, to bury what still comes for it. */
  deadCell(uid: number): Cell {
    const known = this.#exchange.residents.ended(uid)
    const ref = (known?.ref as RemoteRef | undefined) ?? makeRemoteRef(this.#exchange.uidFor(uid), `/gone/$${uid}`, undefined)
    if (ref.cell === undefined) {
      const cell = new ProxyCell(ref, this.#exchange, undefined, uid)
      cell.finish(known?.end ?? { reason: 'normal', cause: undefined })
    }
    return ref.cell
  }

  /** The main thread comes to know an actor of this one. What its phase is then goes along; from now on each new one is told. */
  show(uid: number): void {
    const { core } = this.#exchange
    this.#shown.add(uid)
    core.onPhase ??= ({ ref, phase }) => {
      if (this.#shown.has(ref.uid) && phase !== 'terminated') this.#exchange.tell(0, { op: 'phase', uid: ref.uid, phase })
    }
  }

  /** The ref of an actor of another thread; one for all who hold it. `phase` is what `from` knew of it. */
  remote(uid: number, at: number, path: string, methods: readonly string[] | undefined, phase: Phase, from: number): RemoteRef {
    const known = this.#remotes.get(uid)?.deref()
    if (known !== undefined) return known
    const ref = makeRemoteRef(this.#exchange.uidFor(uid), path, methods)
    const location = at < 0 || at === this.#exchange.epoch || this.#exchange.isLost(at) ? undefined : at
    const cell = new ProxyCell(ref, this.#exchange, location, uid)
    if (homeOf(uid) === this.#exchange.epoch || this.#exchange.isLost(homeOf(uid))) {
      cell.finish({ reason: 'failure', cause: this.#lossOf(uid) })
      return ref
    }
    this.#remotes.set(uid, new WeakRef(ref))
    cell.told = phase
    // Who passed it on may have known less than its home, which does not know that it came here.
    if (this.#exchange.epoch === 0 && from !== homeOf(uid)) this.#exchange.crossingTo(homeOf(uid))?.control({ op: 'phases', uid })
    this.#refs.register(ref, uid)
    return ref
  }

  /** Closes the link of a ref that was collected. */
  #collected(uid: number): void {
    // Another ref of the same actor may have come since.
    if (this.#proxy(uid) !== undefined) return
    this.#remotes.delete(uid)
    for (const crossing of this.#exchange.crossings) crossing.linkTo(uid)?.close()
    this.held.collected(uid)
  }

  /** No other place holds a ref of this actor any more. */
  #heldByNobody(uid: number): void {
    this.#followers.delete(uid)
    this.#shown.delete(uid)
    this.#exchange.residents.unexport(uid)
  }
  /** Sizes of the tables, for tests: refs of actors elsewhere, those that are awaited, and followed actors of this place. */
  get kept(): { readonly refs: number; readonly awaited: number; readonly followers: number } {
    return { refs: this.#remotes.size, awaited: this.#awaited.size, followers: this.#followers.size }
  }

  /** Takes what stands for an actor elsewhere and was made by somebody else: it ends with its place as all do. The caller keeps it. */
  adopt(cell: ProxyCell): void {
    this.#remotes.set(cell.far, new WeakRef(cell.ref as RemoteRef))
  }

  /** Why the home of an actor is gone, where it is. */
  #lossOf(uid: number): unknown {
    const home = homeOf(uid)
    return this.#exchange.isLost(home) ? this.#exchange.lossOf(home) : undefined
  }

  /** Watches the present life of an actor whose ref outlives it; returns what ends that. */
  watchLife(cell: ProxyCell, onEnd: (end: LifeEnd) => void): () => void {
    const crossing = this.#exchange.crossingTo(cell.home)
    if (crossing === undefined) {
      onEnd({ reason: 'failure', cause: this.#lossOf(cell.far) })
      return () => {}
    }
    const id = this.#nextLife++
    this.#watchedLives.set(id, onEnd)
    crossing.control({ op: 'life.watch', uid: cell.far, id })
    return () => {
      if (this.#watchedLives.delete(id)) this.#exchange.tell(cell.home, { op: 'life.unwatch', id })
    }
  }
  #lifeWatchedBy(uid: number, id: number, crossing: Crossing): void {
    const cell = this.#exchange.residents.cell(uid)
    const { peer } = crossing
    this.#lifeUnwatchedBy(id, peer)
    if (!(cell instanceof LastingCell)) {
      const { reason, cause } = this.#exchange.residents.ended(uid)?.end ?? { reason: 'normal', cause: undefined }
      return crossing.control({ op: 'life.ended', id, reason, cause })
    }
    let watchers = this.#lifeWatchers.get(peer)
    if (watchers === undefined) this.#lifeWatchers.set(peer, (watchers = new Map()))
    let isOver = false
    const unwatch = cell.lives.watch(({ reason, cause }) => {
      isOver = true
      this.#lifeWatchers.get(peer)?.delete(id)
      this.#exchange.tell(peer, { op: 'life.ended', id, reason, cause })
    })
    if (!isOver) watchers.set(id, unwatch)
  }
  #lifeUnwatchedBy(id: number, peer: number): void {
    const watchers = this.#lifeWatchers.get(peer)
    watchers?.get(id)?.()
    watchers?.delete(id)
  }

  /** Finds the way to an actor that has messages waiting and none. */
  locate(cell: Cell): void {
    if (!(cell instanceof ProxyCell)) return
    if (cell.at !== undefined) return this.linkProxy(cell)
    const uid = cell.far
    if (this.#locating.has(uid)) return
    this.#locating.add(uid)
    cell.isFollowed = true
    this.#exchange.crossingTo(homeOf(uid))?.control({ op: 'locate', uid })
  }
  linkProxy(cell: ProxyCell): void {
    if (cell.at === this.#exchange.epoch) {
      // It has come to this thread, or is about to.
      const here = this.#exchange.residents.hosted(cell.far)
      if (here === undefined) return
      cell.wire.link = new LocalRoute(here)
      cell.wire.pump()
      return
    }
    const crossing = cell.at === undefined ? undefined : this.#exchange.crossingTo(cell.at)
    if (crossing === undefined) {
      cell.at = undefined
      if (cell.wire.size > 0) this.locate(cell)
      return
    }
    cell.wire.link = new Link(this.#exchange, crossing, cell.far, widest, cell.wire)
    // The link is closed when the actor ends. A home tells all who have links to it; the home of an actor that runs elsewhere has to be asked.
    if (cell.home !== cell.at) this.#askForEnd(cell)
    cell.wire.pump()
  }
  #isLocated(uid: number, at: number): void {
    this.#locating.delete(uid)
    const cell = this.#proxy(uid)
    if (cell === undefined || cell.phase === 'terminated' || cell.wire.link !== undefined) return
    cell.at = at
    this.linkProxy(cell)
  }
  #locatedBy(uid: number, crossing: Crossing): void {
    if (!this.#exchange.residents.isExported(uid)) return this.#tellGone(uid, crossing)
    this.#followedBy(uid, crossing)
    const stub = this.#exchange.residents.stub(uid)
    if (stub === undefined) crossing.control({ op: 'located', uid, at: this.#exchange.epoch })
    else if (stub.at === undefined) stub.locators.add(crossing.peer)
    else crossing.control({ op: 'located', uid, at: stub.at })
  }
  #whereIs(uid: number, crossing: Crossing): void {
    const stub = this.#exchange.residents.stub(uid)
    if (stub === undefined) return this.#tellGone(uid, crossing)
    if (stub.at !== crossing.peer) crossing.control({ op: 'absent', uid })
  }
  /** Early messages of an actor that lives elsewhere by now go after it. */
  #absent(uid: number): void {
    const ref = this.#exchange.refs.actor(uid, this.#exchange.epoch, `/moved/$${uid}`, undefined, 'running', homeOf(uid)) as RemoteRef
    for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(ref.cell)
  }
  /** Takes out the links whose messages wait for an actor. */
  #earlyOf(uid: number): readonly Arrivals[] {
    const early = this.#early.get(uid) ?? []
    this.#early.delete(uid)
    return early
  }
  /** An actor has come to this thread: it gets what came before it. */
  arrived(cell: Cell): void {
    const before = this.#remotes.get(cell.ref.uid)?.deref()?.cell as ProxyCell | undefined
    if (before !== undefined && before.phase !== 'terminated') {
      // Refs to it that are older than its coming here lead to it from now on, and first of all what waits in them.
      before.at = this.#exchange.epoch
      this.linkProxy(before)
    }
    for (const arrivals of this.#earlyOf(cell.ref.uid)) arrivals.arrived(cell)
  }

  /** Holds an actor elsewhere until its end, which is waited for here, even if its ref is not held otherwise. */
  follow(cell: ProxyCell): void {
    if (this.#awaited.size >= this.#sweepAt) this.#sweep()
    this.#awaited.set(cell.far, cell)
    cell.isAwaited = true
    this.#askForEnd(cell)
  }
  /** Releases actors without waiters. If their refs are still in use, their homes report their ends anyway. */
  #sweep(): void {
    for (const [uid, cell] of this.#awaited) {
      if (cell.hasWaiters) continue
      this.#awaited.delete(uid)
      cell.isAwaited = false
    }
    this.#sweepAt = Math.max(sweepFrom, this.#awaited.size * 2)
  }
  /** Asks the home of an actor to tell of its end, once. */
  #askForEnd(cell: ProxyCell): void {
    if (cell.isFollowed) return
    cell.isFollowed = true
    const uid = cell.far
    const crossing = this.#exchange.crossingTo(homeOf(uid))
    if (crossing === undefined) {
      this.#awaited.delete(uid)
      cell.finish({ reason: 'failure', cause: this.#lossOf(uid) })
    } else crossing.control({ op: 'follow', uid })
  }
  /** Notes that a peer has a link to an actor. The home of the actor will report its end to that peer. */
  linkedBy(uid: number, crossing: Crossing): void {
    if (homeOf(uid) === this.#exchange.epoch) this.#followedBy(uid, crossing)
  }
  #followedBy(uid: number, crossing: Crossing): void {
    if (!this.#exchange.residents.isExported(uid)) return this.#tellGone(uid, crossing)
    let followers = this.#followers.get(uid)
    if (followers === undefined) this.#followers.set(uid, (followers = new Set()))
    followers.add(crossing.peer)
  }
  #tellGone(uid: number, crossing: Crossing): void {
    const { reason, cause } = this.#exchange.residents.ended(uid)?.end ?? { reason: 'normal', cause: undefined }
    crossing.control({ op: 'gone', uid, reason, cause })
  }
  #isGone(uid: number, end: EndInfo): void {
    this.#locating.delete(uid)
    const cell = this.#proxy(uid)
    this.#awaited.delete(uid)
    cell?.finish(end)
    for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(this.deadCell(uid))
  }

  /** Reports the end of an actor of another exchange, such as one on a thread of this node, to the peers of this one. */
  diesWith(cell: ProxyCell): void {
    ;(cell.ensureExtras().endHooks ??= new Set()).add(() => this.died(cell))
  }
  /** An actor of this thread has ended. */
  died(cell: Cell): void {
    const uid = this.#exchange.knownNumber(cell)
    if (uid === undefined) return
    this.#exchange.residents.left(cell)
    const followers = new Set(this.#followers.get(uid))
    if (this.#shown.delete(uid)) followers.add(0)
    this.#followers.delete(uid)
    for (const peer of followers) {
      const crossing = this.#exchange.knownCrossing(peer)
      if (crossing !== undefined) this.#tellGone(uid, crossing)
    }
  }
  /** An actor that was to come here never will. */
  neverCame(uid: number, path: string, end: EndInfo): void {
    const cell = new ProxyCell(makeRemoteRef(this.#exchange.uidFor(uid), path, undefined), this.#exchange, undefined, uid)
    cell.finish(end)
    this.#exchange.residents.remember(cell)
    for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(this.deadCell(uid))
  }

  /** The way to a place broke, and the place lives: whoever has a link by it finds another, and whose end is waited for is asked again. */
  wayLost(peer: number): void {
    for (const [uid] of this.#followers) this.#followers.get(uid)?.delete(peer)
    for (const cell of this.#proxies()) {
      if (cell.home !== peer) continue
      cell.wire.link = undefined
      this.#locating.delete(cell.far)
      if (cell.isFollowed) {
        cell.isFollowed = false
        this.#askForEnd(cell)
      }
      if (cell.wire.wants) this.locate(cell)
    }
  }
  *#proxies(): Generator<ProxyCell, void, void> {
    for (const uid of this.#remotes.keys()) {
      const cell = this.#proxy(uid)
      if (cell !== undefined && cell.phase !== 'terminated') yield cell
    }
  }
  /** The proxy of an actor elsewhere, if a ref of it is held here. */
  #proxy(uid: number): ProxyCell | undefined {
    const cell = this.#remotes.get(uid)?.deref()?.cell
    return cell instanceof ProxyCell ? cell : undefined
  }

  /** A thread is gone: actors that it was the home of are, too; others that were there are somewhere else by and by. */
  lost(peer: number, cause: unknown): void {
    for (const unwatch of this.#lifeWatchers.get(peer)?.values() ?? []) unwatch()
    this.#lifeWatchers.delete(peer)
    this.held.lost(peer)
    for (const [uid] of this.#early) if (homeOf(uid) === peer) for (const arrivals of this.#earlyOf(uid)) arrivals.arrived(this.deadCell(uid))
    for (const cell of this.#proxies()) {
      if (cell.home === peer) {
        this.#awaited.delete(cell.far)
        this.#remotes.delete(cell.far)
        cell.finish({ reason: 'failure', cause })
      } else if (cell.at === peer) {
        cell.at = undefined
        cell.wire.link = undefined
        if (cell.wire.size > 0) this.locate(cell)
      }
    }
    for (const stub of this.#exchange.residents.stubs) if (stub.at === peer) stub.threadLost(cause)
    for (const hosted of this.#exchange.residents.allHosted) if (homeOf(hosted.ref.uid) === peer) hosted.command({ verb: 'kill' })
  }
}
