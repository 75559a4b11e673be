// Who has sent something that was not acknowledged, and when it is asked to send it again: all of them together, in rounds. What a round has
// of each is for its mail to say.

/** An actor that may have to send something again. */
interface Posting {
  /** Whether something still waits. */
  resend(): boolean
}

/** What this asks of whoever has the journal. */
interface RedeliveryHost {
  readonly closing: boolean
  /** Milliseconds from one round to the next. */
  readonly redeliverEvery: number
  after(ms: number, task: () => void): () => void
}

export class Redelivery {
  readonly #host: RedeliveryHost
  readonly #posting = new Set<Posting>()
  #round: (() => void) | undefined

  constructor(host: RedeliveryHost) {
    this.#host = host
  }

  /** An actor has sent something: until it is acknowledged it is sent again now and then. */
  posts(actor: Posting): void {
    this.#posting.add(actor)
    this.#round ??= this.#host.after(this.#host.redeliverEvery, () => {
      this.#round = undefined
      if (this.#host.closing) return
      const before = [...this.#posting]
      this.#posting.clear()
      for (const one of before) if (one.resend()) this.posts(one)
    })
  }
  end(): void {
    this.#round?.()
  }
}
