// What became of a file's tests, from the events of whoever ran it. Every test that was gathered is counted once: passed, failed or skipped;
// those that a dead process never came to have failed.

export class Tally {
  passed = 0
  failed = 0
  skipped = 0
  /** How many there are; undefined as long as the file has not been loaded. */
  tests
  done = false
  /** Reasons for what was skipped, each with how often. */
  notes = new Map()
  /** What failed, in words. */
  failures = []
  /** Entries of the list of what is known that were met here. */
  met = new Set()
  #running
  #broken = []

  hear(event) {
    if (event.tests !== undefined) this.tests = event.tests
    if (event.known !== undefined) this.met.add(event.known)
    if (event.start !== undefined) this.#running = event.start
    if (event.broken !== undefined) this.#broken.push(event.broken)
    if (event.done === true) this.done = true
    if (event.end === undefined) return
    this.#running = undefined
    if (event.state === 'pass') this.passed++
    else if (event.state === 'skip' || event.state === 'todo') {
      this.skipped++
      const note = event.note ?? 'skipped by the test itself'
      this.notes.set(note, (this.notes.get(note) ?? 0) + 1)
    } else {
      this.failed++
      this.failures.push(`${event.end}\n${event.error ?? ''}`)
    }
  }

  /** After the last event. `how` says how the process ended; `gathered` is how many tests there are where it did not get to say so. */
  close(how, gathered) {
    const tests = this.tests === undefined || this.tests === 0 ? gathered : this.tests
    const missing = tests - this.passed - this.failed - this.skipped
    if (missing > 0) {
      this.failed += missing
      const where = this.#running === undefined ? '' : `in "${this.#running}"; `
      this.failures.push(`(${how}) ${where}${missing} tests did not end\n${this.#broken.join('\n')}`)
    } else if (this.#broken.length > 0) {
      // All tests have an end and yet something went wrong around them: that may not look like success.
      if (this.passed > 0) this.passed--
      this.failed++
      this.failures.push(`(around the tests)\n${this.#broken.join('\n')}`)
    }
    this.tests = tests
  }
}
