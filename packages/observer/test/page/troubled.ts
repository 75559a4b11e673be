// A small town of actors with every trouble that the page shows: a flood, a deadlock, a restart storm, one that holds the loop, a pool with
// one that is slow, a mailbox that drops. On real time, for a page shows real time.

import { type ActorRef, ActorSystem, type Behavior, bounded, receive, same, supervise } from '@troupe/core'

export interface Town {
  readonly system: ActorSystem
  /** Makes the weather fail once. */
  crash(): void
  /** Sends the map more than it can take, from now on. */
  flood(): void
  end(): Promise<void>
}

export interface TownOptions {
  readonly drones: number
  readonly deadlock: boolean
  /** Everything else that can go wrong in a town, from the start. */
  readonly trouble?: boolean
}

type Plain = { readonly type: string; readonly text?: string }
type Landing = { readonly type: 'land' } | { readonly type: 'clearance'; readonly replyTo: ActorRef<string> }
type Order = { readonly type: 'order'; readonly replyTo?: ActorRef<string> }
type Plan = { readonly type: 'plan'; readonly replyTo: ActorRef<string> }

/** Holds the thread. */
export function busyFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Handles each message for about so many milliseconds. */
function slow(ms: number): Behavior<Plain> {
  return receive(() => {
    busyFor(ms)
    return same
  })
}

/** Handles each message for about a millisecond, and leaves most of it to others: a flood of it does not take the whole thread. */
function pausing(): Behavior<Plain> {
  return receive(async () => {
    busyFor(0.2)
    await new Promise((resolve) => setTimeout(resolve, 1))
    return same
  })
}

/** Asks the other as soon as it is asked anything: two of them wait for each other for ever. */
function stubborn(other: () => ActorRef<Landing>): Behavior<Landing> {
  return receive(async (ctx) => {
    await ctx.ask(other(), { type: 'clearance' }, { timeout: 600_000 })
    return same
  })
}

const planner = (ms: number): Behavior<Plan> =>
  receive(async (_ctx, { replyTo }) => {
    busyFor(ms / 4)
    await new Promise((resolve) => setTimeout(resolve, ms))
    replyTo.tell('by the river')
    return same
  })

export function town(options: TownOptions): Town {
  const { drones: wanted, deadlock, trouble = false } = options
  const system = ActorSystem.create('airlift', { logger: false, deadlock: 'off' })
  const map = system.spawn(trouble ? slow(1) : pausing(), { name: 'map' })
  const log = system.spawn(
    receive<Plain>(() => same),
    { name: 'audit', mailbox: trouble ? bounded(8, 'drop-oldest') : undefined },
  )
  const planners = Array.from({ length: 4 }, (_, i) => system.spawn(planner(i === 2 ? 40 : 8), { name: `planner-${i}`, kind: 'planner' }))
  const drones: ActorRef<Plain>[] = []
  let turn = 0
  const district = receive<Plain | Order>((ctx, m) => {
    if (m.type === 'open')
      for (let i = 0; i < wanted / 10; i++)
        drones.push(
          ctx.spawn(
            receive<Plain>((own, { type }) => {
              if (type === 'gust') throw new Error('rotor failure')
              own.label(type === 'fly' ? 'flying' : 'waiting')
              log.tell({ type: 'position' }, own.self)
              return same
            }),
            { name: `drone-${i}`, kind: 'drone' },
          ),
        )
    else if (m.type === 'order' && trouble) {
      const asked = ctx.ask(planners[turn++ % 4]!, { type: 'plan' }, { timeout: 60_000 })
      ctx.pipeToSelf(
        asked,
        () => ({ type: 'planned' }),
        () => ({ type: 'unplanned' }),
      )
    } else drones[Math.floor(Math.random() * drones.length)]?.tell({ type: 'fly' }, ctx.self)
    return same
  })
  const districts = Array.from({ length: 10 }, (_, i) => system.spawn(district, { name: `district-${i}`, kind: 'district' }))
  for (const one of districts) one.tell({ type: 'open' })
  const orders = system.spawn(
    receive<Order>((ctx) => {
      ctx.forward(districts[Math.floor(Math.random() * 10)]!)
      return same
    }),
    { name: 'orders' },
  )
  const weather = system.spawn(
    receive<Plain>((_ctx, { type }) => {
      if (type === 'storm') throw new Error('ECONNRESET weather.example')
      return same
    }),
    { name: 'weather', supervision: supervise({ limit: { restarts: 100, within: 10_000 }, backoff: { min: 10, max: 40 } }) },
  )
  const billing = system.spawn(slow(60), { name: 'billing' })
  const hangar: ActorRef<Landing> = system.spawn(
    stubborn(() => tower),
    { name: 'hangar' },
  )
  const tower: ActorRef<Landing> = system.spawn(
    stubborn(() => hangar),
    { name: 'tower' },
  )
  if (deadlock) {
    hangar.tell({ type: 'land' })
    tower.tell({ type: 'land' })
  }
  const gone = system.spawn(
    receive<Plain>(() => same),
    { name: 'old-depot' },
  )
  if (trouble) gone.stop()
  let flooding = false
  let ticks = 0
  const work = setInterval(() => {
    ticks++
    for (let i = 0; i < 20; i++) districts[i % 10]!.tell({ type: 'fly' })
    for (let i = 0; i < 6; i++) orders.tell({ type: 'order' })
    weather.tell({ type: 'ask' })
    if (flooding) for (let i = 0; i < 60; i++) map.tell({ type: 'position' })
    if (!trouble) return
    if (ticks % 40 === 0) weather.tell({ type: 'storm' })
    if (ticks % 60 === 0) billing.tell({ type: 'invoice' })
    if (ticks % 25 === 0) gone.tell({ type: 'parcel' })
    if (ticks % 300 === 200) for (const one of drones.slice(0, 60)) one.tell({ type: 'gust' })
  }, 20)
  return {
    system,
    crash: () => weather.tell({ type: 'storm' }),
    flood: () => (flooding = true),
    async end() {
      clearInterval(work)
      await system.shutdown({ deadline: 2000 })
    },
  }
}
