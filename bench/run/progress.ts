// What is going on, on one line of the terminal; nothing at all when there is no terminal.

export class Progress {
  readonly #total: number
  readonly #started = performance.now()
  #done = 0
  constructor(total: number) {
    this.#total = total
  }
  /** Says what runs now. */
  step(what: string): void {
    const elapsed = (performance.now() - this.#started) / 1000
    const rest = this.#done === 0 ? '' : `, about ${clock((elapsed / this.#done) * (this.#total - this.#done))} left`
    this.#write(`[${bar(this.#done / this.#total)}] ${this.#done}/${this.#total}${rest}  ${what}`)
    this.#done++
  }
  end(): void {
    this.#write('')
  }
  #write(text: string): void {
    if (!process.stderr.isTTY) return
    process.stderr.write(`\r\x1b[2K${text.slice(0, Math.max(20, process.stderr.columns - 1))}`)
  }
}

const bar = (share: number): string => '█'.repeat(Math.round(share * 20)).padEnd(20, '·')
const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`
