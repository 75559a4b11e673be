// Lines of JSON by a stream, each bounded: a client that never ends its line, or sends what is not JSON, costs a few kilobytes and is
// turned away.

/** The longest line that a client may send. */
export const longestLine: number = 64 * 1024

export class LineReader {
  #held: string[] = []
  #length = 0
  readonly #most: number
  readonly #line: (value: unknown) => void
  readonly #refuse: (why: string) => void
  #over = false

  constructor(line: (value: unknown) => void, refuse: (why: string) => void, most: number = longestLine) {
    this.#line = line
    this.#refuse = refuse
    this.#most = most
  }

  take(text: string): void {
    if (this.#over) return
    let rest = text
    // Looked for in what is new alone: a capsule is a line of megabytes, and comes in thousands of pieces.
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      this.#hold(rest.slice(0, end))
      rest = rest.slice(end + 1)
      const line = this.#held.join('')
      this.#held = []
      this.#length = 0
      if (line.length > this.#most) return this.#end(`a line may have ${this.#most} characters`)
      if (line.trim() === '') continue
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        return this.#end('a line is one JSON value')
      }
      this.#line(value)
      if (this.#over) return
    }
    this.#hold(rest)
    if (this.#length > this.#most) this.#end(`a line may have ${this.#most} characters`)
  }
  #hold(piece: string): void {
    this.#held.push(piece)
    this.#length += piece.length
  }

  stop(): void {
    this.#over = true
    this.#held = []
  }
  #end(why: string): void {
    this.stop()
    this.#refuse(why)
  }
}
