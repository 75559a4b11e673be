// The engine for one process: for development, tests and simulation. Nodes that join with the same engine form a cluster.

import type { Connection, Engine, Joining } from '../../ports/engine.ts'
import { checkNames } from '../../values/session.ts'
import { MemoryHub } from './hub.ts'
import { MemoryRegistry } from './memory-registry.ts'
import { MemoryWire } from './memory-wire.ts'

/**
 * An engine for several nodes of one process. It lasts as long as the process does, and needs no server.
 *
 * @example
 * const engine = memory()
 */
export function memory(): Engine {
  // Clusters of different names do not meet, as on a real engine.
  const hubs = new Map<string, MemoryHub>()
  return {
    name: 'memory',
    async connect(joining) {
      checkNames(joining)
      let hub = hubs.get(joining.cluster)
      if (hub === undefined) hubs.set(joining.cluster, (hub = new MemoryHub(joining.timing)))
      return connectTo(hub, joining)
    },
  }
}

/** A connection of one node to a hub that others may have, too. */
export function connectTo(hub: MemoryHub, { node, timing }: Pick<Joining, 'node' | 'timing'>): Connection {
  const registry = new MemoryRegistry(hub, node, timing)
  const wire = new MemoryWire(hub, node, timing)
  return {
    registry,
    wire,
    lease: 5_000,
    async close() {
      registry.close()
      await wire.close()
    },
  }
}
