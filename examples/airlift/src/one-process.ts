// Airlift in one process: a fleet on a system with a journal and threads that plan, and what can be done to it.

import { ActorSystem, type ActorRef, type AnyRef } from '@troupe/core'
import type { JournalSource } from '@troupe/persistence'
import type { Airlift, Measures } from './airlift.ts'
import type { Line } from './audit-log.ts'
import type { Auditor } from './auditor.ts'
import type { Switches } from './district.ts'
import { Fleet } from './fleet.ts'
import { Meter } from './meter.ts'
import type { Planner } from './planner.ts'
import { startPlanners } from './planners.ts'
import type { Sky } from './sky.ts'
import { districtsOf, dronesOf, type Point, seeded, type World } from './world.ts'

export interface OneProcessOptions {
  readonly world: World
  readonly journal: JournalSource
  /** Threads that plan routes. */
  readonly threads: number
}

const now = (): number => Date.now()
/** Messages of a flood. */
const floodSize = 200_000

/** What is at the bottom of an error: the words of whoever refused. */
function rootOf(cause: Error): Error {
  return cause.cause instanceof Error ? rootOf(cause.cause) : cause
}

export class OneProcess implements Airlift {
  readonly system: ActorSystem
  readonly world: World
  readonly nodes = undefined
  readonly #planners: ActorRef<Planner>
  readonly #meter: Meter
  readonly #fleet: Fleet
  readonly #random: () => number
  readonly #unread: Promise<never>
  #asked = { depot: 0, planner: 0 }

  constructor({ world, journal, threads }: OneProcessOptions) {
    this.world = world
    this.#random = seeded(world.seed)
    this.#fleet = new Fleet(world, now)
    this.system = ActorSystem.create('airlift', { logger: false, extensions: [this.#fleet.extension(journal)] })
    this.#planners = startPlanners(this.system, world.seed, threads)
    this.#meter = new Meter(this.system)
    this.#unread = new Promise((_resolve, reject) => {
      const heard = this.system.events.listen((event) => {
        const { ref, cause } = event as { readonly ref: AnyRef; readonly cause: Error }
        if (ref.path.endsWith('/depot')) reject(rootOf(cause))
      }, 'actor.failed')
      void this.#fleet.ready.then(() => heard.cancel())
    })
    this.#fleet.start(this.system, this.#planners)
  }

  get ready(): Promise<void> {
    return Promise.race([this.#fleet.ready, this.#unread])
  }
  get sky(): Sky {
    return this.#fleet.sky
  }
  get auditor(): Auditor {
    return this.#fleet.auditor
  }
  get lines(): readonly Line[] {
    return this.#fleet.lines
  }
  get switches(): Switches {
    return this.#fleet.switches
  }
  say(text: string): void {
    this.#fleet.say(text)
  }

  crash(drone: number): void {
    this.#fleet.drones[drone]?.tell({ type: 'crash', why: 'rotor failure' })
  }
  storm(at: Point, radius: number): number {
    let struck = 0
    for (const drone of this.sky.within(at, radius, now())) {
      // Those that lie there already are not struck again.
      if (this.sky.phase[drone]! >= 4) continue
      this.#fleet.drones[drone]?.tell({ type: 'crash', why: 'caught in a storm' })
      struck++
    }
    return struck
  }
  hangThread(): void {
    this.#planners.tell({ type: 'hang' })
    this.say('a planner hangs; its thread is ended after three seconds')
  }
  floodDepot(district: number = Math.floor(this.#random() * districtsOf(this.world))): number {
    const ref = this.#fleet.depots.get(String(district))
    if (ref !== undefined) for (let i = 0; i < floodSize; i++) ref.tell({ type: 'inquiry' })
    this.say(`depot ${district} is flooded with ${floodSize.toLocaleString('en')} inquiries`)
    return district
  }
  breakCharger(district: number): void {
    this.#fleet.districts[district]?.tell({ type: 'breakCharger' })
    this.say(`the charger of district ${district} burned out: loader and pad restart with it`)
  }
  crashDistrict(district: number): void {
    this.#fleet.districts[district]?.tell({ type: 'crash' })
    this.say(`district ${district} burned down: it begins anew from its depot's books`)
  }
  supervise(on: boolean): void {
    this.switches.supervised = on
    this.say(on ? 'supervision is on: whoever lies down is picked up' : 'supervision is off: whoever fails stays down')
    if (on) for (const one of this.#fleet.districts) one.tell({ type: 'revive' })
  }
  close(): void {
    this.switches.open = false
  }
  async measure(): Promise<Measures> {
    this.#ask()
    const ledger = await this.system.ledger()
    return { ...this.#meter.read(), ledger, askDepot: this.#asked.depot, askPlanner: this.#asked.planner }
  }
  async end(): Promise<{ readonly stopped: number; readonly killed: number }> {
    const { stopped, killed } = await this.system.shutdown({ drain: 2000, deadline: 8000 })
    return { stopped, killed: killed.length }
  }

  /** Any drone, by the seed. */
  pickDrone(): number {
    return Math.floor(this.#random() * dronesOf(this.world))
  }
  pathOf(drone: number): string {
    return `/user/district-${Math.floor(drone / this.world.dronesEach)}/drone-${drone}`
  }
  /** A drone keeps the thread busy from now on, until it fails. */
  sabotage(drone: number): void {
    this.#fleet.drones[drone]?.tell({ type: 'sabotage' })
  }
  /** Ends the life of an actor, whoever it is; its supervisor makes another. */
  kill(path: string): boolean {
    const ref = this.system.find(path)
    if (ref === undefined) return false
    this.system.kill(ref)
    return true
  }

  /** How long it took is told with the next measures: one that hangs holds up nobody. */
  #ask(): void {
    const began = performance.now()
    const done = (whom: 'depot' | 'planner') => (): void => void (this.#asked = { ...this.#asked, [whom]: performance.now() - began })
    const district = Math.floor(this.#random() * districtsOf(this.world))
    const patience = { timeout: 10_000 }
    this.#fleet.depots.get(String(district))?.ask({ type: 'read' }, patience).then(done('depot'), done('depot'))
    this.#planners.ask({ type: 'ping' }, patience).then(done('planner'), done('planner'))
  }
}
