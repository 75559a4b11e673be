// How a cluster stands, as one node sees it, for whoever observes it: who is there and how its lease is, who has how many shards, and how the
// channels do. It is read from what is there, when it is asked for; nothing is kept for it and nobody else is asked.

import type { ChannelReport } from '../channel/channel.ts'
import type { Refusals } from '../channel/channels.ts'
import type { Member } from '../values/member.ts'
import { sameSession } from '../values/session.ts'
import type { ClusterNode } from './cluster-node.ts'

/** One node of a cluster, as another sees it. */
export interface NodeReport {
  readonly member: Member
  /** Whether it is the node that made the report. */
  readonly self: boolean
  /** Whether its lease is in the registry, as far as is known. */
  readonly up: boolean
  /** Milliseconds since a renewal of its lease was last seen; it is renewed every third of the lease. */
  readonly unheard: number
  /** How many shards it owns, by kind, of the kinds that the reporting node has. */
  readonly shards: Readonly<Record<string, number>>
  /** Bytes of messages that wait for it in refs of its actors. */
  readonly waiting: number
  /** Undefined where nothing goes to and fro, and for the node itself. */
  readonly channel: ChannelReport | undefined
}

/** A kind of sharded actors, as one node has it. */
export interface KindReport {
  readonly kind: string
  readonly shards: number
  /** Shards of which no owner is known. */
  readonly unowned: number
  /** Shards that run on this node. */
  readonly active: number
  /** Actors that live on this node. */
  readonly entities: number
  /** Messages that wait on this node for an owner, or for an actor that is on its way. */
  readonly waiting: number
}

/** A cluster, as one of its nodes sees it at one moment. */
export interface ClusterReport {
  readonly name: string
  /** In milliseconds. */
  readonly lease: number
  /** For how many more milliseconds this node may act in its own name; 0 where it may not. */
  readonly heldFor: number
  /** By name. */
  readonly nodes: readonly NodeReport[]
  readonly kinds: readonly KindReport[]
  /** Frames that were not taken: late ones of earlier connections, bad ones, and those of sessions that are not known. */
  readonly refusedFrames: Readonly<Refusals>
}

export function reportOf(node: ClusterNode): ClusterReport {
  const { name, lease, membership, channels, border, core } = node
  const now = core.runtime.now()
  const owners = Array.from(node.regions, ([kind, region]) => [kind, region.spec.shards, region.owners()] as const)
  return {
    name,
    lease,
    heldFor: node.held ? membership.heldFor : 0,
    nodes: membership.members.map((member) => {
      const { session } = member
      const self = sameSession(session, node.self.session)
      const sighting = membership.sighting(session.node)
      const place = border.places.number(session)
      return {
        member,
        self,
        up: sighting?.up ?? false,
        unheard: sighting === undefined ? 0 : now - sighting.lastSeen,
        shards: Object.fromEntries(owners.map(([kind, , of]) => [kind, of.filter((owner) => sameSession(owner.session, session)).length])),
        waiting: self || place === undefined ? 0 : border.exchange.waitingFor(place),
        channel: channels.channel(session)?.report,
      }
    }),
    kinds: owners.map(([kind, shards, of]) => {
      const { active, entities, waiting } = node.regions.get(kind)!
      return { kind, shards, unowned: shards - of.length, active: active.length, entities, waiting }
    }),
    refusedFrames: { ...channels.refused },
  }
}
