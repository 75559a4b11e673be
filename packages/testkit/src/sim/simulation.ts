// One run: a system under a list of choices, from the first spawn to the end of its shutdown. The loop is synchronous;
// it gives the host a pass only to drain native promises, when one is pending or before time moves.

import { ActorSystem, type AnyRef, InvalidOption, type SystemOptions } from '@troupe/core'
import { cellOf, checkFinite, checkFunction, checkList, checkString, checkUpTo, checkWhole, hostYield } from '@troupe/core/internal'
import { show } from '../compare.ts'
import { leaksOf } from '../leaks.ts'
import { VirtualClock } from '../virtual-time.ts'
import { type Choices, makers } from './choices.ts'
import { Agenda } from './agenda.ts'
import { type Faults, FaultSource } from './faults.ts'
import { escaped, settledEscapes } from './escapes.ts'
import { PlaceTap } from './place-tap.ts'
import { Restlessness, TurnWithoutEnd } from './restlessness.ts'
import { SimRuntime } from './runtime.ts'
import { SimCell } from './sim-cell.ts'
import { Places, SimPlace } from './sim-place.ts'
import { SimTap } from './sim-tap.ts'
import { Trace } from './trace.ts'
import type { InvariantId, Violation } from './violation.ts'
import { beat } from './watchdog.ts'

/** Runs a task when all microtasks have run. The host's tick queue does that without a pass of its loop, which costs more than a turn. */
const { process } = globalThis as unknown as { readonly process?: { nextTick?(task: () => void): void } }
const afterMicrotasks = (task: () => void): void => {
  if (process?.nextTick === undefined) hostYield(task)
  else process.nextTick(task)
}

/** What a run is made of. */
export interface RunSetup {
  readonly scenario: (sim: Simulation) => void | Promise<void>
  readonly faults: Faults
  readonly invariants: Readonly<Record<string, (sim: Simulation) => boolean>>
  /** Virtual milliseconds with faults, and after them until liveness is judged. */
  readonly duration: number
  readonly grace: number
  readonly maxSteps: number
  readonly system: SystemOptions | (() => SystemOptions)
  readonly places: boolean
  readonly keepTrace: boolean
}

/** An error or whatever else was thrown, in words. */
function messageOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : show(cause)
}

/** The simulation that is running, for `buggify` in code that has no handle on it. */
let active: Simulation | undefined
function activate(sim: Simulation | undefined): void {
  active?.tap.budgets.close()
  ;(active = sim)?.tap.budgets.open()
}

/**
 * A run of a scenario: the system, time, and the choices that a scenario may make itself.
 *
 * @example
 * await simulate((sim: Simulation) => void sim.system.spawn(counter()), { seeds: 100 })
 */
export class Simulation {
  readonly system: ActorSystem
  readonly clock: VirtualClock = new VirtualClock()
  readonly choices: Choices
  readonly trace: Trace
  readonly tap: SimTap
  readonly runtime: SimRuntime
  readonly #setup: RunSetup
  readonly #agenda = new Agenda()
  readonly #faults: FaultSource
  readonly #script: (() => void)[] = []
  #planned = 0
  readonly #eventually: [string, () => boolean][] = []
  readonly #always: (() => void)[] = []
  /** Where several systems live; undefined where there is one. */
  readonly #places: Places | undefined
  readonly #invariants: [string, (sim: Simulation) => boolean][]
  #driver: 'running' | 'done' = 'done'
  #steps = 0

  constructor(setup: RunSetup, choices: Choices) {
    this.#setup = setup
    this.choices = choices
    this.tap = setup.places ? new PlaceTap() : new SimTap()
    this.trace = new Trace(() => this.clock.now, setup.keepTrace)
    this.#faults = new FaultSource(this, setup.faults)
    this.tap.trace = this.trace
    this.tap.faults = this.#faults
    this.tap.choices = choices
    this.tap.rest = new Restlessness(this.tap, setup.maxSteps)
    this.#invariants = Object.entries(setup.invariants)
    this.runtime = new SimRuntime(this.clock, choices, this.tap)
    this.#places = setup.places ? new Places(new SimPlace('main', this.runtime, choices), choices) : undefined
    const { dispatcher, dispatchers, ...options } = typeof setup.system === 'function' ? setup.system() : setup.system
    // One turn per slice: between any two the simulator chooses what comes next.
    const single = Object.fromEntries(Object.entries(dispatchers ?? {}).map(([name, given]) => [name, { ...given, maxTurns: 1 }]))
    this.system = ActorSystem.create('sim', {
      logger: this.tap.log.logger,
      deadLetterCapacity: 0,
      ...options,
      keepAlive: false,
      dispatcher: { ...dispatcher, maxTurns: 1 },
      dispatchers: single,
      runtime: this.runtime,
    })
  }

