// Airlift as it flies: a fleet on a system with a journal and threads that plan, and what can be done to it.

import { ActorSystem, type ActorRef, type AnyRef, bounded, pool, supervise } from '@troupe/core'
import { threads } from '@troupe/node'
import type { JournalSource } from '@troupe/persistence'
import type { Line } from './audit-log.ts'
import type { Auditor } from './auditor.ts'
import type { Switches } from './district.ts'
import { Fleet } from './fleet.ts'
import { planner, type Planner } from './planner.ts'
import type { Sky } from './sky.ts'
import { districtsOf, dronesOf, type Point, seeded, type World } from './world.ts'

export interface AirliftOptions {
  readonly world: World
  readonly journal: JournalSource
  /** Threads that plan routes. */
  readonly threads: number
}

const now = (): number => Date.now()
/** Messages of a flood. */
const floodSize = 200_000
/** Milliseconds without a sign of life after which a thread counts as hung. */
const hangAfter = 3000

/** What is at the bottom of an error: the words of whoever refused. */
function rootOf(cause: Error): Error {
  return cause.cause instanceof Error ? rootOf(cause.cause) : cause
}

export class Airlift {
  readonly system: ActorSystem
  readonly planners: ActorRef<Planner>
  readonly world: World
  readonly #fleet: Fleet
  readonly #random: () => number
  readonly #unread: Promise<never>

  constructor({ world, journal, threads: size }: AirliftOptions) {
    this.world = world
    this.#random = seeded(world.seed)
    this.#fleet = new Fleet(world, now)
    this.system = ActorSystem.create('airlift', { logger: false, extensions: [this.#fleet.extension(journal)] })
    threads(this.system, { size, hangAfter })
    const supervision = supervise({
      limit: { restarts: Number.MAX_SAFE_INTEGER, within: 1000 },
      backoff: { min: 100, max: 2000, factor: 2, jitter: 0.2 },
    })
    this.planners = this.system.spawn(pool(planner(world.seed), { size, options: { dispatcher: 'parallel', supervision } }), {
      name: 'planners',
      // Whoever waits for long asks again: where more is asked than can be planned, old questions make room.
      mailbox: bounded(4096, 'drop-oldest'),
    })
    this.#unread = new Promise((_resolve, reject) => {
      const heard = this.system.events.listen((event) => {
        const { ref, cause } = event as { readonly ref: AnyRef; readonly cause: Error }
        if (ref.path.endsWith('/depot')) reject(rootOf(cause))
      }, 'actor.failed')
      void this.#fleet.ready.then(() => heard.cancel())
    })
    this.#fleet.start(this.system, this.planners)
  }

  /** Resolves once every drone is where it was. Rejects where the journal cannot be opened or read. */
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

  /** A drone fails at its next turn. */
  crash(drone: number): void {
    this.#fleet.drones[drone]?.tell({ type: 'crash', why: 'rotor failure' })
  }
  /** All drones in the air within the circle fail; says how many. */
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
  /** One of the threads that plan routes never comes back from its next message. */
  hangThread(): void {
    this.planners.tell({ type: 'hang' })
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
  /** Asks any depot for its books. */
  async askDepot(): Promise<void> {
    const district = Math.floor(this.#random() * districtsOf(this.world))
    await this.#fleet.depots.get(String(district))?.ask({ type: 'read' }, { timeout: 10_000 })
  }
  /** Ends the life of an actor, whoever it is; its supervisor makes another. */
  kill(path: string): boolean {
    const ref = this.system.find(path)
    if (ref === undefined) return false
    this.system.kill(ref)
    return true
  }
}
