// The server and the bucket of the registry, looked at before they are used: what would silently lose leases is refused by name.

import { JetStreamApiError, type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { errors, type NatsConnection } from '@nats-io/transport-node'
import { minFrame } from '../../ports/wire.ts'
import type { Joining } from '../../ports/engine.ts'
import { EngineRefused } from '../../values/errors.ts'
import { bucketOf, natsPermissions, streamOf } from './nats-layout.ts'

/** Older ones ignore the time to live of a key, or let it run out without a word. */
const oldest = [2, 11, 2] as const
/** For how long a server that does not answer is asked again. */
const answerWithin = 30_000
/** How long the note that a key was removed stays, for watches that come back. */
const markerTTL = 60_000
/** The longest that electing a leader of a replicated stream takes is about 9 s; a shorter lease would be lost at every such election. */
const replicatedLease = 15_000
const singleLease = 5_000

export interface Bucket {
  readonly kv: KV
  readonly manager: JetStreamManager
  readonly lease: number
}

/** Refuses a server that is too old or takes too little; asked again when the client has moved to another one. */
export function checkServer(connection: NatsConnection): void {
  checkVersion(connection)
  const maxPayload = connection.info?.max_payload ?? minFrame
  if (maxPayload >= minFrame) return
  throw new EngineRefused(
    'nats',
    'max-payload',
    `Cannot use the NATS server ${connection.getServer()}: its max_payload is ${maxPayload} bytes, and nodes need ${minFrame} at least. Raise max_payload in its configuration.`,
  )
}

function checkVersion(connection: NatsConnection): void {
  const version = connection.info?.version ?? 'unknown'
  const numbers = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)
  if (numbers !== undefined && isAtLeast(numbers)) return
  throw new EngineRefused(
    'nats',
    'too-old',
    `Cannot use the NATS server ${connection.getServer()}: its version is ${version}, and before ${oldest.join('.')} leases do not run out as they must. Upgrade it.`,
  )
}

function isAtLeast(version: readonly number[]): boolean {
  for (const [i, least] of oldest.entries()) if (version[i] !== least) return version[i]! > least
  return true
}

/** The bucket of a cluster, made where it is missing. */
export async function openBucket(
  connection: NatsConnection,
  cluster: string,
  node: string,
  options: { readonly replicas: number; readonly timeout: number },
  { timing, onTrouble }: Pick<Joining, 'timing' | 'onTrouble'>,
): Promise<Bucket> {
  const stream = streamOf(cluster)
  const since = timing.now()
  for (;;) {
    try {
      return await tryBucket(connection, cluster, options)
    } catch (cause) {
      // One answer that is late is no reason to give up; a request that the server forbids without a word is never answered.
      if (!isTimeout(cause) || timing.now() - since >= answerWithin) throw refusal(connection, stream, cluster, node, cause)
      onTrouble(`NATS did not answer within ${options.timeout} ms; it is asked again`, cause)
    }
  }
}

async function tryBucket(
  connection: NatsConnection,
  cluster: string,
  options: { readonly replicas: number; readonly timeout: number },
): Promise<Bucket> {
  const stream = streamOf(cluster)
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: options.timeout })
  // A bucket that is there is taken as it is.
  const kv = await new Kvm(connection).create(bucketOf(cluster), { history: 1, markerTTL, replicas: options.replicas, timeout: options.timeout })
  const { config } = await manager.streams.info(stream)
  checkConfig(stream, config)
  return { kv, manager, lease: config.num_replicas > 1 ? replicatedLease : singleLease }
}

function checkConfig(stream: string, config: StreamConfig): void {
  const wrong = !config.allow_msg_ttl
    ? 'it does not allow a time to live per message (allow_msg_ttl)'
    : (config.subject_delete_marker_ttl ?? 0) === 0
      ? 'it leaves no marker where a key ran out (subject_delete_marker_ttl)'
      : config.max_age !== 0
        ? 'it lets every key run out (max_age)'
        : !config.allow_direct
          ? 'it does not allow many keys to be read at once (allow_direct)'
          : undefined
  if (wrong === undefined) return
  throw new EngineRefused(
    'nats',
    'not-ours',
    `Cannot use the JetStream stream ${stream}: ${wrong}. It was not made by Troupe; remove it, or give the cluster another name.`,
  )
}

function refusal(connection: NatsConnection, stream: string, cluster: string, node: string, cause: unknown): EngineRefused {
  if (cause instanceof EngineRefused) return cause
  const at = connection.getServer()
  if (isNoJetStream(cause))
    return new EngineRefused(
      'nats',
      'no-jetstream',
      `Cannot use the NATS server ${at}: JetStream is not enabled there, or not for this account. Start it with -js, or enable it for the account.`,
      cause,
    )
  if (isForbidden(cause))
    return new EngineRefused(
      'nats',
      'permissions',
      `Cannot use the stream ${stream} on ${at}: it did not answer, or this user may not use it. ` +
        `The user of node ${node} needs these permissions: ${JSON.stringify(natsPermissions(cluster, node))}.`,
      cause,
    )
  if (cause instanceof JetStreamApiError)
    return new EngineRefused(
      'nats',
      'not-ours',
      `Cannot make the stream ${stream} on ${at}: ${cause.message}. See the limits of the account, and the option replicas.`,
      cause,
    )
  const text = cause instanceof Error ? cause.message : String(cause)
  return new EngineRefused(
    'nats',
    'unreachable',
    `Cannot open the stream ${stream} on ${at}: ${text}. Check the server and the network to it.`,
    cause,
  )
}

function isNoJetStream(cause: unknown): boolean {
  // The client does not export the class of it.
  const about = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return about instanceof errors.NoRespondersError || (cause instanceof Error && cause.name === 'JetStreamNotEnabled')
}

/** A request that the server forbids may also be one that is never answered. */
function isForbidden(cause: unknown): boolean {
  const about = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return about instanceof errors.PermissionViolationError || isTimeout(cause)
}

function isTimeout(cause: unknown): boolean {
  const about = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return about instanceof errors.TimeoutError
}
