// The signals that end a process.

/** A signal that asks a process to end. */
export type SignalName = 'SIGINT' | 'SIGTERM'

export const signalNumbers: Readonly<Record<SignalName, number>> = { SIGINT: 2, SIGTERM: 15 }

/** Where they come from: the process, or a test. */
export interface Interrupts {
  /** Calls back for each; returns what ends that. */
  listen(on: (signal: SignalName) => void): () => void
  /** Ends the process as the signal would have. */
  end(signal: SignalName): void
}
