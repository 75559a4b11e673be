// Everything that flies and keeps books, on any system: districts, weather, the log, and the auditor who reads the journal. Told which system,
// which clock and who plans; `one-process.ts` gives it threads and the time of day, a test gives it virtual ones.

import { type ActorRef, type ActorSystem, type Extension, supervise } from '@troupe/core'
import { type JournalSource, persistence } from '@troupe/persistence'
import { auditLog, type Line, logMailbox } from './audit-log.ts'
import { Auditor } from './auditor.ts'
import type { Depot, DepotBooks } from './depot.ts'
import { type District, district, type Switches } from './district.ts'
import type { Drone } from './drone.ts'
import type { Planner } from './planner.ts'
import { startReading } from './reading-journal.ts'
import { Sky } from './sky.ts'
import { startStations } from './weather.ts'
import { districtsOf, seeded, type World } from './world.ts'

export class Fleet {
  readonly world: World
  readonly now: () => number
  readonly sky: Sky
  readonly auditor: Auditor
  readonly switches: Switches = { supervised: true, open: true }
  readonly lines: Line[] = []
  readonly districts: ActorRef<District>[] = []
  readonly depots: Map<string, ActorRef<Depot>> = new Map()
  readonly drones: (ActorRef<Drone> | undefined)[] = []
  #log: ActorRef<Line> | undefined
  #opened!: () => void
  /** Resolves once all books have been read: every drone is where it was. */
  readonly ready: Promise<void> = new Promise((resolve) => (this.#opened = resolve))

  constructor(world: World, now: () => number) {
    this.world = world
    this.now = now
    this.sky = new Sky(world)
    this.auditor = new Auditor(districtsOf(world))
  }

  /** What a system needs to have these depots. */
  extension(journal: JournalSource): Extension {
    return persistence({ journal, find: (_kind, key) => this.depots.get(key), redeliverEvery: 1000 })
  }

  /** Starts them all, on a system with that extension. */
  start(system: ActorSystem, planners: ActorRef<Planner>): void {
    this.#log = system.spawn(auditLog(this.lines), { name: 'audit-log', mailbox: logMailbox })
    this.#startDistricts(system, planners, this.#log)
    startStations(system, this.world, this.districts)
    void this.ready.then(() => startReading(system, this.auditor))
  }
  say(text: string): void {
    this.#log?.tell({ at: this.now(), text })
  }

  #startDistricts(system: ActorSystem, planners: ActorRef<Planner>, log: ActorRef<Line>): void {
    const { world, sky, switches, now } = this
    const supervision = supervise({
      limit: { restarts: Number.MAX_SAFE_INTEGER, within: 2000 },
      backoff: { min: 200, max: 2000, factor: 2, jitter: 0.2 },
    })
    const audited = (read: DepotBooks): void => this.#audited(read)
    for (let number = 0; number < districtsOf(world); number++) {
      const random = seeded(world.seed * 1009 + number)
      const behavior = district({ number, sky, switches, now, planners, random, log, audited, found: this })
      this.districts.push(system.spawn(behavior, { name: `district-${number}`, kind: 'district', supervision }))
    }
  }
  #audited(read: DepotBooks): void {
    this.auditor.open(read, this.now())
    if (this.auditor.ready) this.#opened()
  }
}
