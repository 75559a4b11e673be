// Route planning, on threads of its own: of some curves the one that costs least over the hills. A thread that hangs is replaced; whoever
// waited for a route asks again.

import { type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'
import { along, between, flightTime, height, type Point, seeded, width } from './world.ts'

export type Planner =
  | { type: 'plan'; drone: number; from: Point; to: Point; replyTo: ActorRef<Route> }
  | { type: 'ping'; replyTo: ActorRef<'pong'> }
  | { type: 'hang' }

export interface Route {
  readonly type: 'route'
  readonly drone: number
  readonly bend: Point
  readonly takes: number
}

/** A hill that drones would rather fly around. */
export interface Hill extends Point {
  readonly radius: number
}

/** The hills of a world, by its seed: the page draws the same ones. */
export function hillsOf(seed: number): readonly Hill[] {
  const random = seeded(seed ^ 0x51_7c_c1)
  return Array.from({ length: 7 }, () => ({
    x: width * (0.08 + 0.84 * random()),
    y: height * (0.1 + 0.8 * random()),
    radius: 60 + 90 * random(),
  }))
}

const steps = 24
const sideways = [0, 0.1, -0.1, 0.2, -0.2, 0.32, -0.32, 0.46, -0.46]

function costOf(hills: readonly Hill[], from: Point, bend: Point, to: Point): number {
  let climbed = 0
  for (let step = 0; step <= steps; step++) {
    const at = along(from, bend, to, step / steps)
    for (const { x, y, radius } of hills) climbed += Math.exp(-((at.x - x) ** 2 + (at.y - y) ** 2) / radius ** 2)
  }
  return flightTime(from, bend, to) * (1 + (2 * climbed) / steps)
}

export function route(hills: readonly Hill[], from: Point, to: Point): { readonly bend: Point; readonly takes: number } {
  const middle = between(from, to)
  const across = { x: from.y - to.y, y: to.x - from.x }
  let best = middle
  let least = Infinity
  for (const part of sideways) {
    const bend = { x: middle.x + part * across.x, y: middle.y + part * across.y }
    const cost = costOf(hills, from, bend, to)
    if (cost < least) [best, least] = [bend, cost]
  }
  return { bend: best, takes: flightTime(from, best, to) }
}

export const planner: ActorDefinition<[number], Planner> = defineActor(import.meta.url, 'planner', (seed: number) => {
  const hills = hillsOf(seed)
  return receive<Planner>((_ctx, m) => {
    if (m.type === 'plan') m.replyTo.tell({ type: 'route', drone: m.drone, ...route(hills, m.from, m.to) })
    else if (m.type === 'ping') m.replyTo.tell('pong')
    // What nobody can interrupt: the watchdog finds it, and ends the thread.
    else for (;;);
    return same
  })
})
