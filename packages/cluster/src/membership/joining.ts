// How a node gets its session: a name that nobody has, and a number that nobody had.

import type { Registry } from '../ports/registry.ts'
import type { Timing } from '../ports/timing.ts'
import { NodeNameTaken, RegistryConflict } from '../values/errors.ts'
import { readMember, readSession, writeSession } from '../values/member.ts'
import type { Session } from '../values/session.ts'
import { decideName, nextNumber } from './decisions.ts'
import { memberKey, sessionKey } from './keys.ts'
import { retried } from './retry.ts'

export interface Applicant {
  readonly cluster: string
  readonly node: string
  readonly lease: number
  readonly registry: Registry
  readonly timing: Timing
  /** Milliseconds of the wall clock. */
  readonly wall: () => number
  /** Told of what goes wrong and is tried again. */
  readonly onTrouble: (text: string, cause: unknown) => void
}

/**
 * A session for the node. Where the last one of that name has not ended, waits for a lease whether it shows itself. Rejects with
 * `NodeNameTaken`, or with `RegistryUnavailable` where it does not answer for half a minute.
 */
export async function takeSession(applicant: Applicant): Promise<Session> {
  const { cluster, node, lease, registry, timing, wall } = applicant
  const since = timing.now()
  const token = String(timing.random()).slice(2)
  let firstRevision: number | undefined
  let tried: number | undefined
  let missingSince: number | undefined
  /** A look at the name, and an attempt to take it; undefined where it is to be looked at again. */
  const attempt = async (): Promise<Session | undefined> => {
    const session = await registry.read(sessionKey(node))
    const record = session === undefined ? undefined : readSession(session.value)
    // Ours, written by an attempt whose answer was lost.
    if (record !== undefined && record.number === tried && record.token === token && !record.ended) return { node, number: record.number }
    const lived = await registry.read(memberKey(node))
    const member = lived === undefined ? undefined : readMember(node, lived.value)
    firstRevision ??= lived?.revision
    const now = timing.now()
    if (member !== undefined && member.session.number === record?.number) missingSince = undefined
    else missingSince ??= now
    const seen = {
      session: record,
      member: lived === undefined || member === undefined ? undefined : { record: member, revision: lived.revision },
      firstRevision,
      waited: now - since,
      missingFor: missingSince === undefined ? 0 : now - missingSince,
    }
    const decision = decideName(seen, lease)
    if (decision === 'taken') throw new NodeNameTaken(cluster, node, { node, number: record!.number })
    if (decision === 'wait') {
      await pause(timing, Math.min(lease / 10, 500))
      return undefined
    }
    const number = nextNumber(record?.number, wall())
    const value = writeSession({ number, ended: false, returns: 0, token })
    tried = number
    try {
      await (session === undefined ? registry.create(sessionKey(node), value) : registry.update(sessionKey(node), value, session.revision))
      return { node, number }
    } catch (cause) {
      if (!(cause instanceof RegistryConflict)) throw cause
      return undefined
    }
  }
  for (;;) {
    const session = await retried(applicant, attempt)
    if (session !== undefined) return session
  }
}

function pause(timing: Timing, ms: number): Promise<void> {
  return new Promise((resolve) => void timing.timer(ms, resolve))
}
