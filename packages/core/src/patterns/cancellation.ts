// Cancellation with a name: a thin face of the host's AbortController, and the links between signals. Whoever listens
// stops listening when done, so that a signal that lives long does not gather what has ended.

import { hostClock } from '../ports/clock.ts'
import { makeAbortSource } from '../ports/host.ts'
import { isAborted, listenTo, reasonOf } from '../ports/on-abort.ts'
import type { AbortSignalLike } from '../values/abort.ts'
import { checkCan, checkFinite, checkSignal, readOptions, type Table, unreadable } from '../values/checks.ts'
import type { Clock } from '../values/clock.ts'
import type { Disposing } from '../values/disposal.ts'
import { Cancelled, type TroupeError } from '../values/errors.ts'
import { TimedOut } from '../values/concurrency-errors.ts'

/** What a wait may be given: what ends it early. */
export interface WaitOptions {
  /** Gives up waiting when it is aborted; none if left out. */
  readonly signal?: AbortSignalLike | undefined
}

/** What ends waits early. */
export const waitTable: Table<WaitOptions> = { signal: checkSignal }

/** What ends waits early, and whose time they are measured in. */
export const timedTable: Table<WaitOptions & { readonly clock?: Clock | undefined }> = {
  signal: checkSignal,
  clock: [checkCan, ['system.clock, or another clock', 'now', 'random', 'after']],
}

/** The signal of a wait that may have been given none. */
export function signalOf(whose: string, options: WaitOptions | undefined): AbortSignalLike | undefined {
  return options === undefined ? undefined : readOptions(whose, options, waitTable).signal
}

function signalBehind(link: AbortSignalLike | CancellationToken | undefined): AbortSignalLike | undefined {
  try {
    return link instanceof CancellationToken ? link.signal : link
  } catch (cause) {
    throw unreadable('signal', link, cause)
  }
}

/** Calls the listener once when the signal is aborted, at once if it is; returns what stops listening. */
export function onAbort(signal: AbortSignalLike | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {}
  if (isAborted(signal)) {
    listener(reasonOf(signal))
    return () => {}
  }
  return listenTo(signal, () => listener(reasonOf(signal)))
}

/** The reason of an aborted signal, as the error that Troupe's own waits end with. */
export function cancelledBy(what: string, reason: unknown): TroupeError {
  return reason instanceof Cancelled || reason instanceof TimedOut ? reason : new Cancelled(what, reason)
}

/**
 * Says that work should end, and asks whether it should.
 *
 * Guarantees: cancelling is final, idempotent and keeps the first reason; a token linked to others is cancelled with
 * the first of them, and cancels none of them. Fails: `throwIfCancelled` throws `Cancelled`.
 *
 * @example
 * const token = new CancellationToken()
 * const work = crunch(token)
 * token.cancel('the user left')
 */
export class CancellationToken implements Disposing {
  readonly #source = makeAbortSource()
  readonly #release: (() => void)[] = []

  /** A token that is cancelled with the first of these, or by itself. */
  constructor(...linked: readonly (AbortSignalLike | CancellationToken | undefined)[]) {
    try {
      for (const link of linked) {
        this.#release.push(onAbort(signalBehind(link), (reason) => this.cancel(reason)))
      }
    } catch (cause) {
      // The links before the one that is none must not keep what nobody has.
      this.dispose()
      throw cause
    }
    if (this.isCancelled) this.dispose()
  }

  /** A token that cancels itself after `ms`, with `TimedOut`; `dispose` lets go of the timer. */
  static after(ms: number, options: WaitOptions & { readonly clock?: Clock | undefined } = {}): CancellationToken {
    checkFinite('ms', ms, 'from')
    const { signal, clock = hostClock } = readOptions('CancellationToken.after', options, timedTable)
    const token = new CancellationToken(signal)
    if (!token.isCancelled)
      token.#release.push(
        clock.after(
          ms,
          () => token.cancel(new TimedOut(ms)),
          (cause) => token.cancel(cause),
        ),
      )
    return token
  }

  /** The same as an `AbortSignal`, for whatever takes one. */
  get signal(): AbortSignalLike {
    return this.#source.signal
  }
  get isCancelled(): boolean {
    return this.#source.signal.aborted
  }
  /** Why it was cancelled; undefined as long as it is not. */
  get reason(): unknown {
    return this.#source.signal.reason
  }
  /** Cancels, once; the reason reaches everybody who listens. */
  cancel(reason?: unknown): void {
    this.dispose()
    this.#source.abort(reason ?? new Cancelled('The work'))
  }
  throwIfCancelled(): void {
    if (this.isCancelled) throw cancelledBy('The work', this.reason)
  }
  /** Lets go of what it is linked to; it can still be cancelled. */
  dispose(): void {
    for (const release of this.#release.splice(0)) release()
  }
  [Symbol.dispose](): void {
    this.dispose()
  }
}
