// What is under way to sharded actors: a message for one of them, a node's watch on one, or a barrier, which says that all that its node had sent by this way before has
// come by. As mail it carries the epoch of the owner that its sender knew, so that nobody sends it back to where it came from.

import type { Meta } from '@troupe/core/internal'
import type { Mail } from '../node/post.ts'
import type { Origin } from './credits.ts'
import { LetterCredit } from './letter-credit.ts'
import type { Tenancy } from './tenancy.ts'

/**
 * How a letter enters a full mailbox that blocks. One that was told is refused. One that was offered waits for room, and its sender hears when it is in;
 * so does one that was in a mailbox already, before its actor moved or ended, but its sender is not notified again.
 */
export const entry = { told: 0, offered: 1, kept: 2 } as const
export type Entry = (typeof entry)[keyof typeof entry]

/** A message for one actor of a kind. */
export interface Letter {
  readonly is: 'letter'
  readonly id: string
  readonly message: unknown
  readonly meta: Meta
  /** The version of the kind that sent it; 0 for a word of persistence: its version, and what was packed. */
  readonly version: number
  readonly entry: Entry
  /** Who waits for its credit; undefined for a letter of an actor of this node. */
  readonly origin: Origin | undefined
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

/** A node wants to hear of the end of an actor. */
export interface WatchItem {
  readonly is: 'watch'
  readonly id: string
  /** The session that watches, as text, and its number for that. */
  readonly session: string
  readonly token: number
}

export type Item = Letter | Barrier | WatchItem

/** Mail as it came: for which shard, and the epoch that its sender knew. */
export interface Came {
  readonly kind: string
  readonly shard: number
  readonly epoch: number
  readonly item: Item
}

/** A letter of this node; what persistence says to an actor goes as plain data. */
export function letterFor(
  id: string,
  message: unknown,
  meta: Meta,
  version: number,
  tenancy: Tenancy | undefined,
  how: Entry = entry.told,
  origin?: Origin,
): Letter {
  const packed = tenancy?.pack(message)
  return packed === undefined
    ? { is: 'letter', id, message, meta, version, entry: how, origin, waits: 0 }
    : { is: 'letter', id, message: [version, packed], meta: undefined, version: 0, entry: how, origin, waits: 0 }
}

/** The letter again that was in a mailbox; it keeps its credit. */
export function letterAgain(id: string, message: unknown, meta: Meta, version: number, tenancy: Tenancy | undefined): Letter {
  if (!(meta instanceof LetterCredit)) return letterFor(id, message, meta, version, tenancy, entry.kept)
  return letterFor(id, message, meta.inner, version, tenancy, entry.kept, meta.isGiven ? undefined : meta.origin)
}

export function writeLetter(kind: string, shard: number, epoch: number, letter: Letter, { session, lot }: Origin): Mail {
  return ['letter', kind, shard, epoch, letter.id, letter.version, letter.message, session, lot, letter.entry]
}
export function writeBarrier(kind: string, shard: number, epoch: number, { origin, token }: Barrier): Mail {
  return ['barrier', kind, shard, epoch, origin, token]
}
export function writeWatch(kind: string, shard: number, epoch: number, { id, session, token }: WatchItem): Mail {
  return ['watch', kind, shard, epoch, id, session, token]
}

/** Undefined for what no node writes. */
export function readItem(mail: Mail, meta: Meta): Came | undefined {
  const [is, kind, shard, epoch, first, second, third, session, lot, how] = mail
  if (typeof kind !== 'string' || !isWhole(shard) || !isWhole(epoch) || typeof first !== 'string') return undefined
  if (is === 'letter') {
    if (!isWhole(second) || third === undefined || typeof session !== 'string' || !isWhole(lot) || !isWhole(how) || how > entry.kept) return undefined
    const inner = meta instanceof LetterCredit ? meta.inner : meta
    const letter: Letter = { is, id: first, version: second, message: third, meta: inner, entry: how as Entry, origin: { session, lot }, waits: 0 }
    return { kind, shard, epoch, item: letter }
  }
  if (is === 'watch')
    return typeof second === 'string' && isWhole(third) ? { kind, shard, epoch, item: { is, id: first, session: second, token: third } } : undefined
  if (is !== 'barrier' || !isWhole(second)) return undefined
  return { kind, shard, epoch, item: { is, origin: first, token: second } }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
