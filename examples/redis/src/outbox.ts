// The replies of one connection, in the order of its commands. Those that another actor will give leave a place open;
// what is ready behind it waits. Texts that are ready together leave in one write.

export class Outbox {
  /** Ready texts and open places (undefined), oldest first. */
  #queue: (string | undefined)[] = []
  #first = 0
  #open = 0
  /** Index of each open place, by whom it waits for, oldest first. */
  readonly #waiting = new Map<string, number[]>()
  #base = 0
  readonly #write: (text: string) => void
  constructor(write: (text: string) => void) {
    this.#write = write
  }
  /** Places that wait for an answer. */
  get open(): number {
    return this.#open
  }
  put(text: string): void {
    if (text === '') return
    if (this.#open === 0) this.#write(text)
    else this.#queue.push(text)
  }
  /** Keeps a place for the next answer of `whom`. */
  wait(whom: string): void {
    this.#open++
    const at = this.#base + this.#queue.length
    const places = this.#waiting.get(whom)
    if (places === undefined) this.#waiting.set(whom, [at])
    else places.push(at)
    this.#queue.push(undefined)
  }
  /** Fills the oldest place kept for `whom`. */
  fill(whom: string, text: string): void {
    const at = this.#waiting.get(whom)?.shift()
    if (at === undefined) return
    this.#open--
    if (this.#open === 0 && this.#queue.length - this.#first === 1) {
      this.#reset()
      this.#write(text)
      return
    }
    this.#queue[at - this.#base] = text
    this.#flush()
  }
  #flush(): void {
    let text = ''
    while (this.#first < this.#queue.length) {
      const next = this.#queue[this.#first]
      if (next === undefined) break
      text += next
      this.#first++
    }
    if (this.#first === this.#queue.length) this.#reset()
    else if (this.#first > 64) {
      this.#queue.splice(0, this.#first)
      this.#base += this.#first
      this.#first = 0
    }
    if (text !== '') this.#write(text)
  }
  #reset(): void {
    this.#base += this.#queue.length
    this.#queue = []
    this.#first = 0
  }
}
