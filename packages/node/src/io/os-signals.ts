// Signals of the operating system as messages, and the usual wish: SIGTERM ends the system gracefully.

import process from 'node:process'
import { type ActorRef, type Behavior, InvalidOption, same } from '@troupe/core'
import { checkOptions, signalChecks } from './limits.ts'
import { resource } from './resource.ts'

/** A signal that the process received. */
export interface OsSignal {
  readonly type: 'os-signal'
  readonly signal: NodeJS.Signals
}

/** Which signals, who hears of them, and which system they end. */
export interface OsSignalOptions {
  /** SIGTERM and SIGINT if left out. */
  readonly signals?: readonly NodeJS.Signals[] | undefined
  /** Hears of each. Without `shutdown` nothing else comes of it: the process goes on. */
  readonly owner?: ActorRef<OsSignal> | undefined
  /** Is shut down at the first signal, mailboxes drained; servers take requests until that is done. A second one, once this actor has stopped, has the system's default effect. */
  readonly shutdown?: { shutdown(options?: { readonly deadline?: number; readonly drain?: boolean | number }): Promise<unknown> } | undefined
  /** Milliseconds for that shutdown; 30,000 if left out. */
  readonly deadline?: number | undefined
}

/**
 * An actor that hears signals of the operating system for as long as it lives.
 *
 * Guarantees: each signal is told once; the process's own handling returns when the actor stops.
 * Fails: with the platform's error for a signal that cannot be caught, such as SIGKILL.
 *
 * @example
 * system.spawn(osSignals({ shutdown: system }))
 */
export function osSignals(options: OsSignalOptions): Behavior<never> {
  const read = checkOptions('osSignals', options, signalChecks)
  const { signals = ['SIGTERM', 'SIGINT'], owner, shutdown, deadline = 30_000 } = read
  // The process would be deaf to them, and nothing else would come of it.
  if (owner === undefined && shutdown === undefined)
    throw new InvalidOption('owner', owner, 'say who hears of signals, which system they shut down, or both')
  return resource<never, OsSignal>(owner, ({ tell }) => {
    const hear = (signal: NodeJS.Signals): void => {
      tell({ type: 'os-signal', signal })
      void shutdown?.shutdown({ deadline, drain: true })
    }
    const release = (): void => {
      for (const signal of signals) process.removeListener(signal, hear)
    }
    try {
      for (const signal of signals) process.on(signal, hear)
    } catch (cause) {
      release()
      throw cause
    }
    return { onCommand: () => same, release }
  })
}
