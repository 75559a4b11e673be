// One listener of the host for each signal, however many wait on it: a thousand questions given the same signal are no
// leak, and hosts would warn of one. Gone with the last that waits, so that a signal that lives long gathers nothing.

import type { AbortSignalLike } from '../values/abort.ts'
import { checkSignal, unreadable } from '../values/checks.ts'

class Waiting extends Set<() => void> {
  readonly abort = (): void => {
    for (const listener of this) listener()
  }
}

const waiting = new WeakMap<AbortSignalLike, Waiting>()

/** Calls the listener, which may not throw, when the signal is aborted; returns what stops listening, and never throws. */
export function listenTo(signal: AbortSignalLike, listener: () => void): () => void {
  checkSignal('signal', signal)
  const found = waiting.get(signal)
  const others = found ?? new Waiting()
  // Before the signal hears of it: one that is not the platform's may call back at once.
  others.add(listener)
  if (found === undefined) {
    try {
      signal.addEventListener('abort', others.abort, { once: true })
    } catch (cause) {
      throw unreadable('signal', signal, cause)
    }
    waiting.set(signal, others)
  }
  return () => {
    if (!others.delete(listener) || others.size > 0 || waiting.get(signal) !== others) return
    waiting.delete(signal)
    try {
      signal.removeEventListener('abort', others.abort)
    } catch {
      // Whoever waited has what it waited for; that the signal keeps an empty listener is its own affair.
    }
  }
}

/** Whether a signal was aborted; one that cannot say so is none. */
export function isAborted(signal: AbortSignalLike | undefined): boolean {
  if (signal === undefined) return false
  checkSignal('signal', signal)
  try {
    return signal.aborted
  } catch (cause) {
    throw unreadable('signal', signal, cause)
  }
}

/** Why a signal was aborted; one that cannot say so has no reason. */
export function reasonOf(signal: AbortSignalLike): unknown {
  try {
    return signal.reason
  } catch {
    return undefined
  }
}
