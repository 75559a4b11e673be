// Airlift on several nodes, as the tower sees it: a member of the cluster that has no districts, speaks to those of others by their number, reads
// the journal that all share, and shows what the nodes tell of their drones.

import { type ActorSystem, receive, same, setup } from '@troupe/core'
import type { Airlift, Measures, Nodes } from '../airlift.ts'
import type { Line } from '../audit-log.ts'
import { Auditor } from '../auditor.ts'
import type { DepotBooks } from '../depot.ts'
import type { Switches } from '../district.ts'
import { readRows } from '../feed.ts'
import { Meter } from '../meter.ts'
import { startReading } from '../reading-journal.ts'
import { Sky } from '../sky.ts'
import { startStations } from '../weather.ts'
import { districtsOf, type Point, seeded, type World } from '../world.ts'
import { join, type Joined } from './joining.ts'
import { Squadron } from './squadron.ts'

export interface SeveralOptions {
  readonly world: World
  readonly directory: string
  readonly threads: number
  readonly servers: string
  /** How many nodes. */
  readonly count: number
}

const lease = 3000
const keptLines = 200
/** Milliseconds between two looks into books: while some are missing, and later. */
const lookEvery = { opening: 10, open: 100 }

export class Several implements Airlift {
  readonly world: World
  readonly sky: Sky
  readonly auditor: Auditor
  readonly lines: Line[] = []
  readonly switches: Switches = { supervised: true, open: true }
  readonly ready: Promise<void>
  readonly #joined: Joined
  readonly #squadron: Squadron
  readonly #meter: Meter
  readonly #random: () => number
  #askDepot = 0

  private constructor(joined: Joined, { world, count, ...others }: SeveralOptions) {
    this.world = world
    this.sky = new Sky(world)
    this.auditor = new Auditor(districtsOf(world))
    this.#joined = joined
    this.#meter = new Meter(joined.system)
    this.#random = seeded(world.seed)
    const opened = this.#startLooking()
    const names = Array.from({ length: count }, (_, i) => String.fromCodePoint(97 + i))
    let hopeless!: (why: string) => void
    const given = new Promise<never>((_resolve, reject) => (hopeless = (why) => reject(new Error(why))))
    this.#squadron = new Squadron(names, { ...others, world, lease }, this.switches, {
      rows: (frame) => readRows(frame, this.sky),
      line: (text, at) => this.#line(text, at),
      owns: (name) => this.nodes.owners.includes(name),
      hopeless: (why) => {
        this.#line(why)
        hopeless(why)
      },
    })
    this.ready = Promise.race([opened, given])
    const { system, districts } = joined
    // A district that nobody has spoken to yet is not there: the weather wakes all.
    startStations(
      system,
      world,
      Array.from({ length: districtsOf(world) }, (_, number) => districts.ref(String(number))),
    )
  }
  static async join(options: SeveralOptions): Promise<Several> {
    return new Several(await join({ ...options, node: 'tower', lease }, undefined), options)
  }

  get system(): ActorSystem {
    return this.#joined.system
  }
  get nodes(): Nodes {
    const owners = Array.from({ length: districtsOf(this.world) }, (_, number) => this.#joined.districts.ownerOf(String(number)))
    return { facts: this.#squadron.facts, owners }
  }
  say(text: string): void {
    this.#line(text)
  }

  crash(drone: number): void {
    this.#strike([drone], 'rotor failure')
  }
  storm(at: Point, radius: number): number {
    const struck = this.sky.within(at, radius, Date.now()).filter((drone) => this.sky.phase[drone]! < 4)
    this.#strike(struck, 'caught in a storm')
    return struck.length
  }
  hangThread(): void {
    const node = this.#squadron.hang(Math.floor(this.#random() * 64))
    this.say(`a planner of node ${node ?? '(none is up)'} hangs; its thread is ended after three seconds`)
  }
  breakCharger(district: number): void {
    this.#joined.districts.ref(String(district)).tell({ type: 'breakCharger' })
    this.say(`the charger of district ${district} burned out: loader and pad restart with it`)
  }
  crashDistrict(district: number): void {
    this.#joined.districts.ref(String(district)).tell({ type: 'crash' })
    this.say(`district ${district} burned down: it begins anew from its depot's books`)
  }
  supervise(on: boolean): void {
    this.switches.supervised = on
    this.#squadron.switched()
    this.say(on ? 'supervision is on: whoever lies down is picked up' : 'supervision is off: whoever fails stays down')
    if (on) for (let number = 0; number < districtsOf(this.world); number++) this.#joined.districts.ref(String(number)).tell({ type: 'revive' })
  }
  close(): void {
    this.switches.open = false
    this.#squadron.switched()
  }
  hasNode(name: string): boolean {
    return this.#squadron.has(name)
  }
  killNode(name: string): void {
    this.#squadron.kill(name)
  }

  async measure(): Promise<Measures> {
    const ledger = this.#squadron.ledger(await this.system.ledger())
    const meter = this.#squadron.sum(this.#meter.read())
    return { ...meter, ledger, askDepot: this.#askDepot, askPlanner: this.#squadron.askPlanner }
  }
  async end(): Promise<{ readonly stopped: number; readonly killed: number }> {
    const nodes = await this.#squadron.end(9000)
    const { stopped, killed } = await this.system.shutdown({ deadline: 3000 })
    return { stopped: nodes.stopped + stopped, killed: nodes.killed + killed.length }
  }

  #line(text: string, at = Date.now()): void {
    this.lines.push({ at, text })
    if (this.lines.length > keptLines) this.lines.splice(0, this.lines.length - keptLines)
  }
  #strike(drones: readonly number[], why: string): void {
    const byDistrict = new Map<number, number[]>()
    for (const drone of drones) {
      const district = Math.floor(drone / this.world.dronesEach)
      byDistrict.set(district, [...(byDistrict.get(district) ?? []), drone])
    }
    for (const [district, own] of byDistrict) this.#joined.districts.ref(String(district)).tell({ type: 'strike', drones: own, why })
  }

  /** Shows the auditor the books of one depot after the other, wherever it lives. Resolves once it has seen all, and reads on from there. */
  #startLooking(): Promise<void> {
    const { system, depots } = this.#joined
    const all = districtsOf(this.world)
    return new Promise((resolve) => {
      type Look = { readonly type: 'look' } | { readonly type: 'seen'; readonly read: DepotBooks | undefined }
      const looking = setup<Look>((ctx) => {
        let next = 0
        let asked = 0
        let isOpen = false
        ctx.timers.once('look', lookEvery.opening, { type: 'look' })
        return receive<Look>((_ctx, m) => {
          if (m.type === 'seen') {
            asked--
            if (m.read === undefined) return same
            this.auditor.open(m.read, Date.now())
            if (isOpen || !this.auditor.ready) return same
            isOpen = true
            startReading(system, this.auditor)
            resolve()
            return same
          }
          ctx.timers.once('look', this.auditor.ready ? lookEvery.open : lookEvery.opening, { type: 'look' })
          // Those that are on a node that is gone answer late, or never: the others are asked meanwhile.
          if (asked >= all) return same
          asked++
          const began = performance.now()
          const seen = (read: DepotBooks | undefined): Look => {
            this.#askDepot = performance.now() - began
            return { type: 'seen', read }
          }
          ctx.pipeToSelf(ctx.ask(depots.ref(String(next)), { type: 'read' }, { timeout: 10_000 }), seen, () => seen(undefined))
          next = (next + 1) % all
          return same
        })
      })
      system.spawn(looking, { name: 'books' })
    })
  }
}
