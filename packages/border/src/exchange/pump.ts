// When a thread reads what has come: at once when woken, then again and again while there is traffic; then it sleeps,
// after having said so, so that whoever sends next wakes it.

import type { Loop } from '../values/loop.ts'
import type { Bell } from '../way/line.ts'

/** What is looked after. */
interface Pumped {
  /** Reads what has come; returns how many bytes had. */
  read(): number
  /** Looks once more, with this thread said to sleep: whether there is anything to do that nobody would wake it for. */
  lastLook(): boolean
  /** Called before sleeping. */
  resting(): void
  readonly now: number
}

/** Bytes in one reading that are more than a question or two. */
const stream = 2048

export class Pump {
  readonly #of: Pumped
  readonly #bell: Bell
  /** Milliseconds of looking for more before sleeping. */
  readonly #spin: number
  readonly #loop: Loop
  #scheduled = false
  #idleSince = 0
  #score = 4
  #sinceSpin = 0

  constructor(of: Pumped, bell: Bell, spin: number, loop: Loop) {
    this.#of = of
    this.#bell = bell
    this.#spin = spin
    this.#loop = loop
  }

  readonly wake = (): void => {
    if (!this.#scheduled) this.#round()
  }
  readonly #again = (): void => {
    this.#scheduled = false
    this.#round()
  }

  #round(): void {
    // Whoever wakes meanwhile, by opening a way for what is being read, must not have it read on from in the midst of a record.
    this.#scheduled = true
    const bytes = this.#of.read()
    this.#scheduled = false
    if (bytes > 0) {
      if (this.#idleSince !== 0) this.#paid(true)
      // Where much comes, more will: a wake would cost the sender more than another look costs us.
      if (bytes < stream && !this.#spins() && this.#sleep()) return
    } else {
      const { now } = this.#of
      if (this.#idleSince === 0) this.#idleSince = now
      if (now - this.#idleSince >= this.#spin) {
        this.#paid(false)
        if (this.#sleep()) return
      }
    }
    this.#scheduled = true
    this.#loop.soon(this.#again)
  }

  /**
   * Looking for more before sleeping saves a wake where the other side is quick and has a processor of its own; where
   * both share one it only keeps the other from answering. So it is done as long as it pays, and tried now and then.
   */
  #spins(): boolean {
    return this.#spin > 0 && (this.#score > 0 || ++this.#sinceSpin % 64 === 0)
  }
  #paid(found: boolean): void {
    this.#idleSince = 0
    this.#score = found ? Math.min(8, this.#score + 1) : Math.max(0, this.#score - 2)
  }

  /** Says that it sleeps, then looks once more: what came between, and room that was made, is seen by one side or the other. */
  #sleep(): boolean {
    this.#idleSince = 0
    this.#of.resting()
    this.#bell.rest()
    if (!this.#of.lastLook()) return true
    this.#bell.rise()
    return false
  }
}
