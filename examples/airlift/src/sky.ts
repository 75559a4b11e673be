// Where every drone is, in columns: what it does, and the curve that it flies since when. Drones write their own row; whoever looks reads
// rows that changed. A position is computed from its row and the time, so that nothing is written while a drone flies.

import { along, dronesOf, homeOf, type Point, type World } from './world.ts'

/** What a drone does. The order is that of the bytes that the page is told. */
export const phases = ['resting', 'planning', 'carrying', 'homeward', 'restarting', 'stopped'] as const
export type DronePhase = (typeof phases)[number]

export class Sky {
  readonly world: World
  readonly phase: Uint8Array
  /** Six numbers of each: from, bend, to. */
  readonly curve: Float32Array
  /** When the curve began, in milliseconds since 1970, and how long it takes. */
  readonly began: Float64Array
  readonly takes: Float32Array
  readonly counts: Record<DronePhase, number> = { resting: 0, planning: 0, carrying: 0, homeward: 0, restarting: 0, stopped: 0 }
  /** Who looks: each is told the rows that changed since it last took them. */
  readonly #onlookers = new Set<Changed>()

  constructor(world: World) {
    const drones = dronesOf(world)
    this.world = world
    this.phase = new Uint8Array(drones)
    this.curve = new Float32Array(6 * drones)
    this.began = new Float64Array(drones)
    this.takes = new Float32Array(drones)
    this.counts.resting = drones
    for (let drone = 0; drone < drones; drone++) this.#lay(drone, homeOf(world, drone))
  }

  /** Stands where it is. */
  stand(drone: number, phase: DronePhase, now: number): void {
    this.#lay(drone, this.at(drone, now))
    this.#turn(drone, phase)
  }
  /** Stands at home. */
  rest(drone: number): void {
    this.#lay(drone, homeOf(this.world, drone))
    this.#turn(drone, 'resting')
  }
  fly(drone: number, phase: DronePhase, flight: { from: Point; bend: Point; to: Point; began: number; takes: number }): void {
    const { from, bend, to, began, takes } = flight
    this.curve.set([from.x, from.y, bend.x, bend.y, to.x, to.y], 6 * drone)
    this.began[drone] = began
    this.takes[drone] = takes
    this.#turn(drone, phase)
  }
  at(drone: number, now: number): Point {
    const [fx, fy, bx, by, tx, ty] = this.curve.subarray(6 * drone, 6 * drone + 6) as unknown as [number, number, number, number, number, number]
    const takes = this.takes[drone]!
    const part = takes === 0 ? 1 : Math.min(1, Math.max(0, (now - this.began[drone]!) / takes))
    return along({ x: fx, y: fy }, { x: bx, y: by }, { x: tx, y: ty }, part)
  }
  /** The drones within a circle. */
  within({ x, y }: Point, radius: number, now: number): number[] {
    const found: number[] = []
    for (let drone = 0; drone < this.phase.length; drone++) {
      const at = this.at(drone, now)
      if ((at.x - x) ** 2 + (at.y - y) ** 2 <= radius ** 2) found.push(drone)
    }
    return found
  }

  /** Looks on until it is ended; at first everything has changed. */
  look(): Changed {
    const changed = new Changed(this.phase.length, (one) => this.#onlookers.delete(one))
    this.#onlookers.add(changed)
    return changed
  }

  #lay(drone: number, { x, y }: Point): void {
    this.curve.set([x, y, x, y, x, y], 6 * drone)
    this.takes[drone] = 0
  }
  #turn(drone: number, phase: DronePhase): void {
    this.counts[phases[this.phase[drone]!]!]--
    this.counts[phase]++
    this.phase[drone] = phases.indexOf(phase)
    for (const one of this.#onlookers) one.add(drone)
  }
}

/** The rows that changed, each once, for one onlooker. */
export class Changed {
  readonly #rows: Uint16Array
  readonly #has: Uint8Array
  readonly #end: (self: Changed) => void
  #count = 0

  constructor(drones: number, end: (self: Changed) => void) {
    this.#rows = new Uint16Array(drones)
    this.#has = new Uint8Array(drones)
    this.#end = end
    for (let drone = 0; drone < drones; drone++) this.add(drone)
  }
  add(drone: number): void {
    if (this.#has[drone] === 1) return
    this.#has[drone] = 1
    this.#rows[this.#count++] = drone
  }
  /** Those since the last time; valid until the next call. */
  take(): Uint16Array {
    const rows = this.#rows.subarray(0, this.#count)
    for (const drone of rows) this.#has[drone] = 0
    this.#count = 0
    return rows.slice()
  }
  end(): void {
    this.#end(this)
  }
}
