// A small town of actors with every trouble that the page shows: a flood, a deadlock, a restart storm, one that holds the loop, a pool.
// On real time, for a page shows real time.

import { type ActorRef, ActorSystem, type Behavior, receive, same } from '@troupe/core'

export interface Town {
  readonly system: ActorSystem
  /** Makes the weather fail once. */
  crash(): void
  /** Sends the map more than it can take, from now on. */
  flood(): void
  end(): Promise<void>
}

type Plain = { readonly type: string }
type Landing = { readonly type: 'land' } | { readonly type: 'clearance'; readonly replyTo: ActorRef<string> }

/** Handles each message for about so many milliseconds. */
function slow(ms: number): Behavior<Plain> {
  return receive(() => {
    const until = performance.now() + ms
    while (performance.now() < until);
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

export function town(options: { readonly drones: number; readonly deadlock: boolean }): Town {
  const system = ActorSystem.create('airlift', { logger: false, deadlock: 'off' })
  const map = system.spawn(slow(1), { name: 'map' })
  const log = system.spawn(
    receive<Plain>(() => same),
    { name: 'audit' },
  )
  const drones: ActorRef<Plain>[] = []
  const district = receive<Plain>((ctx, { type }) => {
    if (type === 'open')
      for (let i = 0; i < options.drones / 10; i++)
        drones.push(
          ctx.spawn(
            receive<Plain>(() => {
              log.tell({ type: 'position' })
              return same
            }),
            { name: `drone-${i}` },
          ),
        )
    else drones[Math.floor(Math.random() * drones.length)]?.tell({ type: 'fly' })
    return same
  })
  const districts = Array.from({ length: 10 }, (_, i) => system.spawn(district, { name: `district-${i}` }))
  for (const one of districts) one.tell({ type: 'open' })
  const weather = system.spawn(
    receive<Plain>((_ctx, { type }) => {
      if (type === 'storm') throw new Error('ECONNRESET weather.example')
      return same
    }),
    { name: 'weather' },
  )
  const hangar: ActorRef<Landing> = system.spawn(
    stubborn(() => tower),
    { name: 'hangar' },
  )
  const tower: ActorRef<Landing> = system.spawn(
    stubborn(() => hangar),
    { name: 'tower' },
  )
  if (options.deadlock) {
    hangar.tell({ type: 'land' })
    tower.tell({ type: 'land' })
  }
  let flooding = false
  const work = setInterval(() => {
    for (let i = 0; i < 20; i++) districts[i % 10]!.tell({ type: 'order' })
    weather.tell({ type: 'ask' })
    if (flooding) for (let i = 0; i < 60; i++) map.tell({ type: 'position' })
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
