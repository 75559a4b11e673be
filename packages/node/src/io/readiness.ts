// Whether one direction of a stream is ready, and whether its owner knows. At most one notice is unhandled. An owner that was
// told and did nothing is not told again: it knows, and would be told for ever. What it does (reads, writes) makes the next
// notice possible, so that none is missed, however much is left over. What makes a stream ready is left to whoever asks.
//
//            ready, told            handled, and it did something
//   unaware ─────────────→ told ──────────────────────────────────→ unaware
//      ↑                     │ handled, and it did nothing
//      └──── it did ──── aware

/** A notice that is told; `heard` is to be called once it was handled, and whether it failed. */
export type Notify = (heard: (failed: boolean) => void) => void

export class Readiness {
  readonly #ready: () => boolean
  readonly #notify: Notify
  #owner: 'unaware' | 'told' | 'aware' = 'unaware'
  /** It was made use of since the last notice was told. */
  #used = false
  /** The notice that counts. */
  #notice = 0
  #looking = false

  constructor(ready: () => boolean, notify: Notify) {
    this.#ready = ready
    this.#notify = notify
  }

  /** A notice is with the owner. */
  get told(): boolean {
    return this.#owner === 'told'
  }

  /** It may be ready now. */
  look(): void {
    if (this.#owner !== 'unaware' || !this.#ready()) return
    this.#owner = 'told'
    this.#used = false
    const notice = ++this.#notice
    this.#notify((failed) => this.#heard(notice, failed))
  }

  /** The owner has read or written. */
  used(): void {
    this.#used = true
    if (this.#owner === 'aware') this.#owner = 'unaware'
    if (this.#looking) return
    this.#looking = true
    // At the end of the pass: more of what it does comes before, and may leave nothing to tell.
    setImmediate(() => {
      this.#looking = false
      this.look()
    })
  }

  /** There is another owner, who knows nothing. */
  begin(): void {
    this.#owner = 'unaware'
    this.look()
  }

  #heard(notice: number, failed: boolean): void {
    if (notice !== this.#notice || this.#owner !== 'told') return
    // Whoever failed has forgotten it.
    this.#owner = this.#used || failed ? 'unaware' : 'aware'
    this.look()
  }
}
