// Waiting for a while, and waiting no longer than that. Both on a `Clock`, so that virtual time drives them: give them
// `system.clock`, or leave it out for the host's.

import { hostClock } from '../ports/clock.ts'
import type { AbortSignalLike } from '../values/abort.ts'
import { checkFinite, readOptions, unreadable } from '../values/checks.ts'
import { observed } from '../values/thenable.ts'
import type { Clock } from '../values/clock.ts'
import { TimedOut } from '../values/concurrency-errors.ts'
import { CancellationToken, cancelledBy, onAbort, timedTable, type WaitOptions } from './cancellation.ts'

/** What ends a wait early, and whose time it is measured in. */
export interface TimedOptions extends WaitOptions {
  /** Whose time counts, such as `ctx.system.clock`; that of the host if left out. */
  readonly clock?: Clock | undefined
}

/**
 * Resolves after `ms`, any finite number of at least 0.
 *
 * Guarantees: leaves no timer and no listener behind, however it ends. Fails: rejects with `Cancelled` when the signal
 * is aborted, with `InvalidOption` on a bad `ms`, with `SystemClosed` when the clock's system ends first.
 *
 * @example
 * await delay(50, { signal: ctx.signal, clock: ctx.system.clock })
 */
export function delay(ms: number, options: TimedOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const { signal, clock = hostClock } = readOptions('delay', options, timedTable)
    checkFinite('ms', ms, 'from')
    let stop: (() => void) | undefined
    let ended = false
    const unlisten = onAbort(signal, (reason) => {
      ended = true
      stop?.()
      reject(cancelledBy('The delay', reason))
    })
    // Aborted already, or by a signal that calls back at once.
    if (ended) return unlisten()
    stop = clock.after(
      ms,
      () => {
        unlisten()
        resolve()
      },
      (cause) => {
        unlisten()
        reject(cause)
      },
    )
  })
}

/**
 * What the promise resolves to, if it does so within `ms`. Given a function, it gets a signal that is aborted when the
 * time is up, so that the work ends too and not only the waiting.
 *
 * Guarantees: settles once; a promise that rejects after the time was up is observed. Fails: rejects with `TimedOut`,
 * with `Cancelled` when `signal` is aborted first, or as the promise does.
 *
 * @example
 * const page = await timeout((signal) => fetch(url, { signal }), 30_000)
 */
export function timeout<T>(
  work: PromiseLike<T> | ((signal: AbortSignalLike) => PromiseLike<T> | T),
  ms: number,
  options: TimedOptions = {},
): Promise<T> {
  // Before anything is refused: handed over, it is nobody else's to observe any more.
  if (typeof work !== 'function') observed(work, () => {})
  return new Promise((resolve, reject) => {
    checkFinite('ms', ms, 'from')
    try {
      void (work as { then?: unknown } | null | undefined)?.then
    } catch (cause) {
      throw unreadable('work', work, cause)
    }
    const token = CancellationToken.after(ms, readOptions('timeout', options, timedTable))
    const unlisten = onAbort(token.signal, (reason) => reject(reason instanceof TimedOut ? reason : cancelledBy('The wait', reason)))
    const done = (): void => {
      unlisten()
      token.dispose()
    }
    const started = typeof work === 'function' ? (token.isCancelled ? new Promise<T>(() => {}) : start(work, token.signal)) : work
    Promise.resolve(started).then(
      (value) => {
        done()
        resolve(value)
      },
      (cause: unknown) => {
        done()
        reject(cause)
      },
    )
  })
}

async function start<T>(work: (signal: AbortSignalLike) => PromiseLike<T> | T, signal: AbortSignalLike): Promise<T> {
  return work(signal)
}
