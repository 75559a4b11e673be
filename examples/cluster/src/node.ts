// One node of the cluster: a system with a journal that all nodes share, and the rooms. It is the same in a process of its own on NATS and beside
// others in one process.

import { Cluster, type Engine, type Sharded } from '@troupe/cluster'
import { ActorSystem, type LevelledLogger } from '@troupe/core'
import { type JournalSource, persistence } from '@troupe/persistence'
import { accepts, type Room, roomOn } from './room.ts'

export interface NodeOptions {
  readonly node: string
  readonly engine: Engine
  readonly journal: JournalSource
  readonly lease: number
  readonly logger: LevelledLogger | false
}

export interface Joined {
  readonly system: ActorSystem
  readonly cluster: Cluster
  readonly rooms: Sharded<Room>
}

/** The same on every node, and with every journal that it ever had. */
const shards = 64

export async function joinAsNode({ node, engine, journal, lease, logger }: NodeOptions): Promise<Joined> {
  // What an actor of this node stores that is not sharded would be this node's alone: a scope of its own, or the last that opened the journal had all.
  const system = ActorSystem.create(node, { logger, extensions: [persistence({ journal, scope: node })] })
  try {
    const cluster = await Cluster.join(system, { name: 'rooms', node, engine, lease, roles: ['rooms'] })
    const rooms = cluster.sharded('room', roomOn(node), { accepts, persistent: true, role: 'rooms', shards })
    await rooms.ready
    return { system, cluster, rooms }
  } catch (cause) {
    await system.shutdown()
    throw cause
  }
}

/** A node without rooms, for those who play: it sends to them, and has no journal. */
export async function joinAsGuest({ node, engine, lease, logger }: Omit<NodeOptions, 'journal'>): Promise<Joined> {
  const system = ActorSystem.create(node, { logger })
  try {
    const cluster = await Cluster.join(system, { name: 'rooms', node, engine, lease })
    const rooms = cluster.sharded('room', roomOn(node), { accepts, persistent: true, role: 'rooms', shards })
    await rooms.ready
    return { system, cluster, rooms }
  } catch (cause) {
    await system.shutdown()
    throw cause
  }
}