  get now(): number {
    return this.clock.now
  }
  get violation(): Violation | undefined {
    return this.tap.violation
  }
  /** Whether a fault was injected so far. */
  get faulted(): boolean {
    return this.#faults.struck > 0
  }
  /** Turns and outside actions so far; of a run without end, up to where its end should have been. */
  get steps(): number {
    return this.violation?.invariant === 'endless' ? this.violation.step : this.#steps
  }

  /** One of n, chosen by the seed; 0 is what a shrunk run falls back to. */
  choose(n: number): number {
    return this.choices.choose(checkWhole('n', n, 0))
  }
  /** A whole number from `least` to `most`. */
  int(least: number, most: number): number {
    if (!Number.isSafeInteger(least)) throw new InvalidOption('least', least, 'use a whole number')
    return least + this.choices.choose(checkWhole('most', most, least) - least + 1)
  }
  /** One of these, the first being the plainest. */
  oneOf<T>(options: readonly T[]): T {
    if (checkList('options', options, () => true, 'at least one').length === 0)
      throw new InvalidOption('options', options, 'use an array of at least one')
    return options[this.choices.choose(options.length)]!
  }
  /** True with this probability at a named point of user code, as long as faults are on. */
  buggify(point: string, probability = 0.1): boolean {
    checkString('point', point)
    checkUpTo('probability', probability, 1)
    if (!this.#faults.open || !this.choices.chance(probability)) return false
    this.trace.add('fault', this.tap.sender(), 0, point, 0)
    return true
  }
  /** Resolves after `ms` of virtual time, or after a time that the seed chooses: what a completion through a port does. */
  delay(ms?: number): Promise<void> {
    const wait = ms === undefined ? this.oneOf([0, 1, 3, 10, 40]) : checkFinite('ms', ms, 'from')
    return new Promise((resolve) => this.#agenda.add(this.clock.now + wait, this.choices.tie(), resolve))
  }
  /** Calls `act` from outside after `ms`. */
  after(ms: number, act: () => void): void {
    checkFinite('ms', ms, 'from')
    checkFunction('act', act)
    this.#agenda.add(this.clock.now + ms, this.choices.tie(), act)
  }
  /** A promise that never settles, and is known not to. */
  never(cell: SimCell | undefined = this.tap.current as SimCell | undefined): Promise<never> {
    if (cell !== undefined) cell.never = true
    return new Promise(() => {})
  }
  /** Does something from outside `times` times; the seed chooses between which turns. */
  plan(times: number, act: (i: number) => void): void {
    checkWhole('times', times, 0)
    checkFunction('act', act)
    for (let i = 0; i < times; i++) {
      const action = this.#planned++
      if (this.choices.isWithout(action)) continue
      this.#script.push(() => {
        this.choices.actionBegins(action)
        act(i)
        this.choices.maker = makers.scheduler
      })
    }
  }
  /** Exempts from injected faults what is spawned meanwhile. */
  calmly<T>(spawn: () => T): T {
    checkFunction('spawn', spawn)
    this.tap.sparing = true
    try {
      return spawn()
    } finally {
      this.tap.sparing = false
    }
  }
  /** Exempts an actor from injected faults from now on. */
  spare(ref: AnyRef): void {
    const cell = cellOf(ref)
    if (cell instanceof SimCell) cell.spared = true
  }
  /** Breaks the run, unless the condition holds. */
  check(holds: boolean, text: string): void {
    if (!holds) this.violate('invariant', text)
  }
  /** For what the simulator does not see by itself: a message that goes from one place to another, the handler it meets, or a word. */
  sent(from: number, to: number, type: string, id: number): void {
    this.trace.add('send', from, to, type, id)
  }
  handles(actor: number, type: string, id: number): void {
    this.tap.handling.handled++
    this.trace.add('handle', actor, 0, type, id)
  }
  note(text: string): void {
    this.trace.add('note', 0, 0, text, 0)
  }
  violate(invariant: InvariantId, text: string): void {
    this.tap.violate(invariant, this.tap.current, text)
  }
  /** Must hold once faults have stopped and everything due has run. */
  eventually(what: string, holds: () => boolean): void {
    checkFunction('holds', holds)
    this.#eventually.push([what, holds])
  }
  /** Must hold after every step, of whichever system: breaks the run itself, by `violate`. */
  always(check: () => void): void {
    this.#always.push(check)
  }
  /** The place of the system that the run began with. */
  get home(): SimPlace {
    return this.#several.home
  }
  /** Another place, for another system on the same clock, under the same choices: its runtime, its loop and its fate. */
  place(name: string): SimPlace {
    const tap = new PlaceTap(this.tap as PlaceTap)
    tap.trace = this.trace
    tap.faults = this.#faults
    tap.choices = this.choices
    tap.rest = this.tap.rest
    const place = new SimPlace(name, new SimRuntime(this.clock, this.choices, tap), this.choices)
    this.#several.add(place)
    return place
  }
  /** Now and then, another place does something in the middle of what this one does: for moments at which threads really race. */
  meanwhile(here: SimPlace): void {
    if (this.choices.choose(6) === 5) this.#several.runOther(here)
  }
  get #several(): Places {
    if (this.#places === undefined) throw new Error('This run has one place. Say `places: true` in the options of simulate.')
    return this.#places
  }

