// Trying again, with growing pauses. The pauses are those of supervision; time and jitter come from the clock.

import { backoffDelay } from '../deciders/supervision.ts'
import { hostClock } from '../ports/clock.ts'
import { makeAbortSource } from '../ports/host.ts'
import type { Signal } from '../values/abort.ts'
import { checkFactor, checkFinite, checkWhole } from '../values/checks.ts'
import { RetriesExhausted } from '../values/concurrency-errors.ts'
import { InvalidOption } from '../values/errors.ts'
import type { Backoff } from '../values/policy.ts'
import { observed } from '../values/thenable.ts'
import { cancelledBy } from './cancellation.ts'
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
export async function retry<T>(work: (attempt: number, signal: Signal) => PromiseLike<T> | T, options: RetryOptions = {}): Promise<T> {
  const { attempts = 3, retryIf, signal = makeAbortSource().signal, clock = hostClock } = options
  checkWhole('attempts', attempts, 1)
  // Here, because inside an attempt it would be one more failure to try again after.
  if (options.timeout !== undefined) checkFinite('timeout', options.timeout, 'from')
  const backoff = backoffOf(options.backoff)
  const errors: unknown[] = []
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) throw cancelledBy('The retry', signal.reason)
    try {
      const once = (own: Signal): PromiseLike<T> | T => work(attempt, own)
      return await (options.timeout === undefined ? once(signal) : timeout(once, options.timeout, { signal, clock }))
    } catch (cause) {
      if (signal.aborted) throw cancelledBy('The retry', signal.reason)
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

function backoffOf(given: Partial<Backoff> | undefined): Backoff {
  const backoff: Backoff = { min: 10, max: 1000, factor: 2, jitter: 0.1, ...given }
  checkFinite('backoff.min', backoff.min, 'from')
  checkFinite('backoff.max', backoff.max, 'from')
  if (backoff.min > backoff.max) throw new InvalidOption('backoff.min', backoff.min, `it must not exceed backoff.max (${backoff.max})`)
  checkFactor('backoff.factor', backoff.factor)
  if (!(backoff.jitter >= 0 && backoff.jitter <= 1)) throw new InvalidOption('backoff.jitter', backoff.jitter, 'use a number from 0 to 1')
  return backoff
}
