// Lines of JSON by a stream, each bounded: a client that never ends its line, or sends what is not JSON, costs a few kilobytes and is
// turned away.

/** The longest line that a client may send. */
export const longestLine: number = 64 * 1024

export class LineReader {
  #held = ''
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
    this.#held += text
    for (;;) {
      const end = this.#held.indexOf('\n')
      if (end < 0) break
      const line = this.#held.slice(0, end)
      this.#held = this.#held.slice(end + 1)
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
    if (this.#held.length > this.#most) this.#end(`a line may have ${this.#most} characters`)
  }

  stop(): void {
    this.#over = true
    this.#held = ''
  }
  #end(why: string): void {
    this.stop()
    this.#refuse(why)
  }
}