  /** Runs from beginning to end; afterwards `violation` says whether all was well. */
  async run(): Promise<void> {
    const { duration, grace, scenario } = this.#setup
    activate(this)
    this.#begin(scenario)
    await this.#drive(duration, () => false)
    this.#script.length = 0
    this.#faults.end()
    for (const cell of this.tap.living) if (cell.phase === 'suspended' && !cell.spared) cell.command({ verb: 'resume' })
    if (this.violation === undefined) await this.#drive(this.clock.now + grace, () => false)
    if (this.violation === undefined) this.#judge()
    if (this.violation === undefined) await this.#end()
    activate(undefined)
  }

  /** Who is busy with what, in a step that has not ended. */
  get busyWith(): string {
    const { current } = this.tap
    const message = (current as SimCell | undefined)?.running
    const who = current === undefined ? 'nobody has a turn' : `${current.ref.path} (${current.phase}) has its turn`
    return `in step ${this.#steps}, at ${this.clock.now} ms: ${who}${message === undefined ? '' : `, with ${message.type}#${message.id}`}`
  }

  #begin(scenario: RunSetup['scenario']): void {
    this.choices.maker = makers.scenario
    try {
      const driven = scenario(this)
      this.#driver = driven === undefined ? 'done' : 'running'
      driven?.then(
        () => (this.#driver = 'done'),
        (cause: unknown) => {
          this.#driver = 'done'
          this.tap.violate('scenario', undefined, `the scenario failed: ${String(cause)}`)
        },
      )
    } catch (cause) {
      this.tap.violate('scenario', undefined, `the scenario failed: ${String(cause)}`)
    }
    this.choices.maker = makers.scheduler
  }

