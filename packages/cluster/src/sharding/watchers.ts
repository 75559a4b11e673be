// Nodes that watch actors of this one, by session and the number that each gives to its watch; this node is one of them. What is known of a watch is kept
// until its node has heard how it came out, has given it up, or has ended: a connection that breaks in between costs no notice.

import type { ControlOf } from '@troupe/border'
import type { SystemCore } from '@troupe/core/internal'
import type { Post } from '../node/post.ts'
import type { NodeBorder } from '../refs/node-border.ts'
import { readSessionText, type Session, sessionText } from '../values/session.ts'
import type { WatchItem } from './letter.ts'
import { type EntityEnd, type EntityWatch, EntityWatches } from './watches.ts'

/** What a watching node is told. */
type Outcome = ControlOf<'entity.ended'> | ControlOf<'entity.elsewhere'>

interface Watcher {
  readonly item: WatchItem
  /** Where the actor that it watches keeps it. */
  at: Set<WatchItem> | undefined
  outcome: Outcome | undefined
}

export class EntityWatchers {
  /** What this node itself watches, wherever it is. */
  readonly own: EntityWatches
  readonly #border: NodeBorder
  readonly #self: string
  readonly #bySession = new Map<string, Map<number, Watcher>>()

  constructor(core: SystemCore, border: NodeBorder, post: Post, again: (watch: EntityWatch) => void) {
    this.#border = border
    this.own = new EntityWatches({ border, post, again, giveUp: (token) => this.#forget(this.#self, token) })
    this.#self = sessionText(border.places.self)
    border.exchange.on('entity.heard', ({ token }, crossing) => {
      const session = border.places.session(crossing.peer)
      if (session !== undefined) this.#forget(sessionText(session), token)
    })
    post.on('unwatch', {
      came: ([, session, token]) => {
        core.ledger.handled++
        this.#forget(String(session), Number(token))
      },
    })
  }

  /** Watches that are here, those that wait to be heard among them. */
  get size(): number {
    let size = 0
    for (const watchers of this.#bySession.values()) size += watchers.size
    return size
  }

  /** A watch has come; false where it was here before, and need not go further. */
  came(item: WatchItem): boolean {
    const { session, token } = item
    let watchers = this.#bySession.get(session)
    if (watchers === undefined) this.#bySession.set(session, (watchers = new Map()))
    const known = watchers.get(token)
    if (known === undefined) watchers.set(token, { item, at: undefined, outcome: undefined })
    else if (known.outcome !== undefined) this.#tell(session, known.outcome)
    return known === undefined
  }

  /** An actor keeps a watch among these until it ends; one that was given up meanwhile is not. */
  keep(item: WatchItem, at: Set<WatchItem>): void {
    const watcher = this.#bySession.get(item.session)?.get(item.token)
    if (watcher === undefined) return
    watcher.at = at
    at.add(watcher.item)
  }

  ended({ session, token }: WatchItem, { reason, cause }: EntityEnd): void {
    this.#settle(session, { op: 'entity.ended', token, reason, cause })
  }
  /** Another node has the shard, or will have, in this epoch or a later one. */
  elsewhere({ session, token }: WatchItem, epoch: number): void {
    this.#settle(session, { op: 'entity.elsewhere', token, epoch })
  }
  #settle(session: string, outcome: Outcome): void {
    const watcher = this.#bySession.get(session)?.get(outcome.token)
    if (watcher === undefined || watcher.outcome !== undefined) return
    watcher.outcome = outcome
    watcher.at = undefined
    this.#tell(session, outcome)
  }
  #tell(name: string, outcome: Outcome): void {
    if (name === this.#self) {
      this.#forget(name, outcome.token)
      if (outcome.op === 'entity.ended') this.own.ended(outcome.token, outcome)
      else this.own.elsewhere(outcome.token, outcome.epoch)
      return
    }
    const session = readSessionText(name)
    if (session !== undefined) this.#border.exchange.reach(this.#border.met(session), outcome)
  }

  #forget(session: string, token: number): void {
    const watchers = this.#bySession.get(session)
    const watcher = watchers?.get(token)
    if (watchers === undefined || watcher === undefined) return
    watcher.at?.delete(watcher.item)
    watchers.delete(token)
    if (watchers.size === 0) this.#bySession.delete(session)
  }

  lost(session: Session): void {
    this.own.lost(session)
    const name = sessionText(session)
    for (const token of this.#bySession.get(name)?.keys() ?? []) this.#forget(name, token)
  }
  /** What went to a node that lives may be lost with a connection. */
  broken(peer: Session): void {
    this.own.broken(peer)
    const name = sessionText(peer)
    for (const { outcome } of this.#bySession.get(name)?.values() ?? []) if (outcome !== undefined) this.#tell(name, outcome)
  }
}
