// Whom a connection talks to, and what it understands.

import type { SocketEvent } from '@troupe/node'
import type { ActorRef } from '@troupe/core'
import type { Clients } from './clients.ts'
import type { BatchDone, Keyspace } from './keyspace.ts'
import type { Limits } from './limits.ts'
import type { Published, PublishDone, PubSub } from './pubsub.ts'

/** The actors that a connection talks to. */
export interface Backstage {
  readonly keyspaces: readonly ActorRef<Keyspace>[]
  readonly pubsub: ActorRef<PubSub>
  readonly clients: ActorRef<Clients>
  readonly nextId: () => number
  readonly limits: Limits
}

export type ConnectionMessage = SocketEvent | BatchDone | PublishDone | Published | { readonly type: 'answer'; readonly text: string }
