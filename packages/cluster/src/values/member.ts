// A node of the cluster as the others see it, and how it is written into the registry. Reading is total: what somebody else wrote into
// a key of ours is no member, and never an error.

import { isPlainName, isSessionNumber, type Session } from './session.ts'
import { isVersions, type Versions } from './versions.ts'

/** A node that lives, or did not say that it ended. */
export interface Member {
  readonly session: Session
  readonly roles: readonly string[]
  /** Versions of the wire that it speaks. */
  readonly wire: Versions
  /** The most bytes that a message from or to it may take; all nodes have the same. */
  readonly maxMessageBytes: number
}

/** What stands in `member.<node>`: renewed until the node leaves; gone when its lease has run out. */
export interface MemberRecord extends Member {
  /** For how many ms it counts; all nodes have the same. */
  readonly lease: number
  /** Counts the writes of this session, so that it knows its own again after an answer was lost. */
  readonly beat: number
}

/** What stands in `session.<node>`: the latest life of that name, and whether its end was recorded. */
export interface SessionRecord {
  readonly number: number
  readonly ended: boolean
  /** Counts how often this session took its lease anew, so that whoever was about to record its end has to look again. */
  readonly returns: number
  /** Chosen by chance, so that its writer knows it again after an answer was lost. */
  readonly token: string
}

export function writeMember({ session, roles, wire, maxMessageBytes, lease, beat }: MemberRecord): string {
  return JSON.stringify({ number: session.number, roles, wire, maxMessageBytes, lease, beat })
}

export function readMember(node: string, text: string): MemberRecord | undefined {
  const { number, roles, wire, maxMessageBytes, lease, beat } = fields(text)
  if (!isSessionNumber(number) || !isPlainName(node) || !Number.isSafeInteger(beat) || !isVersions(wire)) return undefined
  if (!Number.isFinite(lease) || (lease as number) <= 0) return undefined
  if (!Number.isSafeInteger(maxMessageBytes) || (maxMessageBytes as number) <= 0) return undefined
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined
  return {
    session: { node, number },
    roles,
    wire: { oldest: wire.oldest, newest: wire.newest },
    maxMessageBytes: maxMessageBytes as number,
    lease: lease as number,
    beat: beat as number,
  }
}

/**
 * Who wrote a record of a member, and which versions of the wire it speaks; read also where the rest is written in a way that this release does not
 * know, so that nodes of versions far apart refuse each other and do not overlook each other.
 */
export function readVersions(node: string, text: string): Pick<Member, 'session' | 'wire'> | undefined {
  const { number, wire } = fields(text)
  if (!isSessionNumber(number) || !isPlainName(node) || !isVersions(wire)) return undefined
  return { session: { node, number }, wire: { oldest: wire.oldest, newest: wire.newest } }
}

export function writeSession({ number, ended, returns, token }: SessionRecord): string {
  return JSON.stringify({ number, ended, returns, token })
}

export function readSession(text: string): SessionRecord | undefined {
  const { number, ended, returns, token } = fields(text)
  if (!isSessionNumber(number) || typeof ended !== 'boolean' || !Number.isSafeInteger(returns) || typeof token !== 'string') return undefined
  return { number, ended, returns: returns as number, token }
}

function fields(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
