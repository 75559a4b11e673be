// Watches of this node on sharded actors, one for each actor that is watched here, however many watch it. A watch goes to the node that has the shard, behind
// what was sent to the actor before, and ends once: that node says how the actor ended, or that the shard is elsewhere, in which case the watch looks for it again; or
// the session of that node ends.
//
//   waits ─ the way is open ─► sent ─ ended, or node lost ─► over
//     ▲                         │
//     └──────── elsewhere ──────┘

import type { TerminationReason } from '@troupe/core'
import type { Post } from '../node/post.ts'
import type { NodeBorder } from '../refs/node-border.ts'
import { NodeLost } from '../values/errors.ts'
import { sameSession, type Session, sessionText } from '../values/session.ts'
import { type WatchItem, writeWatch } from './letter.ts'

/** How a watched actor ended. */
export interface EntityEnd {
  readonly reason: TerminationReason
  readonly cause: unknown
}

/** One actor that is watched on this node. */
export interface EntityWatch {
  readonly kind: string
  readonly id: string
  readonly shard: number
  /** Called once, unless the watch is closed before. */
  readonly onEnd: (end: EntityEnd) => void
  /** Another one for each node that it is sent to. */
  token: number
  /** It waits for an owner of this epoch at least. */
  after: number
  /** Who has it, and the epoch in which that was the owner. */
  to: { readonly session: Session; readonly epoch: number } | undefined
}

export interface WatchesHost {
  readonly border: NodeBorder
  readonly post: Post
  /** A watch has to be sent again, when there is an owner of the epoch that it waits for. */
  again(watch: EntityWatch): void
  /** A watch that this node itself has is given up. */
  giveUp(token: number): void
}

export class EntityWatches {
  readonly #host: WatchesHost
  readonly #self: string
  readonly #sent = new Map<number, EntityWatch>()
  #token = 0

  constructor(host: WatchesHost) {
    this.#host = host
    const { places, exchange } = host.border
    this.#self = sessionText(places.self)
    exchange.on('entity.ended', ({ token, reason, cause }, crossing) => {
      this.ended(token, { reason, cause })
      crossing.control({ op: 'entity.heard', token })
    })
    exchange.on('entity.elsewhere', ({ token, epoch }, crossing) => {
      this.elsewhere(token, epoch)
      crossing.control({ op: 'entity.heard', token })
    })
  }

  /** Watches that some node has. */
  get size(): number {
    return this.#sent.size
  }

  /** Gives a watch to the owner of its shard; false where that has ended. To this node itself nothing is sent. */
  send(watch: EntityWatch, session: Session, epoch: number): boolean {
    watch.token = ++this.#token
    watch.to = { session, epoch }
    this.#sent.set(watch.token, watch)
    if (this.#post(watch)) return true
    this.#sent.delete(watch.token)
    watch.to = undefined
    return false
  }
  #post(watch: EntityWatch): boolean {
    const { kind, shard, to } = watch
    const { session, epoch } = to!
    return this.isSelf(session) || this.#host.post.send(session, writeWatch(kind, shard, epoch, this.itemOf(watch)))
  }
  /** What this node itself is given. */
  itemOf({ id, token }: EntityWatch): WatchItem {
    return { is: 'watch', id, session: this.#self, token }
  }
  isSelf(session: Session): boolean {
    return sessionText(session) === this.#self
  }

  /** Nobody watches the actor any more. */
  close({ to, token }: EntityWatch): void {
    if (to === undefined || !this.#sent.delete(token)) return
    if (this.isSelf(to.session)) this.#host.giveUp(token)
    else this.#host.post.send(to.session, ['unwatch', this.#self, token])
  }

  ended(token: number, end: EntityEnd): void {
    const watch = this.#sent.get(token)
    if (watch === undefined) return
    this.#sent.delete(token)
    watch.onEnd(end)
  }
  elsewhere(token: number, epoch: number): void {
    const watch = this.#sent.get(token)
    if (watch === undefined) return
    this.#sent.delete(token)
    watch.to = undefined
    watch.after = epoch
    this.#host.again(watch)
  }

  /** A session has ended, and with it all actors that it had. */
  lost(session: Session): void {
    for (const { to, token } of this.#sent.values())
      if (sameSession(to!.session, session)) this.ended(token, { reason: 'failure', cause: new NodeLost(session, 'its end was recorded') })
  }
  /** What went to a node that lives may be lost with a connection. */
  broken(peer: Session): void {
    for (const watch of this.#sent.values()) if (sameSession(watch.to!.session, peer)) this.#post(watch)
  }
}
