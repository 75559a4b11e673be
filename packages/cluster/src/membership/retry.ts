// Asks the registry again while it does not answer: one answer that is late or lost is no reason to give up joining.

import type { Timing } from '../ports/timing.ts'
import { RegistryUnavailable } from '../values/errors.ts'

/** For how long a registry that does not answer is asked again. */
const giveUpAfter = 30_000
const pauseMs = 100

export interface RetryHost {
  readonly timing: Timing
  readonly onTrouble: (text: string, cause: unknown) => void
}

/** What `ask` resolves with, asked again where the registry is not available; rejects with that after half a minute, and at once with all else. */
export async function retried<T>({ timing, onTrouble }: RetryHost, ask: () => Promise<T>): Promise<T> {
  const since = timing.now()
  for (;;) {
    try {
      return await ask()
    } catch (cause) {
      if (!(cause instanceof RegistryUnavailable) || timing.now() - since >= giveUpAfter) throw cause
      onTrouble('The registry does not answer while this node joins; it is asked again', cause)
    }
    await new Promise<void>((resolve) => void timing.timer(pauseMs, resolve))
  }
}
