// When an actor that failed is back. A command that threw is taken back, and its actor begins anew at once. A journal that failed, or a start
// that did, would fail again just as soon: the next start waits, longer each time, until all was well for a second. Restarts have no limit.

import { type AnyRef, NotAllowed, supervise } from '@troupe/core'
import { backoffDelay, type Cell, type Failure, refuseAsks, takeAsks, type UpkeptPolicy } from '@troupe/core/internal'
import { isPermanent } from './recovery.ts'

const backoff = { min: 20, max: 10_000, factor: 2, jitter: 0.1 } as const
/** Milliseconds after which a failure is the first one again. */
const quiet = 1000

/** Failures in a row that were no command's, and when the pause after the last one was over. */
interface Trouble {
  failures: number
  until: number
}
/** Only of those that had any: an actor keeps nothing for it. */
const troubles = new WeakMap<AnyRef, Trouble>()
/** Why actors can never start. */
const hopeless = new WeakSet<object>()

/** What makes a start fail for good: as the actor was spawned, it can never come up. */
export function cannotStart(id: string, why: string): NotAllowed {
  const cause = new NotAllowed(`Cannot start ${id}: ${why}`)
  hopeless.add(cause)
  return cause
}

/** A part of whatever was thrown; undefined where it cannot be read, for a getter that throws must not decide about an actor. */
function read(cause: unknown, part: 'code' | 'kind'): unknown {
  try {
    return (cause as Readonly<Record<string, unknown>> | null | undefined)?.[part]
  } catch {
    return undefined
  }
}

/** What a journal did, and no command: it refused, did not say, or cannot be had. */
function isOutside(cause: unknown): boolean {
  const code = read(cause, 'code')
  return code === 'persist-failed' || code === 'persist-unknown' || code === 'journal-unavailable' || code === 'recovery-stalled'
}

/** Whoever asks an actor that cannot start because of the journal hears that at once, and not when the time is over. */
export function refuseWhileAway(cell: Cell, whenAway: 'reject' | 'wait', cause: unknown): void {
  if (whenAway === 'reject' && cell.phase === 'starting' && isOutside(cause)) refuseAsks(cell, cause)
  else takeAsks(cell)
}

function pause({ cause, message, child, now, starting }: Failure, random: () => number): number {
  // Without a message, and not told by the journal that somebody is erased, it was a start or a hook.
  if (!isOutside(cause) && (message !== undefined || read(cause, 'code') === 'subject-erased')) return 0
  const trouble = troubles.get(child) ?? { failures: 0, until: now }
  // A start that takes its time until it fails is not well meanwhile.
  if (starting !== true && now - trouble.until >= quiet) trouble.failures = 0
  const ms = backoffDelay(backoff, ++trouble.failures, random)
  trouble.until = now + ms
  troubles.set(child, trouble)
  return ms
}

function decide(cause: unknown): 'stop' | 'restart' {
  if (isPermanent(cause) || read(cause, 'kind') === 'permanent') return 'stop'
  return typeof cause === 'object' && cause !== null && hopeless.has(cause) ? 'stop' : 'restart'
}

/** The policy of all kinds. */
export const patient: UpkeptPolicy = Object.assign(
  supervise({ decide, limit: { restarts: Number.MAX_SAFE_INTEGER, within: quiet }, backoff, retryStart: true }),
  { own: isOutside, delay: pause },
)
