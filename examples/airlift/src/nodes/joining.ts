// One member of the cluster: a node that has districts and depots, or the tower, which has none and speaks to all. Everybody opens one journal, which
// processes of one machine may; on several machines it would be PostgreSQL.

import { Cluster, nats, type Sharded } from '@troupe/cluster'
import { type ActorRef, ActorSystem, type Behavior, type MessageSchema, receive, same } from '@troupe/core'
import { persistence, sqliteJournal } from '@troupe/persistence'
import { type Depot, depot } from '../depot.ts'
import type { District } from '../district.ts'

export interface Joining {
  readonly node: string
  readonly servers: string
  readonly directory: string
  /** Milliseconds that a node may be silent until others take its districts. */
  readonly lease: number
}
export interface Joined {
  readonly system: ActorSystem
  readonly cluster: Cluster
  readonly depots: Sharded<Depot>
  readonly districts: Sharded<District>
}

const role = 'districts'
/** The same on every node, and with every journal that it ever had. */
const shards = 100

/** What such an actor takes, from other nodes and from its own: messages of these types. Each is in the list, or this does not compile. */
function accepts<M extends { readonly type: string }>(types: Readonly<Record<M['type'], true>>): MessageSchema {
  const validate = (value: unknown): { value: unknown } | { issues: readonly { message: string }[] } =>
    Object.hasOwn(types, (Object(value) as M).type)
      ? { value }
      : { issues: [{ message: `no message of a type of ${Object.keys(types).join(', ')}` }] }
  return { '~standard': { version: 1, vendor: 'troupe-example', validate } }
}
const depotAccepts = accepts<Depot>({ send: true, depart: true, hand: true, giveBack: true, receive: true, receipt: true, read: true, inquiry: true })
const districtAccepts = accepts<District>({
  restarted: true, arrived: true, landed: true, open: true, charged: true, accepted: true, settled: true, route: true, wind: true, books: true,
  unread: true, intake: true, review: true, revive: true, breakCharger: true, crash: true, strike: true,
}) // prettier-ignore

/** The file of the journal in a folder. */
export function journalFile(directory: string): string {
  return `${directory}/airlift.db`
}

/** `districts` makes one on that system; undefined for a member that has none. */
export async function join(
  { node, servers, directory, lease }: Joining,
  districts: ((system: ActorSystem, depotOf: (id: string) => ActorRef<Depot>) => (id: string) => Behavior<District>) | undefined,
): Promise<Joined> {
  let depots: Sharded<Depot> | undefined
  // What a depot delivers to another reaches it wherever it lives. A scope for each member: shards have scopes of their own.
  const journal = persistence({
    journal: sqliteJournal(journalFile(directory)),
    scope: node,
    find: (_kind, key) => depots?.ref(key),
    redeliverEvery: 1000,
  })
  const system = ActorSystem.create(node, { logger: false, extensions: [journal] })
  // Threads begin before a system is a node.
  const make = districts?.(system, (id) => depots!.ref(id)) ?? (() => receive<District>(() => same))
  try {
    const engine = nats({ servers })
    const cluster = await Cluster.join(system, { name: 'airlift', node, engine, lease, roles: districts === undefined ? [] : [role] })
    depots = cluster.sharded('depot', depot, { accepts: depotAccepts, persistent: true, role, shards, passivateAfter: false })
    const all = cluster.sharded('district', make, { accepts: districtAccepts, role, shards, passivateAfter: false })
    await Promise.all([depots.ready, all.ready])
    return { system, cluster, depots, districts: all }
  } catch (cause) {
    await system.shutdown()
    throw cause
  }
}
