// The engine for many machines: NATS keeps the registry in JetStream and carries frames. What the client does not do by itself is set
// here: it reconnects for ever, notices a dead connection within seconds, and never falls back to a connection in the clear.

import { connect, type ConnectionOptions, credsAuthenticator, errors, type NatsConnection } from '@nats-io/transport-node'
import type { Connection, Engine, Joining } from '../../ports/engine.ts'
import { EngineRefused } from '../../values/errors.ts'
import { checkNames } from '../../values/session.ts'
import { checkServer, openBucket } from './nats-bucket.ts'
import { inboxOf } from './nats-layout.ts'
import { type NatsOptions, natsSettings, type NatsSettings } from './nats-options.ts'
import { NatsRegistry } from './nats-registry.ts'
import { NatsWire } from './nats-wire.ts'

/**
 * A cluster on NATS 2.11.2 or newer, with JetStream. Off loopback it needs `tls`, or `insecure: true`.
 * `connect` rejects with `EngineRefused`, which says why: `unreachable`, `credentials`, `permissions`, `too-old`, `max-payload`, `no-jetstream`,
 * `not-ours`.
 * Throws `InvalidOption`, and `EngineRefused` (`insecure`).
 *
 * @example
 * const engine = nats({ servers: 'tls://nats.example.org:4222', credentials: { user: 'a', password } })
 */
export function nats(options: NatsOptions = {}): Engine {
  const settings = natsSettings(options)
  return {
    name: 'nats',
    async connect(joining) {
      checkNames(joining)
      return open(settings, joining)
    },
  }
}

async function open(settings: NatsSettings, joining: Joining): Promise<Connection> {
  const client = await dial(settings, joining)
  let online = true
  try {
    checkServer(client)
    const bucket = await openBucket(client, joining.cluster, joining.node, settings, joining)
    const wire = new NatsWire(client, joining.cluster, () => online)
    const registry = new NatsRegistry(client, bucket, {
      cluster: joining.cluster,
      inbox: inboxOf(joining.cluster, joining.node),
      timeout: settings.timeout,
      timing: joining.timing,
      connected: () => online,
      onTrouble: joining.onTrouble,
      remake: () => openBucket(client, joining.cluster, joining.node, settings, joining),
    })
    const follow = async (): Promise<void> => {
      for await (const status of client.status()) {
        if (status.type === 'disconnect' || status.type === 'staleConnection') online = false
        else if (status.type === 'reconnect') {
          online = true
          wire.reconnected()
          registry.reconnected()
          try {
            checkServer(client)
          } catch (cause) {
            joining.onTrouble('The client has moved to a NATS server that cannot be used', cause)
          }
        } else if (status.type === 'error') joining.onTrouble('NATS reports an error', status.error)
      }
    }
    follow().catch((cause: unknown) => joining.onTrouble('The client of NATS stopped reporting', cause))
    return {
      registry,
      wire,
      lease: bucket.lease,
      // What is in the server outlives this process, and its clock.
      // oxlint-disable-next-line no-restricted-globals
      wall: () => Date.now(),
      async close() {
        registry.close()
        await wire.close()
        online = false
        await client.close()
      },
    }
  } catch (cause) {
    await client.close()
    throw cause
  }
}

async function dial(settings: NatsSettings, { cluster, node }: Joining): Promise<NatsConnection> {
  const { user, password, token, creds } = settings.credentials ?? {}
  const options: ConnectionOptions = {
    servers: [...settings.servers],
    name: `troupe ${cluster} ${node}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    // An operator may change a password on the server first: that is no reason to give up for ever.
    ignoreAuthErrorAbort: true,
    // A dead connection is noticed within three of these; the default would take six minutes.
    pingInterval: 3_000,
    maxPingOut: 2,
    timeout: 5_000,
    inboxPrefix: inboxOf(cluster, node),
    // Servers that a server in the clear tells of may be off loopback.
    ignoreClusterUpdates: settings.tls === undefined && settings.insecure !== true,
    ...(settings.tls === undefined ? {} : { tls: defined(settings.tls) }),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(token === undefined ? {} : { token }),
    ...(creds === undefined ? {} : { authenticator: credsAuthenticator(new TextEncoder().encode(creds)) }),
  }
  try {
    return await connect(options)
  } catch (cause) {
    const at = settings.servers.join(', ')
    if (cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError)
      throw new EngineRefused('nats', 'credentials', `Cannot join ${cluster} as ${node}: the NATS server ${at} refused the credentials.`, cause)
    throw new EngineRefused(
      'nats',
      'unreachable',
      `Cannot reach a NATS server at ${at} (${cause instanceof Error ? cause.message : String(cause)}). Start one, or correct the option servers.`,
      cause,
    )
  }
}

function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
