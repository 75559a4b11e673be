// What is under way to sharded actors: a message for one of them, or a barrier, which says that all that its node had sent by this way before has
// come by. As mail it carries the epoch of the owner that its sender knew, so that nobody sends it back to where it came from.

import type { Meta } from '@troupe/core/internal'
import type { Mail } from '../node/post.ts'
import type { Tenancy } from './tenancy.ts'

/** A message for one actor of a kind. */
export interface Letter {
  readonly is: 'letter'
  readonly id: string
  readonly message: unknown
  readonly meta: Meta
  /** The version of the kind that sent it; 0 for a word of persistence: its version, and what was packed. */
  readonly version: number
  /** What it counts in the backlog of this node; 0 while it does not wait. */
  waits: number
}

/** All that its origin had sent by this way before it has come by. */
export interface Barrier {
  readonly is: 'barrier'
  /** The session that waits for it, as text. */
  readonly origin: string
  readonly token: number
}

export type Item = Letter | Barrier

/** Mail as it came: for which shard, and the epoch that its sender knew. */
export interface Came {
  readonly kind: string
  readonly shard: number
  readonly epoch: number
  readonly item: Item
}

/** A letter of this node; what persistence says to an actor goes as plain data. */
export function letterFor(id: string, message: unknown, meta: Meta, version: number, tenancy: Tenancy | undefined): Letter {
  const packed = tenancy?.pack(message)
  return packed === undefined
    ? { is: 'letter', id, message, meta, version, waits: 0 }
    : { is: 'letter', id, message: [version, packed], meta: undefined, version: 0, waits: 0 }
}

export function writeItem(kind: string, shard: number, epoch: number, item: Item): Mail {
  return item.is === 'letter'
    ? ['letter', kind, shard, epoch, item.id, item.version, item.message]
    : ['barrier', kind, shard, epoch, item.origin, item.token]
}

/** Undefined for what no node writes. */
export function readItem(mail: Mail, meta: Meta): Came | undefined {
  const [is, kind, shard, epoch, first, second, message] = mail
  if (typeof kind !== 'string' || !isWhole(shard) || !isWhole(epoch) || typeof first !== 'string') return undefined
  if (is === 'letter') {
    if (!isWhole(second) || message === undefined) return undefined
    return { kind, shard, epoch, item: { is, id: first, version: second, message, meta, waits: 0 } }
  }
  if (is !== 'barrier' || !isWhole(second)) return undefined
  return { kind, shard, epoch, item: { is, origin: first, token: second } }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
