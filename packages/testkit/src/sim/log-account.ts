// What the system's log said: how often what, which actors were said to have failed, and whether a turn broke, which only
// the log would tell.

import type { LevelledLogger } from '@troupe/core'

export class LogAccount {
  readonly #times = new Map<string, number>()
  readonly #failed = new Set<unknown>()
  /** What broke a turn; undefined while none did. */
  broken: unknown = undefined

  /** How often the log said this. */
  times(message: string): number {
    return this.#times.get(message) ?? 0
  }
  /** Whether it said that the actor at a path failed. */
  hasFailed(path: string): boolean {
    return this.#failed.has(path)
  }
  get logger(): LevelledLogger {
    const note = (fields: Readonly<Record<string, unknown>>, message: string): void => {
      this.#times.set(message, this.times(message) + 1)
      if (message === 'the actor failed') this.#failed.add(fields['actor'])
      else if (message === 'a turn broke') this.broken = fields['cause']
    }
    return { debug: () => {}, info: note, warn: note, error: note, isLevelEnabled: (level) => level !== 'debug' }
  }
}
