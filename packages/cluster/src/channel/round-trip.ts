// How long an answer takes, and from that when to send again (as TCP does: Jacobson's mean and deviation).

const shortest = 50
const longest = 2_000
const first = 500

export class RoundTrip {
  #mean: number | undefined
  #deviation = 0
  #backoff = 1

  /** How long an answer takes, smoothed; undefined before the first. */
  get mean(): number | undefined {
    return this.#mean
  }

  /** An answer to a frame that was sent once took so long. */
  sample(ms: number): void {
    if (this.#mean === undefined) {
      this.#mean = ms
      this.#deviation = ms / 2
    } else {
      this.#deviation += (Math.abs(ms - this.#mean) - this.#deviation) / 4
      this.#mean += (ms - this.#mean) / 8
    }
  }

  /** Something new was acknowledged: the way works. */
  progress(): void {
    this.#backoff = 1
  }

  /** Nothing came back in time: the next wait is twice as long. */
  missed(): void {
    this.#backoff = Math.min(this.#backoff * 2, 64)
  }

  /** After how many ms without an acknowledgement a frame is sent again. */
  get patience(): number {
    const usual = this.#mean === undefined ? first : this.#mean + Math.max(4 * this.#deviation, 10)
    return Math.min(Math.max(usual, shortest) * this.#backoff, longest)
  }

  /** By how much a frame may be overtaken before it counts as lost. */
  get tolerance(): number {
    return Math.max((this.#mean ?? first) / 4, 2)
  }
}
