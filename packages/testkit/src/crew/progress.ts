// How far it is, on stderr: one line that changes on a terminal, a line every few seconds elsewhere.

interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): void
}

export class Progress {
  readonly #stream: Stream
  readonly #text: () => string
  readonly #pause: number
  #last: number
  constructor(stream: Stream, now: number, text: () => string) {
    this.#stream = stream
    this.#text = text
    this.#pause = stream.isTTY === true ? 200 : 5000
    // The first soon: whoever waits wants to know that something is going on.
    this.#last = now - Math.max(0, this.#pause - 1000)
  }
  /** Shows how far it is, unless that was just now. */
  show(now: number): void {
    if (now - this.#last < this.#pause) return
    this.#last = now
    const text = this.#text()
    if (this.#stream.isTTY === true) this.#stream.write(`\r\x1b[2K${text.slice(0, Math.max(20, (this.#stream.columns ?? 80) - 1))}`)
    else this.#stream.write(`${text}\n`)
  }
  end(): void {
    if (this.#stream.isTTY === true) this.#stream.write('\r\x1b[2K')
  }
}
