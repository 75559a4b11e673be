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
}

/** The same on every node, and with every journal that it ever had. */
const shards = 64

/** The rooms as a node has them: it hosts some where it has their role, and sends to all. */
export function joinRooms(cluster: Cluster, node: string): Sharded<Room> {
  return cluster.sharded('room', roomOn(node), { accepts, persistent: true, role: 'rooms', shards })
}

export async function joinAsNode({ node, engine, journal, lease, logger }: NodeOptions): Promise<Joined> {
  // What an actor of this node stores that is not sharded would be this node's alone: a scope of its own, or the last that opened the journal had all.
  const system = ActorSystem.create(node, { logger, extensions: [persistence({ journal, scope: node })] })
  try {
    const cluster = await Cluster.join(system, { name: 'rooms', node, engine, lease, roles: ['rooms'] })
    await joinRooms(cluster, node).ready
    return { system, cluster }
  } catch (cause) {
    await system.shutdown()
    throw cause
  }
}
