// The whole of it: a system with a journal, threads that plan, stations, districts and an auditor; and what can be done to it.

import { ActorSystem, type ActorRef, type LedgerReport, pool, supervise } from '@troupe/core'
import { threads, type Threads } from '@troupe/node'
import { type JournalSource, persistence, projection } from '@troupe/persistence'
import { auditLog, type Line, logMailbox } from './audit-log.ts'
import { Auditor } from './auditor.ts'
import { type Depot, depot, type DepotBooks, type DepotEvent } from './depot.ts'
import { type District, district, type Switches } from './district.ts'
import type { Drone } from './drone.ts'
import { planner, type Planner } from './planner.ts'
import { Sky } from './sky.ts'
import { Instrument, station, stationPolicy } from './weather.ts'
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

export class Airlift {
  readonly system: ActorSystem
  readonly sky: Sky
  readonly auditor: Auditor
  readonly switches: Switches = { supervised: true, open: true }
  readonly lines: Line[] = []
  readonly threads: Threads
  readonly planners: ActorRef<Planner>
  readonly world: World
  readonly #log: ActorRef<Line>
  readonly #districts: ActorRef<District>[] = []
  readonly #found = { depots: new Map<string, ActorRef<Depot>>(), drones: [] as (ActorRef<Drone> | undefined)[] }
  readonly #random: () => number
  #opened!: () => void
  /** Resolves once all books have been read: every drone is where it was. */
  readonly ready: Promise<void> = new Promise((resolve) => (this.#opened = resolve))

  constructor({ world, journal, threads: size }: AirliftOptions) {
    this.world = world
    this.sky = new Sky(world)
    this.#random = seeded(world.seed)
    this.auditor = new Auditor(districtsOf(world))
    this.system = ActorSystem.create('airlift', {
      logger: false,
      extensions: [persistence({ journal, find: (_kind, key) => this.#found.depots.get(key), redeliverEvery: 1000 })],
    })
    this.threads = threads(this.system, { size, hangAfter: 3000 })
    this.#log = this.system.spawn(auditLog(this.lines), { name: 'audit-log', mailbox: logMailbox })
    const forever = supervise({
      limit: { restarts: Number.MAX_SAFE_INTEGER, within: 1000 },
      backoff: { min: 100, max: 2000, factor: 2, jitter: 0.2 },
    })
    this.planners = this.system.spawn(pool(planner(world.seed), { size, options: { dispatcher: 'parallel', supervision: forever } }), {
      name: 'planners',
    })
    this.#spawnDistricts()
    this.#spawnStations()
    void this.ready.then(() => this.#spawnAuditor())
  }

  #spawnDistricts(): void {
    const { world, sky, switches, planners } = this
    const supervision = supervise({
      limit: { restarts: Number.MAX_SAFE_INTEGER, within: 2000 },
      backoff: { min: 200, max: 2000, factor: 2, jitter: 0.2 },
    })
    for (let number = 0; number < districtsOf(world); number++) {
      const options = {
        number, sky, switches, now, planners,
        random: seeded(world.seed * 1009 + number),
        log: this.#log,
        found: this.#found,
        audited: (read: DepotBooks) => this.#audited(read),
      } // prettier-ignore
      this.#districts.push(this.system.spawn(district(options), { name: `district-${number}`, kind: 'district', supervision }))
    }
  }
  #spawnStations(): void {
    const { columns, rows, seed } = this.world
    for (let row = 0; row < rows; row++) {
      const instrument = new Instrument(seeded(seed * 31 + row))
      const own = this.#districts.slice(row * columns, (row + 1) * columns)
      this.system.spawn(
        station(instrument, () => own),
        { name: `station-${row}`, kind: 'station', supervision: stationPolicy },
      )
    }
  }
  #spawnAuditor(): void {
    const { auditor } = this
    this.system.spawn(
      projection<DepotEvent>({
        name: 'auditor',
        from: { kind: depot as never },
        handle: (events) => {
          for (const { key, seq, event, time } of events) auditor.take(Number(key), seq, event, time)
        },
        batch: 500,
      }),
      { name: 'auditor' },
    )
  }
  #audited(read: DepotBooks): void {
    if (this.auditor.ready) return
    this.auditor.open(read, now())
    if (this.auditor.ready) this.#opened()
  }

  say(text: string): void {
    this.#log.tell({ at: now(), text })
  }

  /** A drone fails at its next turn. */
  crash(drone: number): void {
    this.#found.drones[drone]?.tell({ type: 'crash', why: 'rotor failure' })
  }
  /** All drones in the air within the circle fail; says how many. */
  storm(at: Point, radius: number): number {
    let struck = 0
    for (const drone of this.sky.within(at, radius, now())) {
      // Those that lie there already are not struck again.
      if (this.sky.phase[drone]! >= 4) continue
      this.#found.drones[drone]?.tell({ type: 'crash', why: 'caught in a storm' })
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
    const ref = this.#found.depots.get(String(district))
    if (ref !== undefined) for (let i = 0; i < floodSize; i++) ref.tell({ type: 'inquiry' })
    this.say(`depot ${district} is flooded with ${floodSize.toLocaleString('en')} inquiries`)
    return district
  }
  breakCharger(district: number): void {
    this.#districts[district]?.tell({ type: 'breakCharger' })
    this.say(`the charger of district ${district} burned out: loader and pad restart with it`)
  }
  crashDistrict(district: number): void {
    this.#districts[district]?.tell({ type: 'crash' })
    this.say(`district ${district} burned down: it begins anew from its depot's books`)
  }
  supervise(on: boolean): void {
    this.switches.supervised = on
    this.say(on ? 'supervision is on: whoever lies down is picked up' : 'supervision is off: whoever fails stays down')
    if (on) for (const one of this.#districts) one.tell({ type: 'revive' })
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
    this.#found.drones[drone]?.tell({ type: 'sabotage' })
  }
  /** Ends the life of an actor, whoever it is; its supervisor makes another. */
  kill(path: string): boolean {
    const ref = this.system.find(path)
    if (ref === undefined) return false
    this.system.kill(ref)
    return true
  }
  ledger(): Promise<LedgerReport> {
    return this.system.ledger()
  }
}
