// What the ways to the shards of a kind need of their node.

import type { SystemCore } from '@troupe/core/internal'
import type { Post } from '../node/post.ts'
import type { Session } from '../values/session.ts'
import type { EntityOffer } from './accounts.ts'
import type { Backlog } from './backlog.ts'
import type { Credits } from './credits.ts'
import type { Item } from './letter.ts'
import type { Refuse } from './refusal.ts'
import type { EntityWatchers } from './watchers.ts'

export interface RoutesHost {
  readonly core: SystemCore
  readonly post: Post
  readonly self: Session
  readonly lease: number
  readonly backlog: Backlog
  readonly credits: Credits
  readonly watchers: EntityWatchers
  readonly refuse: Refuse
  isMember(session: Session): boolean
  /** Resolves when an owner knows that a session has ended: nothing that it passed on arrives there any more. */
  endKnown(session: Session, to: Session): Promise<unknown>
  /** Takes an item for a shard that this node owns. */
  deliver(shard: number, item: Item): void
  /** Takes an offer to an actor of such a shard. */
  offerHere(shard: number, id: string, offer: EntityOffer): void
  /** A shard has an owner of whom nothing is known here. */
  lookAt(shard: number): void
  /** What could go to a shard has gone. */
  flushed(shard: number): void
}
