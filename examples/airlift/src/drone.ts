// A drone: one of ten thousand plain actors. It keeps nothing: when it fails it is restarted where it lies and flies home; what it carried is
// in its depot's books. While it flies it costs one timer.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Flight } from './depot.ts'
import type { DroneNews } from './district.ts'
import type { Sky } from './sky.ts'
import { between, depotAt, flightTime, homeOf } from './world.ts'

export type Drone =
  | { readonly type: 'load' }
  | { readonly type: 'fly'; readonly flight: Flight }
  | { readonly type: 'arrive' }
  | { readonly type: 'home' }
  | { readonly type: 'crash'; readonly why: string }
  | { readonly type: 'sabotage' }
  | { readonly type: 'grind' }

/** What a drone was doing when the process ended: on its way out, or back. */
export type Resumed = { readonly way: 'out'; readonly flight: Flight } | { readonly way: 'back'; readonly flight: Flight; readonly turned: number }

export interface DroneOptions {
  readonly number: number
  readonly sky: Sky
  readonly district: ActorRef<DroneNews>
  readonly now: () => number
  readonly resumed?: Resumed | undefined
}

/** Milliseconds of the processor that a saboteur takes, and how often: on a busy machine, too, enough for the observer to name it. */
const grind = { takes: 240, every: 960 }

export function drone({ number, sky, district, now, resumed }: DroneOptions): Behavior<Drone> {
  const { world } = sky
  const home = homeOf(world, number)
  return setup<Drone>((ctx) => {
    const out = (flight: Flight): void => {
      sky.fly(number, 'carrying', { ...flight, from: home, to: depotAt(world, flight.to) })
      ctx.timers.once('flight', Math.max(1, flight.began + flight.takes - now()), { type: 'arrive' })
    }
    const back = (flight: Flight, turned: number): void => {
      sky.fly(number, 'homeward', { ...flight, from: depotAt(world, flight.to), to: home, began: turned })
      ctx.timers.once('flight', Math.max(1, turned + flight.takes - now()), { type: 'home' })
    }
    /** From wherever it lies. */
    const limp = (): void => {
      const from = sky.at(number, now())
      const bend = between(from, home)
      const takes = Math.max(300, flightTime(from, bend, home))
      sky.fly(number, 'homeward', { from, bend, to: home, began: now(), takes })
      ctx.timers.once('flight', takes, { type: 'home' })
    }
    let flight: Flight | undefined
    if (ctx.incarnation > 0) {
      district.tell({ type: 'restarted', drone: number })
      limp()
    } else if (resumed === undefined) {
      // A successor of one that was stopped lies where that one lay.
      if (sky.phase[number] === 0) sky.rest(number)
      else limp()
    } else {
      flight = resumed.flight
      if (resumed.way === 'out') out(flight)
      else back(flight, resumed.turned)
    }
    return receive((_ctx, m) => {
      switch (m.type) {
        case 'load':
          sky.stand(number, 'planning', now())
          return same
        case 'fly':
          flight = m.flight
          out(flight)
          return same
        case 'arrive':
          district.tell({ type: 'arrived', drone: number })
          if (flight !== undefined) back(flight, now())
          return same
        case 'home':
          sky.rest(number)
          district.tell({ type: 'landed', drone: number })
          return same
        case 'crash':
          sky.stand(number, 'restarting', now())
          throw new Error(m.why)
        case 'sabotage':
          ctx.timers.every('grind', grind.every, { type: 'grind' })
          return same
        case 'grind': {
          const began = process.cpuUsage()
          const spent = (): number => {
            const { user, system } = process.cpuUsage(began)
            return (user + system) / 1000
          }
          while (spent() < grind.takes);
          return same
        }
      }
    })
  })
}
