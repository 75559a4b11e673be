// One listener of the host for each signal, however many wait on it: a thousand questions given the same signal are no
// leak, and hosts would warn of one. Gone with the last that waits, so that a signal that lives long gathers nothing.

import type { Signal } from '../values/abort.ts'

class Waiting extends Set<() => void> {
  readonly abort = (): void => {
    for (const listener of this) listener()
  }
}

const waiting = new WeakMap<Signal, Waiting>()

/** Calls the listener, which may not throw, when the signal is aborted; returns what stops listening. */
export function listenTo(signal: Signal, listener: () => void): () => void {
  const found = waiting.get(signal)
  const others = found ?? new Waiting()
  if (found === undefined) {
    signal.addEventListener('abort', others.abort, { once: true })
    waiting.set(signal, others)
  }
  others.add(listener)
  return () => {
    if (!others.delete(listener) || others.size > 0 || waiting.get(signal) !== others) return
    waiting.delete(signal)
    signal.removeEventListener('abort', others.abort)
  }
}
