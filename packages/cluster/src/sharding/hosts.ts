// Which nodes have actors of a kind, and what all of them must agree on, as it stands in the registry. Reading is total: what somebody else wrote
// into a key of ours is nothing.

import type { Member } from '../values/member.ts'
import { isSessionNumber } from '../values/session.ts'

/** What all nodes of a kind have in common, in `kind.<kind>`. */
export interface KindRecord {
  readonly shards: number
  /** Which nodes have its actors; undefined for all. Nodes that differed in it would give shards to each other for ever. */
  readonly role: string | undefined
  /** Whether it is one actor, which is there before it is told anything. */
  readonly singleton: boolean
  /** The identity of the journal; undefined for a kind that keeps nothing. */
  readonly journal: string | undefined
}

export function kindKey(kind: string): string {
  return `kind.${kind}`
}
export function hostKey(kind: string, node: string): string {
  return `host.${kind}.${node}`
}
/** The node that a key of a host is about; undefined where it is none. */
export function nodeOfHost(kind: string, key: string): string | undefined {
  const prefix = `host.${kind}.`
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined
}

export function writeKind({ shards, role, singleton, journal }: KindRecord): string {
  return JSON.stringify({ shards, role, singleton, journal })
}
export function readKind(text: string): KindRecord | undefined {
  const { shards, role, singleton, journal } = fields(text)
  if (!isSessionNumber(shards)) return undefined
  return {
    shards,
    role: typeof role === 'string' ? role : undefined,
    singleton: singleton === true,
    journal: typeof journal === 'string' ? journal : undefined,
  }
}

/** What all nodes of a kind must have alike, in words. */
export function settingsText({ shards, role, singleton }: KindRecord): string {
  const size = singleton ? 'one actor' : shards === 1 ? '1 shard' : `${shards} shards`
  return `${size} on ${role === undefined ? 'all nodes' : `nodes with the role ${role}`}`
}

/** Which session of the node has the kind. */
export function writeHost(number: number): string {
  return JSON.stringify({ number })
}
export function readHost(text: string): number | undefined {
  const { number } = fields(text)
  return isSessionNumber(number) ? number : undefined
}

/** Which session of each node has said that it has the kind. */
export function hostNumbers(kind: string, keys: Iterable<string>, valueOf: (key: string) => string): Map<string, number | undefined> {
  const numbers = new Map<string, number | undefined>()
  for (const key of keys) {
    const node = nodeOfHost(kind, key)
    if (node !== undefined) numbers.set(node, readHost(valueOf(key)))
  }
  return numbers
}

/** Members that have actors of the kind: what an earlier session of a node wrote does not count. */
export function hostsAmong(members: readonly Member[], numberOf: (node: string) => number | undefined): readonly Member[] {
  return members.filter(({ session }) => numberOf(session.node) === session.number)
}

function fields(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
