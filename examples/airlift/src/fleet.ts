// Everything that flies and keeps books, on any system: districts, weather, the log, and the auditor who reads the journal. Told which system,
// which clock and who plans; `airlift.ts` gives it threads and the time of day, a test gives it virtual ones.

import { type ActorRef, type ActorSystem, type Extension, receive, setup, stopped, supervise } from '@troupe/core'
import { journalEvents, type JournalSource, persistence } from '@troupe/persistence'
import { auditLog, type Line, logMailbox } from './audit-log.ts'
import { Auditor } from './auditor.ts'
import { type Depot, depot, type DepotBooks, type DepotEvent } from './depot.ts'
import { type District, district, type Switches } from './district.ts'
import type { Drone } from './drone.ts'
import type { Planner } from './planner.ts'
import { Sky } from './sky.ts'
import { Instrument, station, stationPolicy } from './weather.ts'
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
    this.#startStations(system)
    void this.ready.then(() => this.#startAuditor(system))
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
  #startStations(system: ActorSystem): void {
    const { columns, rows, seed } = this.world
    for (let row = 0; row < rows; row++) {
      const own = this.districts.slice(row * columns, (row + 1) * columns)
      const behavior = station(new Instrument(seeded(seed * 31 + row)), () => own)
      system.spawn(behavior, { name: `station-${row}`, kind: 'station', supervision: stationPolicy })
    }
  }
  /** Reads without a place of its own in the journal: one that is written after every batch would make it as slow as the disk. */
  #startAuditor(system: ActorSystem): void {
    const read = async (): Promise<void> => {
      for await (const { key, seq, event, time } of journalEvents<DepotEvent>(system, { kind: depot as never }))
        this.auditor.take(Number(key), seq, event, time)
    }
    const reader = setup<Error | undefined>((ctx) => {
      const failed = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))
      ctx.pipeToSelf(read(), () => undefined, failed)
      return receive((_ctx, cause) => {
        if (cause !== undefined) throw cause
        return stopped
      })
    })
    // From the beginning again: what it has read already it passes over.
    system.spawn(reader, { name: 'auditor', supervision: stationPolicy })
  }
  #audited(read: DepotBooks): void {
    this.auditor.open(read, this.now())
    if (this.auditor.ready) this.#opened()
  }
}
