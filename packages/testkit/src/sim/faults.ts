// What may go wrong, how often, and when. Every fault is a choice of the run, so that shrinking can leave it out.

import type { SimCell } from './sim-cell.ts'
import type { Simulation } from './simulation.ts'

/** Probabilities of faults: per handled message, per signal, per step or per timer, as said. */
export interface Faults {
  /** A message handler throws, before or after it did its work. */
  readonly throw?: number
  /** A signal handler or a setup throws. */
  readonly throwInSignal?: number
  /** A handler takes long: the clock moves while it runs. */
  readonly slow?: number
  /** A handler's result arrives later, through a promise. */
  readonly delay?: number
  /** A handler's promise is rejected. */
  readonly reject?: number
  /** A handler's promise never settles. */
  readonly never?: number
  /** Per step: an actor is killed. */
  readonly kill?: number
  /** Per step: an actor is asked to stop. */
  readonly stop?: number
  /** Per step: an actor is restarted. */
  readonly restart?: number
  /** Per step: an actor is suspended, and resumed a while later. */
  readonly suspend?: number
  /** An actor is stopped or killed as soon as it is spawned. */
  readonly stopDuringStart?: number
  /** A keyed timer never fires. Breaks what relies on it: an option, not a default. */
  readonly dropTimer?: number
  /** A keyed timer fires late. */
  readonly delayTimer?: number
  /** Per step: time jumps ahead. */
  readonly clockJump?: number
  /** A bounded mailbox is made smaller at spawn, so that it is full sooner. */
  readonly mailboxFull?: number
  /** At most so many faults in one run; 4 if left out. */
  readonly most?: number
}

/** A little of everything that no program may break under. */
export const someFaults: Faults = {
  throw: 0.02,
  throwInSignal: 0.01,
  slow: 0.02,
  delay: 0.03,
  reject: 0.01,
  never: 0.003,
  kill: 0.004,
  stop: 0.004,
  restart: 0.004,
  suspend: 0.006,
  stopDuringStart: 0.01,
  delayTimer: 0.03,
  clockJump: 0.003,
  mailboxFull: 0.1,
  most: 4,
}

/** What an injected failure throws. */
export class InjectedFault extends Error {
  override readonly name: string = 'InjectedFault'
}

// One object each: making an error costs more than handling a message, and nobody needs these stacks.
const thrown = new InjectedFault('a fault that the simulator injected')
const rejected = new InjectedFault('a rejection that the simulator injected')

export class FaultSource {
  readonly #sim: Simulation
  readonly #faults: Faults
  readonly #perMessage: number
  readonly #perStep: number
  #left: number
  /** How many there were. */
  struck: number = 0
  constructor(sim: Simulation, faults: Faults) {
    this.#sim = sim
    this.#faults = faults
    this.#left = faults.most ?? 4
    this.#perMessage = sum(faults.throw, faults.slow, faults.delay, faults.reject, faults.never)
    this.#perStep = sum(faults.kill, faults.stop, faults.restart, faults.suspend, faults.clockJump)
  }
  /** No more from here on: what liveness is judged by. */
  end(): void {
    this.#left = 0
  }
  get open(): boolean {
    return this.#left > 0
  }
  /** Whether this very thing happens now. */
  #strikes(probability: number | undefined): boolean {
    if (this.#left <= 0 || probability === undefined || !this.#sim.choices.chance(probability)) return false
    this.#left--
    this.struck++
    return true
  }

