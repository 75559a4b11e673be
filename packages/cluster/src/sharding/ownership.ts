// Who owns a shard, as it stands in the registry under `own.<kind>.<shard>`, and which epoch comes next. Reading is total.

import { isPlainName, isSessionNumber, type Session } from '../values/session.ts'

/** One time of owning a shard. No two of them have the same epoch, and a later one has a greater. */
export interface Ownership {
  readonly session: Session
  readonly epoch: number
}

export function ownKey(kind: string, shard: number): string {
  return `own.${kind}.${shard}`
}

/** The shard that a key of that kind is about; undefined where it is none. */
export function shardIn(kind: string, key: string, shards: number): number | undefined {
  const prefix = `own.${kind}.`
  const digits = key.slice(prefix.length)
  const shard = Number(digits)
  return key.startsWith(prefix) && /^(?:0|[1-9]\d*)$/.test(digits) && shard < shards ? shard : undefined
}

export function writeOwnership({ session: { node, number }, epoch }: Ownership): string {
  return JSON.stringify({ node, number, epoch })
}

export function readOwnership(text: string): Ownership | undefined {
  try {
    const { node, number, epoch } = JSON.parse(text) as { readonly node?: unknown; readonly number?: unknown; readonly epoch?: unknown }
    if (!isPlainName(node) || !isSessionNumber(number) || !Number.isSafeInteger(epoch) || (epoch as number) < 1) return undefined
    return { session: { node, number }, epoch: epoch as number }
  } catch {
    return undefined
  }
}

/** The epoch after all that registry and journal know of: a registry that lost its data, or begins anew, cannot repeat one. */
export function nextEpoch(registry: number | undefined, journal: number | undefined): number {
  return Math.max(registry ?? 0, journal ?? 0) + 1
}
