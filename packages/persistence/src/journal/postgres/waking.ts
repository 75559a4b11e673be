// Wakes readers that wait for events: those of this process at once, those of others by NOTIFY, and after a while in any case. A wake
// says only that it is worth a look: nothing is told by it, and nothing is lost with it.

import type { JournalEnvironment } from '../port.ts'
import type { Connections, PostgresClient } from './connection.ts'
import { quoted } from './text.ts'

export class Waking {
  readonly #connections: Connections
  readonly #environment: JournalEnvironment
  readonly #channel: string
  readonly #waiting = new Set<() => void>()
  #listening = false
  #stop: (() => void) | undefined
  #announcing: 'no' | 'soon' = 'no'
  #over = false
  /** Counts wake-ups: a reader that looked before the latest one does not wait. */
  wakes = 0

  constructor(connections: Connections, environment: JournalEnvironment, channel: string) {
    this.#connections = connections
    this.#environment = environment
    this.#channel = channel
  }

  /** Something was stored. Others are told a moment later, many at once: a NOTIFY in the append itself would make all commits queue. */
  announce(): void {
    this.#wake()
    if (this.#announcing === 'soon' || this.#over) return
    this.#announcing = 'soon'
    this.#environment.after(10, () => {
      this.#announcing = 'no'
      if (!this.#over) this.#connections.query('select pg_notify($1, $2)', [this.#channel, '']).catch(() => undefined)
    })
  }
  #wake(): void {
    this.wakes++
    for (const end of this.#waiting) end()
  }

  /** Until it is worth a look, for at most so long; not at all where it became so since a look that began at `seen` wakes. */
  wait(ms: number, signal: AbortSignal | undefined, seen: number): Promise<void> {
    this.#listen()
    if (seen !== this.wakes || signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#waiting.delete(end)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const cancel = this.#environment.after(ms, end)
      this.#waiting.add(end)
      signal?.addEventListener('abort', end)
    })
  }

  /** Holds one connection that listens, from the first wait on; one that breaks is replaced at a later wait. */
  #listen(): void {
    if (this.#listening || this.#over) return
    this.#listening = true
    this.#connections
      .use(async (run, client) => {
        await run(`listen ${quoted(this.#channel)}`)
        await this.#until(client)
        await run(`unlisten ${quoted(this.#channel)}`)
      })
      .catch(() => undefined)
      .finally(() => {
        this.#listening = false
      })
  }
  /** Until the connection breaks, or nobody needs it any more. */
  #until(client: PostgresClient): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => this.#wake()
      const breaks = (cause: unknown): void => {
        leave()
        reject(cause)
      }
      const leave = (): void => {
        client.removeListener('notification', wake)
        client.removeListener('error', breaks)
      }
      this.#stop = () => {
        leave()
        resolve()
      }
      client.on('notification', wake)
      client.on('error', breaks)
      if (this.#over) this.#stop()
    })
  }

  end(): void {
    this.#over = true
    this.#stop?.()
    this.#wake()
  }
}
