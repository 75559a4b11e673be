// The store of a MemoryHub as one node sees it: each operation is a question that travels there and an answer that travels back. Where
// either is lost the node hears of it after its patience, and cannot know whether a write was done.

import type { Entry, Hint, Registry, Revision, Watch, WriteOptions } from '../../ports/registry.ts'
import type { Timing } from '../../ports/timing.ts'
import { RegistryUnavailable } from '../../values/errors.ts'
import type { MemoryHub } from './hub.ts'

export class MemoryRegistry implements Registry {
  readonly #hub: MemoryHub
  readonly #node: string
  readonly #timing: Timing
  readonly #waiting = new Set<() => void>()
  readonly #watches = new Set<Watch>()
  #closed = false

  constructor(hub: MemoryHub, node: string, timing: Timing) {
    this.#hub = hub
    this.#node = node
    this.#timing = timing
  }

  create(key: string, value: string, options: WriteOptions = {}): Promise<Revision> {
    return this.#ask(`create ${key}`, () => this.#hub.store.create(key, value, options.ttl))
  }

  update(key: string, value: string, expected: Revision, options: WriteOptions = {}): Promise<Revision> {
    return this.#ask(`update ${key}`, () => this.#hub.store.update(key, value, expected, options.ttl))
  }

  remove(key: string, expected: Revision): Promise<void> {
    return this.#ask(`remove ${key}`, () => this.#hub.store.remove(key, expected))
  }

  read(key: string): Promise<Entry | undefined> {
    return this.#ask(`read ${key}`, () => this.#hub.store.read(key))
  }

  list(prefix: string): Promise<Entry[]> {
    return this.#ask(`list ${prefix}`, () => this.#hub.store.list(prefix))
  }

  fingerprint(prefix: string): Promise<string> {
    return this.#ask(`look at ${prefix}`, () => this.#hub.store.fingerprint(prefix))
  }

  watch(prefix: string, onHint: (hint: Hint) => void): Watch {
    const stop = this.#hub.watch({ node: this.#node, prefix, timing: this.#timing, onHint })
    const watch = {
      stop: () => {
        this.#watches.delete(watch)
        stop()
      },
    }
    this.#watches.add(watch)
    return watch
  }

  close(): void {
    this.#closed = true
    for (const fail of this.#waiting) fail()
    for (const watch of this.#watches) watch.stop()
  }

  #ask<T>(what: string, apply: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (): void => settle(() => reject(new RegistryUnavailable(what, this.#closed ? 'the connection is closed' : 'no answer in time')))
      if (this.#closed) return reject(new RegistryUnavailable(what, 'the connection is closed'))
      const cancel = this.#timing.timer(this.#hub.patience, fail)
      this.#waiting.add(fail)
      const settle = (how: () => void): void => {
        if (!this.#waiting.delete(fail)) return
        cancel()
        how()
      }
      let done = false
      this.#hub.toStore(this.#node, () => {
        // A question that was doubled on its way is one question.
        if (done) return
        done = true
        let answer: () => void
        try {
          const value = apply()
          answer = () => resolve(value)
        } catch (cause) {
          answer = () => reject(cause)
        }
        this.#hub.toStore(this.#node, () => this.#timing.wake(() => settle(answer)))
      })
    })
  }
}
