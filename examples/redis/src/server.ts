// The tree of the server:
//
//   redis ─┬─ db0 … db15      keyspaces; a bug in a command resumes them, so that the data stays
//          ├─ pubsub, clients
//          ├─ connections     the supervisor of all connections, one actor each; a failure ends that connection alone
//          └─ listener        restarts without touching connections; escalates where it cannot have its address

import { connectionSupervisor, type Endpoint, type IoError, type ListenerCommand, tcp } from '@troupe/node'
import { type ActorRef, type Behavior, receive, same, setup, supervise } from '@troupe/core'
import { clients } from './clients.ts'
import { connection } from './connection.ts'
import { keyspace } from './keyspace.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { pubsub } from './pubsub.ts'

export interface RedisOptions {
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly path?: string | undefined
  /** Milliseconds; for expiry. */
  readonly clock: () => number
  /** Bytes that may wait for a client that does not read; beyond, it is disconnected. */
  readonly maxBuffered?: number | undefined
  /** What one client may make the server keep. */
  readonly limits?: Partial<Limits> | undefined
}

export type Redis = { readonly type: 'address'; readonly replyTo: ActorRef<Endpoint> }

const databases = 16

/** Another try would meet the same, and a server that nobody can reach is none. */
const addressless = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND'])
const unlessAddressless = supervise({ decide: (cause) => (addressless.has((cause as IoError).code) ? 'escalate' : 'restart') })

export function redis(options: RedisOptions): Behavior<Redis> {
  const { clock, limits: given, ...place } = options
  const limits = { ...defaultLimits, ...given }
  return setup((ctx) => {
    let id = 0
    const backstage = {
      keyspaces: Array.from({ length: databases }, (_, i) => ctx.spawn(keyspace(clock, limits.reply), { name: `db${i}`, supervision: 'resume' })),
      pubsub: ctx.spawn(pubsub(), { name: 'pubsub', supervision: 'resume' }),
      clients: ctx.spawn(clients(), { name: 'clients', supervision: 'resume' }),
      nextId: () => ++id,
      limits,
    }
    const connections = ctx.spawn(connectionSupervisor(), { name: 'connections' })
    const handler = connection(backstage)
    const listener: ActorRef<ListenerCommand> = ctx.spawn(tcp.listen({ ...place, handler, supervisor: connections }), {
      name: 'listener',
      supervision: unlessAddressless,
    })
    return receive((c, _m) => {
      c.forward(listener)
      return same
    })
  })
}
