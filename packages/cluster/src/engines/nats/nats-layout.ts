// Where things of a cluster are in NATS: subjects of frames, the bucket of the registry; and what the user of a node has to be allowed.

import type { Session } from '../../values/session.ts'
import { checkPlainName } from '../../values/session.ts'

/** `<cluster>.f.<node>.<number>.<node>.<number>`: from whom, to whom. */
export function frameSubject(cluster: string, from: Session, to: Session): string {
  return `${cluster}.f.${from.node}.${from.number}.${to.node}.${to.number}`
}

/** Everything that is for one session. */
export function framesFor(cluster: string, to: Session): string {
  return `${cluster}.f.*.*.${to.node}.${to.number}`
}

/** Who sent what came on this subject; undefined where it is none of ours. */
export function senderIn(subject: string): Session | undefined {
  const [, , node, digits] = subject.split('.')
  const number = Number(digits)
  return node === undefined || !Number.isSafeInteger(number) ? undefined : { node, number }
}

export function bucketOf(cluster: string): string {
  return `troupe_${cluster}`
}

export function streamOf(cluster: string): string {
  return `KV_${bucketOf(cluster)}`
}

/** The subject on which a key of the registry is written. */
export function keySubject(cluster: string, key: string): string {
  return `$KV.${bucketOf(cluster)}.${key}`
}

/** Answers for a node come here, where no other may listen. The names are words of their own: joined, those of two nodes could be the same. */
export function inboxOf(cluster: string, node: string): string {
  return `_INBOX_troupe.${cluster}.${node}`
}

/** What the NATS user of one node may do; `permissions` of a user in the server's configuration. */
export interface NatsPermissions {
  readonly publish: { readonly allow: readonly string[] }
  readonly subscribe: { readonly allow: readonly string[] }
}

/**
 * What the NATS user of a node needs, and no more: it sends frames as itself only, hears those for itself only, and renews its own lease only.
 * Sessions, kinds and who has their shards are written by every member. Its form is that of `permissions` in the server's configuration.
 *
 * @example
 * JSON.stringify(natsPermissions('shop', 'a')) // permissions of user a
 */
export function natsPermissions(cluster: string, node: string): NatsPermissions {
  checkPlainName('cluster', cluster)
  checkPlainName('node', node)
  const stream = streamOf(cluster)
  return {
    publish: {
      allow: [
        `${cluster}.f.${node}.>`,
        keySubject(cluster, `member.${node}`),
        keySubject(cluster, 'session.*'),
        ...['own.>', 'host.>', 'kind.*'].map((key) => keySubject(cluster, key)),
        '$JS.API.INFO',
        `$JS.API.STREAM.INFO.${stream}`,
        `$JS.API.STREAM.CREATE.${stream}`,
        `$JS.API.STREAM.MSG.GET.${stream}`,
        `$JS.API.DIRECT.GET.${stream}`,
        `$JS.API.CONSUMER.CREATE.${stream}.>`,
        `$JS.API.CONSUMER.INFO.${stream}.>`,
        `$JS.API.CONSUMER.DELETE.${stream}.>`,
        `$JS.FC.${stream}.>`,
      ],
    },
    subscribe: { allow: [`${cluster}.f.*.*.${node}.>`, `${inboxOf(cluster, node)}.>`] },
  }
}
