// Where things are: a hundred districts in a grid, each with a depot in its middle and a spot for each of its drones around it. Everything is
// computed from numbers, so that the page, the terminal and a process that begins anew agree without being told.

/** A place; the world is 1,600 wide and 1,000 high. */
export interface Point {
  readonly x: number
  readonly y: number
}

export const width = 1600
export const height = 1000
/** Units a second. */
export const speed = 40

/** How many of what. */
export interface World {
  readonly columns: number
  readonly rows: number
  readonly dronesEach: number
  readonly seed: number
}

export const districtsOf = ({ columns, rows }: World): number => columns * rows
export const dronesOf = (world: World): number => districtsOf(world) * world.dronesEach

/** The depot of a district. */
export function depotAt(world: World, district: number): Point {
  const column = district % world.columns
  const row = Math.floor(district / world.columns)
  return { x: ((column + 0.5) * width) / world.columns, y: ((row + 0.5) * height) / world.rows }
}

const golden = Math.PI * (3 - Math.sqrt(5))

/** Where a drone rests: spots around the depot as seeds in a sunflower. */
export function homeOf(world: World, drone: number): Point {
  const spot = drone % world.dronesEach
  const { x, y } = depotAt(world, Math.floor(drone / world.dronesEach))
  const reach = 0.4 * Math.min(width / world.columns, height / world.rows)
  const radius = reach * (0.28 + 0.72 * Math.sqrt((spot + 0.5) / world.dronesEach))
  return { x: x + radius * Math.cos(spot * golden), y: y + radius * Math.sin(spot * golden) }
}

/** A point of a curve from one place to another, bent towards a third; `part` goes from 0 to 1. */
export function along(from: Point, bend: Point, to: Point, part: number): Point {
  const rest = 1 - part
  return {
    x: rest * rest * from.x + 2 * rest * part * bend.x + part * part * to.x,
    y: rest * rest * from.y + 2 * rest * part * bend.y + part * part * to.y,
  }
}

export const between = (from: Point, to: Point): Point => ({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 })

/** How long a drone takes for the curve. */
export function flightTime(from: Point, bend: Point, to: Point): number {
  // Between the straight way and the way over the bend: close enough, and the same wherever it is computed.
  const straight = Math.hypot(to.x - from.x, to.y - from.y)
  const over = Math.hypot(bend.x - from.x, bend.y - from.y) + Math.hypot(to.x - bend.x, to.y - bend.y)
  return Math.round(((2 * straight + over) / 3 / speed) * 1000)
}

/** Numbers from 0 to 1 by a seed (mulberry32): the same seed, the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
