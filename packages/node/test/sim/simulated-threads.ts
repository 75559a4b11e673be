// The threads of a system in a simulated run: the real pool, the real places, and under them engines that start, answer, hang,
// crash and end when the seed says. Everything that a worker would do by its loop is a choice of the run.

import { type Behavior } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { defineActor, type Exchange, type Loop } from '@troupe/border'
import { type EngineEvents, type Launch, type Place, startPlace, ThreadPool, type Wiring } from '@troupe/node/internal'
import type { SimPlace, Simulation } from '@troupe/testkit/internal'
import { SimulatedMedium } from './simulated-medium.ts'

export interface ThreadsSetup {
  readonly size: number
  readonly hangAfter: number
  readonly ringBytes: number
}

/** One thread of a run. */
export interface SimThread {
  readonly epoch: number
  readonly place: SimPlace
  /** What lives on it; undefined until it has started. */
  started: Place | undefined
  hungSince: number | undefined
  crash(): void
}

const loopOf = (place: SimPlace): Loop => ({
  microtask: (task) => place.soon(task),
  soon: (task) => place.soon(task),
  after: (ms, task) => place.after(ms, task),
  every: (ms, task) => place.every(ms, task),
})

export class SimThreads {
  readonly pool: ThreadPool
  readonly setup: ThreadsSetup
  /** Those that were ever started, by number. */
  readonly all: Map<number, SimThread> = new Map()
  readonly #sim: Simulation
  readonly #definitions = new Map<string, unknown>()

  constructor(sim: Simulation, setup: ThreadsSetup) {
    this.#sim = sim
    this.setup = setup
    const core = coreOf(sim.system)
    const placeOf = (epoch: number): SimPlace => (epoch === 0 ? sim.home : this.all.get(epoch)!.place)
    this.pool = new ThreadPool(core, {
      size: setup.size,
      hangAfter: setup.hangAfter,
      medium: new SimulatedMedium(sim, placeOf, setup.ringBytes),
      systemName: core.name,
      systemId: core.id,
      askTimeout: core.askTimeout,
      spin: 0,
      byName: false,
      loop: loopOf(sim.home),
      launch: this.#launch,
    })
  }

  /** An actor that may live on any place of this run. */
  define<A extends readonly unknown[], M>(name: string, factory: (...args: A) => Behavior<M>): (...args: A) => Behavior<M> {
    const definition = defineActor('sim:actors', name, factory as (...args: readonly unknown[]) => Behavior<M>) as (...args: A) => Behavior<M>
    this.#definitions.set(name, definition)
    return definition
  }

  /** Threads that run, or hang: not those that are gone. */
  get living(): readonly SimThread[] {
    return [...this.all.values()].filter((t) => t.place.state !== 'gone')
  }
  /** The exchange of a thread that lives; 0 is the main one. */
  exchangeOf(epoch: number): Exchange | undefined {
    if (epoch === 0) return this.pool.exchange
    const thread = this.all.get(epoch)
    return thread === undefined || thread.place.state === 'gone' ? undefined : thread.started?.exchange
  }
  /** Whether every thread that is gone was noticed, and what it left was settled. */
  get settled(): boolean {
    const known = new Set([...this.pool.threads].map((t) => t.epoch))
    return this.pool.lossesSettled && [...this.all.values()].every((t) => t.place.state !== 'gone' || !known.has(t.epoch))
  }

  readonly #launch: Launch = (data, name, events) => {
    const sim = this.#sim
    const place = sim.place(name)
    const waiting: Wiring[] = []
    const thread: SimThread = {
      epoch: data.epoch,
      place,
      started: undefined,
      hungSince: undefined,
      crash: () => this.#exit(thread, events, new Error('it crashed')),
    }
    this.all.set(data.epoch, thread)
    place.after(sim.oneOf([0, 1, 20]), () => {
      thread.started = startPlace(data, {
        loop: loopOf(place),
        runtime: place.runtime,
        load: (definition) => this.#load(place, definition.name),
        connect: (peer) => this.#later(sim.home, () => events.connect(peer)),
        vitals: () => ({ busy: 0, loopDelay: 0 }),
        fail: (cause) => this.#exit(thread, events, cause),
      })
      for (const wiring of waiting) thread.started.wire(wiring)
    })
    return {
      give: (wiring) =>
        this.#later(place, () => {
          if (thread.started === undefined) waiting.push(wiring)
          else thread.started.wire(wiring)
        }),
      terminate: () => {
        // It goes on for a moment, as a worker does that is told to end; one that hangs ends as well.
        place.goOn()
        return new Promise<void>((resolve) => sim.after(sim.oneOf([0, 1, 5]), () => this.#exit(thread, events, undefined, resolve)))
      },
    }
  }
  #exit(thread: SimThread, events: EngineEvents, cause: unknown, then?: () => void): void {
    if (thread.place.state === 'gone') return then?.()
    thread.place.end()
    this.#later(this.#sim.home, () => {
      if (cause !== undefined) events.failed(cause)
      events.exited(1)
      then?.()
    })
  }
  #later(place: SimPlace, act: () => void): void {
    const delay = this.#sim.oneOf([0, 0, 1, 5])
    if (delay === 0) place.soon(act)
    else place.after(delay, act)
  }
  #load(place: SimPlace, name: string): Promise<unknown> {
    const definition = this.#definitions.get(name)
    return new Promise((resolve, reject) =>
      this.#later(place, () => {
        if (definition === undefined) reject(new Error(`no actor ${name}`))
        else resolve(definition)
      }),
    )
  }
}
