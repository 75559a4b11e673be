// A district: supervises its drones, and sees to it that every parcel in the books has somebody who carries it. What it knows besides, it knows
// from the books: it begins with them, after a crash of its own as after one of the whole process. What it tells its depot it tells again
// until that is settled, so that nothing hangs on a message that was lost.

import { type ActorRef, type Behavior, bounded, type MailboxKind, receive, same, setup, supervise, type SupervisionPolicy } from '@troupe/core'
import type { Line } from './audit-log.ts'
import { type Depot, depot, type DepotBooks, type DepotNews, nameOf } from './depot.ts'
import { type Drone, drone, type Resumed } from './drone.ts'
import { type Charger, type Pad, pads } from './pads.ts'
import type { Planner, Route } from './planner.ts'
import type { Sky } from './sky.ts'
import type { Wind } from './weather.ts'
import { depotAt, districtsOf, homeOf } from './world.ts'

/** What a drone tells its district. */
export type DroneNews =
  | { readonly type: 'restarted'; readonly drone: number }
  | { readonly type: 'arrived'; readonly drone: number }
  | { readonly type: 'landed'; readonly drone: number }
/** What its pads tell it. */
export type PadNews =
  | { readonly type: 'open'; readonly pad: ActorRef<Pad>; readonly charger: ActorRef<Charger> }
  | { readonly type: 'charged'; readonly drone: number }

export type District =
  | DroneNews
  | PadNews
  | DepotNews
  | Route
  | Wind
  | { readonly type: 'books'; readonly read: DepotBooks }
  | { readonly type: 'unread' }
  | { readonly type: 'intake' }
  | { readonly type: 'review' }
  | { readonly type: 'revive' }
  | { readonly type: 'breakCharger' }
  | { readonly type: 'crash' }
  /** Some of its drones fail. */
  | { readonly type: 'strike'; readonly drones: readonly number[]; readonly why: string }

/** What can be switched while it runs. */
export interface Switches {
  /** Whether drones that fail are restarted. */
  supervised: boolean
  /** Whether customers send parcels. */
  open: boolean
}

export interface DistrictOptions {
  readonly number: number
  readonly sky: Sky
  readonly switches: Switches
  readonly random: () => number
  readonly now: () => number
  readonly planners: ActorRef<Planner>
  readonly log: ActorRef<Line>
  /** Its depot, where that lives by itself; left out, it is a child. */
  readonly books?: ActorRef<Depot> | undefined
  /** Where others find its depot and its drones. */
  readonly found: { readonly depots: Map<string, ActorRef<Depot>>; readonly drones: (ActorRef<Drone> | undefined)[] }
  /** Told the books whenever they were read. */
  readonly audited: (read: DepotBooks) => void
}

const depotMailbox: MailboxKind = bounded(4096, 'drop-newest')
const again: SupervisionPolicy = supervise({
  limit: { restarts: Number.MAX_SAFE_INTEGER, within: 2000 },
  backoff: { min: 50, max: 2000, factor: 2, jitter: 0.2 },
})
export const policyOf = (switches: Switches): SupervisionPolicy =>
  supervise({
    decide: () => (switches.supervised ? 'restart' : 'stop'),
    limit: { restarts: Number.MAX_SAFE_INTEGER, within: 5000 },
    backoff: { min: 700, max: 4000, factor: 2, jitter: 0.4 },
  })

/** Milliseconds: how often customers come, how often it looks after what takes too long, and what that is. */
const intakeEvery = 250
const reviewEvery = 2000
const tooLong = { planning: 12_000, charging: 8000, wind: 6000 }
/** How long an idle drone waits for a parcel, about. */
const idleFor = 6000

interface Job {
  readonly parcel: number
  readonly to: number
}