  /** Runs turns, outside actions and time until `until`, or until `done`. */
  async #drive(until: number, done: () => boolean): Promise<void> {
    const { tap, runtime, clock, choices } = this
    for (;;) {
      while (this.#isReady || this.#script.length > 0) {
        if (tap.violation !== undefined || done()) return
        this.#step()
        if ((tap.host.pending > 0 || this.#places !== undefined) && choices.choose(5) === 1) await this.#drain()
      }
      await this.#drain()
      if (tap.violation !== undefined || done()) return
      if (this.#isReady || this.#script.length > 0) continue
      const next = Math.min(this.#places?.next ?? runtime.timerAt, this.#agenda.next)
      if (next > clock.now) tap.compareAtRest()
      if (next > until) {
        if (until !== Infinity) clock.moveTo(until)
        return
      }
      clock.moveTo(next)
      this.trace.time(next)
      beat()
      if (!tap.rest.pass()) return
      this.#due(next)
    }
  }

  #step(): void {
    const { tap, runtime, choices } = this
    this.trace.step = ++this.#steps
    beat()
    if (!tap.rest.step(this.#steps)) return
    choices.stepBegins()
    this.#faults.step()
    const script = this.#script
    if (script.length > 0 && (!this.#isReady || choices.choose(3) === 1)) {
      this.trace.add('act', 0, 0, '', 0)
      tap.rest.acted(this.#steps)
      script.shift()!()
    } else if (this.#isReady) this.guard(() => (this.#places ?? runtime).runOne())
    if (tap.log.broken !== undefined) tap.violate('runtime', undefined, `a turn broke: ${messageOf(tap.log.broken)}`)
    for (const check of this.#always) check()
    for (const [name, holds] of this.#invariants) if (!holds(this)) tap.violate('invariant', undefined, name)
  }

  get #isReady(): boolean {
    return this.#places?.ready ?? this.runtime.tasks.length > 0
  }

  /** Does something that ends in any case. */
  guard(act: () => void): void {
    try {
      act()
    } catch (cause) {
      if (!(cause instanceof TurnWithoutEnd)) throw cause
    }
  }

  /** Everything of this moment: the system's timers and the agenda, in an order that the seed chooses. */
  #due(now: number): void {
    const timers = (): void => (this.#places === undefined ? this.runtime.fireDue() : this.#places.fireDue(now))
    const timersFirst = (this.#places?.next ?? this.runtime.timerAt) > now || this.#agenda.next > now || this.choices.choose(2) === 0
    if (timersFirst) this.guard(timers)
    this.choices.maker = makers.agenda
    this.#agenda.run(now)
    this.choices.maker = makers.scheduler
    if (!timersFirst) this.guard(timers)
    for (const check of this.#always) check()
  }

  /** Lets promises settle until none has anything to do. */
  async #drain(pass: (task: () => void) => void = afterMicrotasks): Promise<void> {
    await new Promise<void>(pass)
    activate(this)
    const escape = escaped()
    if (escape !== undefined) this.tap.violate('C13', undefined, `an error escaped to the process: ${messageOf(escape)}`)
  }

  /** Faults have stopped, and all that was due has run. */
  #judge(): void {
    const { tap } = this
    tap.judge()
    if (this.#driver === 'running') tap.violate('stuck', undefined, 'the scenario waits for something that the simulator knows nothing of')
    for (const [what, holds] of this.#eventually) if (!holds()) tap.violate('liveness', undefined, what)
    for (const leak of leaksOf(tap.host, tap.cells)) tap.violate('leaks', undefined, leak)
  }

  /** C12: the end comes, at the latest shortly after its deadline, and leaves nothing. */
  async #end(): Promise<void> {
    const { tap } = this
    const deadline = 1000
    let resolved = false
    void this.system.shutdown({ deadline, drain: this.choices.choose(2) === 1 }).then(() => (resolved = true))
    await this.#drive(this.clock.now + deadline + 1100, () => resolved)
    if (tap.violation !== undefined) return
    if (!resolved) return tap.violate('C12', undefined, 'the shutdown did not resolve')
    // A jump of the clock may skip all the time that the killed are given.
    if (tap.living.length > 0 && !this.faulted) tap.violate('C12', tap.living[0], `${tap.living.length} actors outlived the shutdown`)
    if (this.#places !== undefined) await this.#drive(this.clock.now + deadline + 1100, this.#places.endOthers(deadline))
    tap.judgeEnd()
    for (const leak of leaksOf(tap.host, tap.cells)) tap.violate('leaks', undefined, leak)
    if (this.system.phase !== 'closed') tap.violate('C12', undefined, `the system is ${this.system.phase} after its shutdown`)
    // The host tells of rejections that nobody handled only between two passes of its loop.
    await this.#drain(hostYield)
    settledEscapes()
  }
}

/**
 * True with this probability inside a simulated run, as long as its faults are on; always false in production. Mark
 * places where something rare but allowed may happen: a cache miss, a short read, an early timeout.
 *
 * @example
 * const cached = buggify('cache miss') ? undefined : cache.get(key)
 */
export function buggify(point: string, probability = 0.1): boolean {
  return active?.buggify(point, probability) ?? false
}