  /** Whether a message handler is struck; then it is called by `handle`. */
  strikes(cell: SimCell): boolean {
    return this.#left > 0 && !cell.spared && this.#strikes(this.#perMessage)
  }
  /** Calls a message handler, and makes it fail. */
  handle(cell: SimCell, call: () => unknown): unknown {
    const { throw: t = 0, slow = 0, delay = 0, reject = 0, never = 0 } = this.#faults
    switch (this.#kind([t, slow, delay, reject, never])) {
      case 0:
        this.#note('throw', cell)
        if (this.#sim.choices.choose(2) === 1) {
          // What goes on behind an await cannot throw before that is over: it would act for the next message.
          const result = call()
          if (result instanceof Promise) return result.then(() => Promise.reject(thrown))
        }
        throw thrown
      case 1:
        this.#note('slow', cell)
        this.#sim.clock.tick(this.#sim.choices.choose(50) + 1)
        return call()
      case 2: {
        this.#note('delay', cell)
        const result = call()
        quiet(result)
        return this.#sim.delay(this.#sim.choices.choose(30)).then(() => result)
      }
      case 3: {
        this.#note('reject', cell)
        const result = call()
        quiet(result)
        return this.#sim
          .delay(this.#sim.choices.choose(5))
          .then(() => result)
          .then(() => Promise.reject(rejected))
      }
      default:
        this.#note('never', cell)
        quiet(call())
        return this.#sim.never(cell)
    }
  }
  /** Before a signal handler or a setup. */
  beforeSignal(cell: SimCell): void {
    if (cell.spared || !this.#strikes(this.#faults.throwInSignal)) return
    this.#note('throw in signal', cell)
    throw thrown
  }
  spawned(cell: SimCell): void {
    if (cell.spared || !this.#strikes(this.#faults.stopDuringStart)) return
    this.#note('stop during start', cell)
    cell.command(this.#sim.choices.choose(2) === 0 ? { verb: 'stop', reason: 'normal', cause: undefined } : { verb: 'kill' })
  }
  timer(cell: SimCell, ms: number): number {
    if (cell.spared) return ms
    if (this.#strikes(this.#faults.dropTimer)) {
      this.#note('drop timer', cell)
      return Infinity
    }
    if (!this.#strikes(this.#faults.delayTimer)) return ms
    this.#note('delay timer', cell)
    return ms + this.#sim.choices.choose(40) + 1
  }
  /** The capacity of a bounded mailbox. */
  capacity(uid: number, given: number): number {
    if (given <= 1 || !this.#strikes(this.#faults.mailboxFull)) return given
    this.#sim.trace.add('fault', 0, uid, 'mailbox full', 0)
    return 1 + this.#sim.choices.choose(Math.min(given - 1, 4))
  }
  /** Between two turns. */
  step(): void {
    if (!this.#strikes(this.#perStep)) return
    const { kill = 0, stop = 0, restart = 0, suspend = 0, clockJump = 0 } = this.#faults
    const kind = this.#kind([kill, stop, restart, suspend, clockJump])
    if (kind === 4) {
      this.#sim.trace.add('fault', 0, 0, 'clock jump', 0)
      this.#sim.clock.tick(this.#sim.choices.choose(2000) + 1)
      this.#sim.guard(() => this.#sim.runtime.fireDue())
      return
    }
    const living = this.#sim.tap.living.filter((c) => !c.spared)
    if (living.length === 0) return
    const cell = living[this.#sim.choices.choose(living.length)]!
    this.#note(['kill', 'stop', 'restart', 'suspend'][kind]!, cell)
    if (kind === 0) cell.command({ verb: 'kill' })
    else if (kind === 1) cell.command({ verb: 'stop', reason: 'normal', cause: undefined })
    else if (kind === 2) cell.command({ verb: 'restart', cause: thrown, delay: 0 })
    else {
      cell.command({ verb: 'suspend', reason: 'a fault' })
      this.#sim.after(this.#sim.choices.choose(100) + 1, () => cell.command({ verb: 'resume' }))
    }
  }
  #kind(weights: readonly number[]): number {
    // By weight, but with the first as the plain choice, so that a shrunk run has the simplest kind.
    const total = sum(...weights)
    let at = (this.#sim.choices.choose(1000) / 1000) * total
    for (let i = 0; i < weights.length; i++) if ((at -= weights[i]!) < 0) return i
    return weights.findIndex((w) => w > 0)
  }
  #note(what: string, cell: SimCell): void {
    this.#sim.trace.add('fault', 0, cell.ref.uid, what, 0)
  }
}

/** What takes the place of a handler's promise must see to it that the promise is observed. */
function quiet(result: unknown): void {
  if (result instanceof Promise) result.catch(() => {})
}

function sum(...numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((a, b) => a + (b ?? 0), 0)
}
