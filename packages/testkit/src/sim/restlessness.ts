// Whether a run comes to rest. What goes on for ever at one moment, within one turn, or with ever more steps is a violation
// of its own, that says who is busy; without it such a run would hang, or fill the memory.

import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** More than an honest scenario does within one turn: changes of phase and commands; and timers that it sets at one moment. */
const mostInTurn = 20_000
/** Over how many of the last steps it is seen who is busy. */
const seen = 120

/** Ends a turn that would not end by itself. */
export class TurnWithoutEnd extends Error {}

export class Restlessness {
  readonly #tap: SimTap
  /** Steps of a run; and at one moment of virtual time, beside a few for each actor, steps and events. */
  readonly #most: number
  readonly #mostAtOnce: number
  readonly #mostEvents: number
  #moment = -1
  /** Steps at this moment, how many events were before it, and how often something was due. */
  #here = 0
  #eventsBefore = 0
  #passes = 0
  #allPasses = 0
  #inTurn = 0
  #armed = 0
  /** Turns in the last steps, by actor; undefined until it looks as if there were no end. */
  #busy: Map<SimCell, number> | undefined = undefined
  /** The last step that came from outside. */
  #acted = 0
  constructor(tap: SimTap, most: number) {
    this.#tap = tap
    this.#most = most
    this.#mostAtOnce = most / 8
    this.#mostEvents = most * 5
  }
  /** A step begins. False: there were too many. */
  step(step: number): boolean {
    this.#inTurn = 0
    this.#arrive()
    this.#here++
    const most = this.#mostAtOnce + 4 * this.#tap.cells.length
    const events = this.#tap.trace.size - this.#eventsBefore
    if (this.#here > most - seen || events > this.#mostEvents * 0.9 || step > this.#most - seen) this.#busy ??= new Map()
    else this.#busy = undefined
    if (this.#here > most) this.#violate(`${most} steps at ${this.#moment} ms, and no end`)
    else if (events > this.#mostEvents) this.#violate(`${this.#mostEvents} events at ${this.#moment} ms, and no end`)
    else if (step > this.#most) this.#violate(`more than ${this.#most} steps`)
    else return true
    return false
  }
  /** What is due at this moment is about to run. False: it was so too often. */
  pass(): boolean {
    this.#arrive()
    this.#allPasses++
    // Time may move by ever so little: then all moments together count.
    if (++this.#passes <= this.#mostAtOnce && this.#allPasses <= this.#mostEvents) return true
    this.#violate(`ever more is due at ${this.#moment} ms`)
    return false
  }
  #arrive(): void {
    const { now } = this.#tap
    if (now === this.#moment) return
    this.#moment = now
    this.#here = 0
    this.#eventsBefore = this.#tap.trace.size
    this.#passes = 0
    this.#armed = 0
  }
  acted(step: number): void {
    this.#acted = step
  }
  turned(cell: SimCell): void {
    cell.turnStep = this.#tap.trace.step
    if (this.#busy !== undefined) this.#busy.set(cell, (this.#busy.get(cell) ?? 0) + 1)
  }
  /** A phase changes, or a command is given: more of these than any turn needs can only be ended by an error. */
  stirs(cell: SimCell): void {
    if (++this.#inTurn <= mostInTurn + 4 * this.#tap.cells.length) return
    this.#tap.violate(
      'endless',
      cell,
      `a turn does not end: it is ${cell.phase}, and there were ${this.#inTurn - 1} changes and commands within the turn`,
    )
    throw new TurnWithoutEnd()
  }
  /** A timer is set: what is due again at once would keep the host's timer from ending. */
  arms(owner: SimCell | undefined): void {
    this.#arrive()
    if (++this.#armed <= mostInTurn + 4 * this.#tap.cells.length) return
    this.#tap.violate('endless', owner, `does not come to rest: ${this.#armed - 1} timers were set at ${this.#moment} ms`)
    throw new TurnWithoutEnd()
  }
  #violate(what: string): void {
    const busy = [...(this.#busy ?? [])].sort(([, a], [, b]) => b - a).map(([cell]) => cell)
    if (busy.length === 0) busy.push(...this.#tap.living.filter((cell) => cell.extras?.pending !== undefined))
    const names = busy.slice(0, 5).map((cell) => `${cell.ref.path} (${cell.phase})`)
    const others = busy.length > 5 ? ` and ${busy.length - 5} more` : ''
    // From here on nobody else did anything: what led to it comes before.
    const began = this.#tap.cells.reduce((last, cell) => (busy.includes(cell) ? last : Math.max(last, cell.turnStep)), this.#acted)
    this.#tap.violate('endless', undefined, `does not come to rest: ${what}; busy: ${names.join(', ') || 'nobody in sight'}${others}`, began + 1)
  }
}
