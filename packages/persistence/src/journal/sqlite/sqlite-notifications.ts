// Wakes readers that wait for events: at once after a commit of this thread, and by polling `data_version` for those of other threads and
// processes.

import type { JournalEnvironment } from '../port.ts'
import type { SqliteFile } from './sqlite-file.ts'

export class SqliteNotifications {
  readonly #file: SqliteFile
  readonly #environment: JournalEnvironment
  readonly #pollMs: number
  readonly #waiting = new Set<() => void>()
  #closed = false

  constructor(file: SqliteFile, environment: JournalEnvironment, pollMs: number) {
    this.#file = file
    this.#environment = environment
    this.#pollMs = pollMs
  }

  /** Resolves when there may be more than at that version, or waiting is of no use. */
  async changeAfter(version: number, signal: AbortSignal | undefined): Promise<void> {
    for (let ms = 1; ; ms = Math.min(ms * 2, this.#pollMs)) {
      if (this.#closed || signal?.aborted === true || this.#file.dataVersion() !== version) return
      await this.#wait(ms, signal)
    }
  }
  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#file.listeners.delete(end)
        this.#waiting.delete(end)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const cancel = this.#environment.after(ms, end)
      this.#file.listeners.add(end)
      this.#waiting.add(end)
      signal?.addEventListener('abort', end)
    })
  }

  /** Wakes all, for the last time. */
  close(): void {
    this.#closed = true
    for (const end of this.#waiting) end()
  }
}
