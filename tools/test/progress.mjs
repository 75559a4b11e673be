// What `npm test` shows while it runs: in a terminal one line that is drawn again, elsewhere a line for each step that begins and ends, and
// one every ten seconds while only tests run. Text in between goes above the line.

const intervalMs = 10_000

export class Progress {
  #stream
  #running = new Set()
  #tests = ''
  #last = performance.now()
  #began = performance.now()

  constructor(stream) {
    this.#stream = stream
  }
  begin(name) {
    this.#running.add(name)
    if (!this.#stream.isTTY) this.print(`▸ ${name}`)
    this.#draw()
  }
  /** Updates the number of test files that have ended. */
  files(done, all, failed) {
    this.#tests = `tests: ${done} of ${all} files${failed === 0 ? '' : `, ${failed} failed`}`
    if (!this.#stream.isTTY && performance.now() - this.#last > intervalMs) this.print(`  ${this.#tests} after ${this.#seconds()} s`)
    this.#draw()
  }
  finish(name, line) {
    this.#running.delete(name)
    this.print(line)
  }
  print(text) {
    this.#erase()
    this.#stream.write(`${text}\n`)
    this.#last = performance.now()
    this.#draw()
  }
  end() {
    this.#erase()
  }
  #seconds() {
    return ((performance.now() - this.#began) / 1000).toFixed(0)
  }
  #erase() {
    if (this.#stream.isTTY) this.#stream.write('\r\u001B[K')
  }
  #draw() {
    if (!this.#stream.isTTY || this.#running.size === 0) return
    const steps = [...this.#running].map((name) => (name === 'tests' && this.#tests !== '' ? this.#tests : name))
    const line = `▸ ${steps.join(' · ')} · ${this.#seconds()} s`
    this.#stream.write(`\r\u001B[K${line.slice(0, (this.#stream.columns ?? 80) - 1)}`)
  }
}
