// A watch that does not trust its server: it begins again, with growing pauses, whenever its consumer ends or the client reconnects, and
// says each time that anything may have changed.

import { type KV, type KvWatchEntry, KvWatchInclude } from '@nats-io/kv'
import type { QueuedIterator } from '@nats-io/transport-node'
import type { Hint } from '../../ports/registry.ts'
import type { Timing } from '../../ports/timing.ts'

const shortestPause = 50
const longestPause = 5_000
const decoder = new TextDecoder()

export class NatsWatch {
  readonly #kv: KV
  readonly #prefix: string
  readonly #timing: Timing
  readonly #onHint: (hint: Hint) => void
  readonly #onTrouble: (text: string, cause: unknown) => void
  #stopped = false
  #iterator: QueuedIterator<KvWatchEntry> | undefined
  #endPause: (() => void) | undefined

  constructor(kv: KV, prefix: string, timing: Timing, onHint: (hint: Hint) => void, onTrouble: (text: string, cause: unknown) => void) {
    this.#kv = kv
    this.#prefix = prefix
    this.#timing = timing
    this.#onHint = onHint
    this.#onTrouble = onTrouble
    void this.#run()
  }

  /** Begins anew at once. */
  renew(): void {
    this.#iterator?.stop()
    this.#endPause?.()
  }

  stop(): void {
    this.#stopped = true
    this.renew()
  }

  async #run(): Promise<void> {
    let pause = shortestPause
    while (!this.#stopped) {
      try {
        await this.#follow(() => {
          pause = shortestPause
        })
      } catch (cause) {
        if (!this.#stopped) this.#onTrouble(`The watch of ${this.#prefix} ended, and is begun again in ${pause} ms`, cause)
      }
      if (this.#stopped) return
      await this.#wait(pause)
      pause = Math.min(pause * 2, longestPause)
    }
  }

  async #follow(begun: () => void): Promise<void> {
    const iterator = await this.#kv.watch({ key: `${this.#prefix}.>`, include: KvWatchInclude.UpdatesOnly })
    this.#iterator = iterator
    if (this.#stopped) return iterator.stop()
    begun()
    this.#onHint('anything')
    for await (const { key, revision, operation, value } of iterator) {
      if (this.#stopped) return
      this.#onHint({ key, revision, value: operation === 'PUT' ? decoder.decode(value) : undefined })
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#timing.timer(ms, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }
}
