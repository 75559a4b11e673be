// One place of a run in which several systems live: a runtime of its own on the clock that all share, a loop for what no actor
// asked for, and a fate: it may hang for a while, and it may be gone. What a place that hangs was about to do waits; what one
// that is gone was about to do never happens.

import type { ActorSystem } from '@troupe/core'
import type { CellHost } from '@troupe/core/internal'
import type { Choices } from './choices.ts'
import type { PlaceTap } from './place-tap.ts'
import type { SimRuntime } from './runtime.ts'

interface Timer {
  at: number
  readonly rank: number
  readonly task: () => void
}

/** A place of its own in a simulated run, with a system and a loop: what a thread is outside of it. */
export class SimPlace {
  readonly name: string
  readonly runtime: SimRuntime
  readonly #choices: Choices
  #state: 'running' | 'hung' | 'gone' = 'running'
  #suspendedAt: number | undefined
  readonly #soon: (() => void)[] = []
  readonly #timers: Timer[] = []

  constructor(name: string, runtime: SimRuntime, choices: Choices) {
    this.name = name
    this.runtime = runtime
    this.#choices = choices
  }

  /** The system that lives here; undefined before one is created. */
  get core(): CellHost | undefined {
    return (this.runtime.tap as PlaceTap).host
  }
  get state(): 'running' | 'hung' | 'gone' {
    return this.#state
  }
  /** Nothing of it runs until `goOn`. */
  hang(): void {
    if (this.#state === 'running') this.#state = 'hung'
  }
  /** As `hang`, and its monotonic clock stands still until `goOn`: its machine is suspended. */
  suspend(): void {
    if (this.#state !== 'running') return
    this.#state = 'hung'
    this.#suspendedAt = this.runtime.clock.now
  }
  goOn(): void {
    if (this.#state !== 'hung') return
    this.#state = 'running'
    if (this.#suspendedAt !== undefined) this.runtime.stoodStill(this.runtime.clock.now - this.#suspendedAt)
    this.#suspendedAt = undefined
  }
  /** Nothing of it ever runs again. */
  end(): void {
    this.#state = 'gone'
    this.#soon.length = 0
    this.#timers.length = 0
    this.runtime.tasks.length = 0
  }

  /** Runs a task when its turn comes, which the seed decides. */
  soon(task: () => void): void {
    if (this.#state !== 'gone') this.#soon.push(task)
  }
  /** Runs a task after so many milliseconds; returns what cancels it. */
  after(ms: number, task: () => void): () => void {
    if (this.#state === 'gone') return () => {}
    const timer = { at: this.runtime.clock.now + Math.max(ms, 0), rank: this.#choices.tie(), task }
    this.#timers.push(timer)
    return () => this.#cancel(timer)
  }
  /** Runs a task again and again. */
  every(ms: number, task: () => void): () => void {
    const again = (): void => {
      cancel = this.after(ms, again)
      task()
    }
    let cancel = this.after(ms, again)
    return () => cancel()
  }
  #cancel(timer: Timer): void {
    const at = this.#timers.indexOf(timer)
    if (at >= 0) this.#timers.splice(at, 1)
  }

  /** How many things it could do now. */
  get ready(): number {
    return this.#state === 'running' ? this.runtime.tasks.length + this.#soon.length : 0
  }
  /** Does one of them. */
  runOne(): void {
    const turns = this.runtime.tasks.length
    const at = this.#choices.choose(turns + this.#soon.length)
    if (at < turns) this.runtime.runAt(at)
    else this.#soon.splice(at - turns, 1)[0]!()
  }
  /** When it is next due to do something. */
  get next(): number {
    if (this.#state !== 'running') return Infinity
    let next = this.runtime.timerAt
    for (const { at } of this.#timers) if (at < next) next = at
    return next
  }
  /** Does what is due. */
  fireDue(now: number): void {
    if (this.#state !== 'running') return
    const due = this.#timers.filter((t) => t.at <= now).sort((a, b) => a.at - b.at || a.rank - b.rank)
    for (const timer of due) {
      this.#cancel(timer)
      if (this.#state === 'running') timer.task()
    }
    if (this.#state === 'running') this.runtime.fireDue()
  }
}

/** All places of a run: who goes next, and when time must stop for one of them. */
export class Places {
  readonly home: SimPlace
  readonly #choices: Choices
  readonly #all: SimPlace[]
  /** The place that does something now; undefined between two. */
  current: SimPlace | undefined
  constructor(home: SimPlace, choices: Choices) {
    this.home = home
    this.#choices = choices
    this.#all = [home]
    ;(home.runtime.tap as PlaceTap).places = this
  }
  add(place: SimPlace): void {
    this.#all.push(place)
  }
  /** Shuts down the systems of all other places that run, so that what they had in use must be free too; returns a function that says whether all of them have ended. */
  endOthers(deadline: number): () => boolean {
    const open = this.#all.filter(({ state, core }) => state === 'running' && core?.phase === 'open')
    let left = open.length
    for (const { core } of open) void (core!.view as ActorSystem).shutdown({ deadline }).then(() => left--)
    return () => left === 0
  }
  get ready(): boolean {
    return this.#all.some((p) => p.ready > 0)
  }
  runOne(): void {
    this.#oneOf(this.#all.filter((p) => p.ready > 0))
  }
  /** Does something of another place, if there is anything to do. */
  runOther(than: SimPlace): void {
    this.#oneOf(this.#all.filter((p) => p !== than && p.ready > 0))
  }
  #oneOf(able: readonly SimPlace[]): void {
    const place = able[this.#choices.choose(able.length)]
    if (place !== undefined) this.#at(place, () => place.runOne())
  }
  #at(place: SimPlace, act: () => void): void {
    const before = this.current
    this.current = place
    try {
      act()
    } finally {
      this.current = before
    }
  }
  get next(): number {
    return this.#all.reduce((next, p) => Math.min(next, p.next), Infinity)
  }
  fireDue(now: number): void {
    const due = this.#all.filter((p) => p.next <= now)
    while (due.length > 0) {
      const place = due.splice(this.#choices.choose(due.length), 1)[0]!
      this.#at(place, () => place.fireDue(now))
    }
  }
}
