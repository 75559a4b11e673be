// Trying again, with growing pauses. The pauses are those of supervision; time and jitter come from the clock.

import { backoffDelay, checkBackoff } from '../deciders/supervision.ts'
import { hostClock } from '../ports/clock.ts'
import { makeAbortSource } from '../ports/host.ts'
import { isAborted, reasonOf } from '../ports/on-abort.ts'
import type { AbortSignalLike } from '../values/abort.ts'
import { checkFinite, checkFunction, checkWhole, readOptions, type Table } from '../values/checks.ts'
import { RetriesExhausted } from '../values/concurrency-errors.ts'
import type { Backoff } from '../values/policy.ts'
import { observed } from '../values/thenable.ts'
import { cancelledBy, timedTable } from './cancellation.ts'
import { delay, timeout, type TimedOptions } from './delay.ts'

/** How often and when to try again. */
export interface RetryOptions extends TimedOptions {
  /** How many attempts in all; 3 if left out. */
  readonly attempts?: number | undefined
  /** The pauses: 10–1,000 ms, ×2, ±10 % where left out. */
  readonly backoff?: Partial<Backoff> | undefined
  /** Milliseconds for each attempt; unbounded if left out. */
  readonly timeout?: number | undefined
  /** Whether a failure is worth another attempt; all are if left out. */
  readonly retryIf?: ((cause: unknown, attempt: number) => boolean) | undefined
}

const ownTable = { attempts: [checkWhole, 1], backoff: checkBackoff, timeout: [checkFinite, 'from'], retryIf: checkFunction } as const
const table: Table<RetryOptions> = /* @__PURE__ */ Object.assign({}, timedTable, ownTable)

/**
 * What the first attempt that succeeds resolves to.
 *
 * Guarantees: attempts never overlap, unless one overruns its `timeout` without heeding its signal; none begins after
 * `signal` is aborted. Fails: rejects with `RetriesExhausted` after the last attempt, with the cause itself where
 * `retryIf` says no, with `Cancelled` when aborted.
 *
 * @example
 * const page = await retry((attempt, signal) => fetch(url, { signal }), { attempts: 5, signal: ctx.signal })
 */
export async function retry<T>(work: (attempt: number, signal: AbortSignalLike) => PromiseLike<T> | T, options: RetryOptions = {}): Promise<T> {
  checkFunction('work', work)
  // Here, because inside an attempt what is wrong would be one more failure to try again after.
  const read = readOptions('retry', options, table)
  const { attempts = 3, retryIf, signal = makeAbortSource().signal, clock = hostClock, timeout: ms } = read
  const backoff = checkBackoff('backoff', read.backoff ?? {})
  const errors: unknown[] = []
  for (let attempt = 1; ; attempt++) {
    if (isAborted(signal)) throw cancelledBy('The retry', reasonOf(signal))
    try {
      const once = (own: AbortSignalLike): PromiseLike<T> | T => work(attempt, own)
      return await (ms === undefined ? once(signal) : timeout(once, ms, { signal, clock }))
    } catch (cause) {
      if (isAborted(signal)) throw cancelledBy('The retry', reasonOf(signal))
      errors.push(cause)
      const again: unknown = retryIf?.(cause, attempt)
      if (again === false) throw cause
      observed(again, () => {})
    }
    if (attempt === attempts) throw new RetriesExhausted(errors)
    await delay(
      backoffDelay(backoff, attempt, () => clock.random()),
      { signal, clock },
    )
  }
}
