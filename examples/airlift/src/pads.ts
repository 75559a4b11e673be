// Where drones are made ready: charger → loader → pad, each built on the one before it. Under `rest-for-one` a charger that breaks takes the
// two behind it along, and they come back in order; a pad that breaks comes back alone.

import { type ActorRef, type Behavior, child, receive, same, setup, supervisor, type SupervisorMessage } from '@troupe/core'
import type { PadNews } from './district.ts'

export type Charger = { type: 'charge'; drone: number } | { type: 'full'; drone: number } | { type: 'break' }
type Loader = { type: 'load'; drone: number }
export type Pad = { type: 'land'; drone: number } | { type: 'break' }

const chargeTakes = 2500

const chargerOf = (district: ActorRef<PadNews>): Behavior<Charger> =>
  setup<Charger>((ctx) =>
    receive((_ctx, m) => {
      if (m.type === 'break') throw new Error('the charger burned out')
      if (m.type === 'charge') ctx.timers.once(`${m.drone}`, chargeTakes, { type: 'full', drone: m.drone })
      else district.tell({ type: 'charged', drone: m.drone })
      return same
    }),
  )

const loaderOf = (charger: ActorRef<Charger>): Behavior<Loader> =>
  receive((_ctx, { drone }) => {
    charger.tell({ type: 'charge', drone })
    return same
  })

/** The three of a district, and its two ends: where drones land, and what can burn out. */
export function pads(district: ActorRef<PadNews>): Behavior<SupervisorMessage> {
  const charger = child('charger', chargerOf(district), { kind: 'charger' })
  const loader = child('loader', ({ refOf }) => loaderOf(refOf(charger)), { kind: 'loader', needs: [charger] })
  const pad = child(
    'pad',
    ({ refOf }) =>
      setup<Pad>((ctx) => {
        district.tell({ type: 'open', pad: ctx.self, charger: refOf(charger) })
        return receive((_ctx, m) => {
          if (m.type === 'break') throw new Error('the pad is iced over')
          refOf(loader).tell({ type: 'load', drone: m.drone })
          return same
        })
      }),
    { kind: 'pad', needs: [loader, charger] },
  )
  return supervisor({ strategy: 'rest-for-one', intensity: 100, period: 10_000, children: [charger, loader, pad] })
}