export function district(options: DistrictOptions): Behavior<District> {
  const { number, sky, switches, random, now, planners, log, found, audited } = options
  const { world } = sky
  const first = number * world.dronesEach
  return setup<District>((ctx) => {
    const books = options.books ?? ctx.spawn(depot(String(number)), { name: 'depot', mailbox: depotMailbox, supervision: again })
    found.depots.set(String(number), books)
    ctx.spawn(pads(ctx.self), { name: 'pads', kind: 'pads', supervision: again })
    const policy = policyOf(switches)
    const idle: number[] = []
    const jobs = new Map<number, Job>()
    const queue: Job[] = []
    /** Who waits for a route or for the charger, since when. */
    const planning = new Map<number, number>()
    const charging = new Map<number, number>()
    /** What the depot has not settled yet, by parcel. */
    const unsettled = new Map<number, Depot>()
    // One that comes here from another node knows nothing of what was here before.
    if (ctx.incarnation === 0) for (let one = first; one < first + world.dronesEach; one++) sky.rest(one)
    let pad: ActorRef<Pad> | undefined
    let charger: ActorRef<Charger> | undefined
    let wind = { factor: 1, at: now() }
    let asked = 0
    /** Three places that half of the parcels go to: corridors in the sky. */
    const favourites = Array.from({ length: 3 }, () => elsewhere())

    function elsewhere(): number {
      const districts = districtsOf(world)
      return (number + 1 + Math.floor(random() * (districts - 1))) % districts
    }
    function read(): void {
      ctx.pipeToSelf(
        ctx.ask(books, { type: 'read' }, { timeout: 20_000 }),
        (answer): District => ({ type: 'books', read: answer }),
        (): District => ({ type: 'unread' }),
      )
    }
    function settle(parcel: number, message: Depot): void {
      unsettled.set(parcel, message)
      books.tell(message)
    }
    function plan(one: number): void {
      planning.set(one, now())
      const { to } = jobs.get(one)!
      planners.tell({ type: 'plan', drone: one, from: homeOf(world, one), to: depotAt(world, to), replyTo: ctx.self })
    }
    function land(one: number): void {
      charging.set(one, now())
      pad?.tell({ type: 'land', drone: one })
    }
    /** Parcels to drones, as long as there are both, and weather to fly by. */
    function dispatch(): void {
      if (now() - wind.at > tooLong.wind) return
      while (queue.length > 0 && idle.length > 0) {
        const one = idle.splice(Math.floor(random() * idle.length), 1)[0]!
        jobs.set(one, queue.shift()!)
        found.drones[one]!.tell({ type: 'load' })
        plan(one)
      }
    }
    function fly({ drone: one, bend, takes }: Route): void {
      const job = jobs.get(one)
      if (job === undefined || !planning.delete(one)) return
      const flight = { to: job.to, bend, began: now(), takes: Math.round(takes * wind.factor) }
      books.tell({ type: 'depart', parcel: job.parcel, drone: one, flight })
      found.drones[one]!.tell({ type: 'fly', flight })
    }
    /** What it carried goes back to who sent it. */
    function lost(one: number, why: string): void {
      planning.delete(one)
      charging.delete(one)
      const at = idle.indexOf(one)
      if (at !== -1) idle.splice(at, 1)
      const job = jobs.get(one)
      if (job === undefined) return
      jobs.delete(one)
      settle(job.parcel, { type: 'giveBack', parcel: job.parcel, replyTo: ctx.self })
      log.tell({ at: now(), text: `drone ${one} ${why}; parcel ${nameOf(job.parcel)} goes back to its sender` })
    }
    function launch(one: number, resumed?: Resumed): void {
      found.drones[one] = ctx.spawn(drone({ number: one, sky, district: ctx.self, now, resumed }), {
        name: `drone-${one}`,
        kind: 'drone',
        supervision: policy,
      })
    }
    function begin({ books: { held, flights } }: DepotBooks): void {
      const carried = new Set<number>()
      for (let one = first; one < first + world.dronesEach; one++) {
        const flight = flights.get(one)
        if (flight !== undefined && flight.turned === undefined && held.get(flight.parcel)?.handed === false && !carried.has(flight.parcel)) {
          carried.add(flight.parcel)
          jobs.set(one, { parcel: flight.parcel, to: flight.to })
          launch(one, { way: 'out', flight })
        } else if (flight?.turned !== undefined && now() < flight.turned + flight.takes) launch(one, { way: 'back', flight, turned: flight.turned })
        else {
          // One that is in the sky all the same, because its district begins anew, comes home first.
          if (sky.phase[one] === 0) idle.push(one)
          launch(one)
        }
      }
      for (const [parcel, { to, handed }] of held) if (!handed && !carried.has(parcel)) queue.push({ parcel, to })
      ctx.timers.every('intake', intakeEvery, { type: 'intake' })
      ctx.timers.every('review', reviewEvery, { type: 'review' })
      dispatch()
    }
    /** Customers bring more where drones stand idle. */
    function intake(): void {
      dispatch()
      if (!switches.open || queue.length >= idle.length) return
      const due = ((idle.length - queue.length - asked) * intakeEvery) / idleFor
      for (let left = due + random(); left >= 1; left--) {
        asked++
        books.tell({ type: 'send', to: random() < 0.5 ? favourites[Math.floor(random() * 3)]! : elsewhere(), replyTo: ctx.self })
      }
    }
    /** What takes too long is tried again; what the depot holds and nobody here knows of is taken up again. */
    function review(): void {
      asked = 0
      for (const [one, since] of planning) if (now() - since > tooLong.planning) plan(one)
      for (const [one, since] of charging) if (now() - since > tooLong.charging) land(one)
      for (const message of unsettled.values()) books.tell(message)
      read()
    }
    function reconcile({ books: { held } }: DepotBooks): void {
      const known = new Set([...queue, ...jobs.values()].map(({ parcel }) => parcel))
      for (const [parcel, { to, handed }] of held) if (!handed && !known.has(parcel) && !unsettled.has(parcel)) queue.push({ parcel, to })
    }

    let begun = false
    let isOver = false
    read()
    return receive(
      (_ctx, m) => {
        switch (m.type) {
          case 'books':
            audited(m.read)
            if (begun) reconcile(m.read)
            else begin(m.read)
            begun = true
            return same
          case 'unread':
            if (!begun) read()
            return same
          case 'intake':
            intake()
            return same
          case 'review':
            review()
            return same
          case 'accepted':
            asked = Math.max(0, asked - 1)
            queue.push({ parcel: m.parcel, to: m.to })
            dispatch()
            return same
          case 'settled':
            unsettled.delete(m.parcel)
            return same
          case 'route':
            fly(m)
            return same
          case 'wind':
            wind = { factor: m.factor, at: now() }
            return same
          case 'arrived': {
            const job = jobs.get(m.drone)
            if (job === undefined) return same
            jobs.delete(m.drone)
            settle(job.parcel, { type: 'hand', parcel: job.parcel, drone: m.drone, at: now(), replyTo: ctx.self })
            return same
          }
          case 'landed':
            land(m.drone)
            return same
          case 'charged':
            if (charging.delete(m.drone) && !idle.includes(m.drone)) idle.push(m.drone)
            return same
          case 'restarted':
            lost(m.drone, 'crashed and was restarted')
            return same
          case 'open':
            pad = m.pad
            charger = m.charger
            for (const one of charging.keys()) land(one)
            return same
          case 'breakCharger':
            charger?.tell({ type: 'break' })
            return same
          case 'revive':
            for (let one = first; one < first + world.dronesEach; one++) if (found.drones[one] === undefined) launch(one)
            return same
          case 'strike':
            for (const one of m.drones) found.drones[one]?.tell({ type: 'crash', why: m.why })
            return same
          case 'crash':
            throw new Error('the district office burned down')
        }
      },
      (_ctx, signal) => {
        // Those that go with it lose nothing: whoever has the books next knows what they carried.
        if (signal.type === 'PreStop' || signal.type === 'PreRestart') isOver = true
        else if (signal.type === 'ChildStopped' && !isOver) stopped(signal.child.path)
        return same
      },
    )

    function stopped(path: string): void {
      const [, text] = /drone-(\d+)$/.exec(path) ?? []
      if (text === undefined) return
      const one = Number(text)
      found.drones[one] = undefined
      sky.stand(one, 'stopped', now())
      lost(one, 'stopped')
      // Whoever was killed while supervision is on has a successor at once.
      if (switches.supervised) launch(one)
    }
  })
}
