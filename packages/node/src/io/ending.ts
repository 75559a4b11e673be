// How a resource ends behind its last message: not before it is known what became of the errors that it told of, for one that nobody
// handles fails it instead. An owner that takes messages while others are pending sees the last one before it has decided.

import type { AnyRef } from '@troupe/core'
import { type Carrier, type MessageEnd, HandledCarrier, LastCarrier, type Source } from './credit.ts'

export class Ending {
  readonly #source: Source
  readonly #stop: () => void
  #undecided = 0
  #failed = false
  #seen = false
  constructor(source: Source, stop: () => void) {
    this.#source = source
    this.#stop = stop
  }
  /** For an error: `unowned` is called where nobody handles it, and then nothing stops any more. */
  error(sender: AnyRef | undefined, unowned: () => void): Carrier {
    this.#undecided++
    const decided = (failed: boolean): void => {
      this.#undecided--
      if (failed) {
        this.#failed = true
        unowned()
      }
      this.#look()
    }
    return new VerdictCarrier(sender, this.#source, decided)
  }
  /** For the last message. */
  last(sender: AnyRef): Carrier {
    return new LastCarrier(sender, this.#source, () => this.seen())
  }
  /** The last message was seen, or nobody is there to see it. */
  seen(): void {
    this.#seen = true
    this.#look()
  }
  /** It fails already. */
  fail(): void {
    this.#failed = true
  }
  #look(): void {
    if (this.#seen && this.#undecided === 0 && !this.#failed && !this.#source.stale) this.#stop()
  }
}

/** Says once whether an error was left to whoever met it. */
class VerdictCarrier extends HandledCarrier {
  readonly #once: (failed: boolean) => void
  constructor(sender: AnyRef | undefined, source: Source, decided: (failed: boolean) => void) {
    let open = true
    const once = (failed: boolean): void => {
      if (open) decided(failed)
      open = false
    }
    super(sender, source, () => once(false))
    this.#once = once
  }
  override end(reason: MessageEnd): void {
    if (!this.source.stale) this.#once(reason !== 'failed')
  }
}
