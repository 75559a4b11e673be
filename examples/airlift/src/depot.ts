// The books of a district, event-sourced: every parcel that was sent from here is held until its receipt is back, and what arrives here is
// written down before the receipt leaves. A parcel goes from depot to depot by reliable delivery: in the record that hands it over, and until
// the record that takes it. Beside the parcels stands which drone flew when, so that drones, which keep nothing, go on where they were.

import type { ActorRef } from '@troupe/core'
import { eventSourced, type Kind } from '@troupe/persistence'
import type { Point } from './world.ts'

export type Depot =
  | { type: 'send'; to: number; replyTo: ActorRef<DepotNews> }
  | { type: 'depart'; parcel: number; drone: number; flight: Flight }
  | { type: 'hand'; parcel: number; drone: number; at: number; replyTo: ActorRef<DepotNews> }
  | { type: 'giveBack'; parcel: number; replyTo: ActorRef<DepotNews> }
  | { type: 'receive'; parcel: number }
  | { type: 'receipt'; parcel: number }
  | { type: 'read'; replyTo: ActorRef<DepotBooks> }
  | { type: 'inquiry' }

/** What a district hears from its depot, once it is durable. */
export type DepotNews =
  | { readonly type: 'accepted'; readonly parcel: number; readonly to: number }
  | { readonly type: 'settled'; readonly parcel: number }

/** A way of a drone, out and back. */
export interface Flight {
  readonly to: number
  readonly bend: Point
  readonly began: number
  readonly takes: number
}
export interface FlightNoted extends Flight {
  readonly parcel: number
  /** When it turned round; it carries its parcel until then. */
  readonly turned?: number
}
/** A parcel that was sent from here and is not over. */
export interface Held {
  readonly to: number
  /** Handed over: the delivery to the other depot is in the journal, and no drone needs to carry it any more. */
  readonly handed: boolean
}

export interface Books {
  readonly sent: number
  readonly returned: number
  /** Delivered to this district, from anywhere. */
  readonly delivered: number
  readonly held: ReadonlyMap<number, Held>
  readonly flights: ReadonlyMap<number, FlightNoted>
  /** The last ones that were delivered here: whoever reads all books sees from these which held ones have arrived. */
  readonly arrived: readonly number[]
}
export interface DepotBooks {
  readonly district: number
  /** How many events made these books. */
  readonly seq: number
  readonly books: Books
}

/** A parcel's number has the district in it that sent it. */
const perDistrict = 128
export const originOf = (parcel: number): number => parcel % perDistrict
const numbered = (district: number, nth: number): number => nth * perDistrict + district
/** For people: `17-2041` is the 2,041st of district 17. */
export const nameOf = (parcel: number): string => `${originOf(parcel)}-${Math.floor(parcel / perDistrict)}`

const rememberedArrivals = 256

export type DepotEvent =
  | { readonly type: 'sent'; readonly parcel: number; readonly to: number }
  | { readonly type: 'departed'; readonly parcel: number; readonly drone: number; readonly flight: Flight }
  | { readonly type: 'handed'; readonly parcel: number; readonly drone: number; readonly at: number }
  | { readonly type: 'returned'; readonly parcel: number }
  | { readonly type: 'delivered'; readonly parcel: number }
  | { readonly type: 'closed'; readonly parcel: number }
type Of<T extends DepotEvent['type']> = Omit<Extract<DepotEvent, { type: T }>, 'type'>

function without<V>(map: ReadonlyMap<number, V>, key: number): ReadonlyMap<number, V> {
  const copy = new Map(map)
  copy.delete(key)
  return copy
}
const having = <V>(map: ReadonlyMap<number, V>, key: number, value: V): ReadonlyMap<number, V> => new Map(map).set(key, value)

export const depot: Kind<Depot> = eventSourced('depot', {
  initial: (): Books => ({ sent: 0, returned: 0, delivered: 0, held: new Map(), flights: new Map(), arrived: [] }),
  events: {
    sent: (books, { parcel, to }: Of<'sent'>) => ({ ...books, sent: books.sent + 1, held: having(books.held, parcel, { to, handed: false }) }),
    departed: (books, { parcel, drone, flight }: Of<'departed'>) => ({ ...books, flights: having(books.flights, drone, { ...flight, parcel }) }),
    handed: (books, { parcel, drone, at }: Of<'handed'>) => ({
      ...books,
      held: having(books.held, parcel, { to: books.held.get(parcel)!.to, handed: true }),
      flights: turned(books.flights, parcel, drone, at),
    }),
    returned: (books, { parcel }: Of<'returned'>) => ({ ...books, returned: books.returned + 1, held: without(books.held, parcel) }),
    delivered: (books, { parcel }: Of<'delivered'>) => ({
      ...books,
      delivered: books.delivered + 1,
      arrived: [...books.arrived.slice(1 - rememberedArrivals), parcel],
    }),
    closed: (books, { parcel }: Of<'closed'>) => ({ ...books, held: without(books.held, parcel) }),
  },
  commands: {
    send(ctx, { to, replyTo }) {
      const parcel = numbered(Number(ctx.key), ctx.state.sent + 1)
      ctx.persist({ type: 'sent', parcel, to })
      ctx.tell(replyTo, { type: 'accepted', parcel, to })
    },
    depart(ctx, { parcel, drone, flight }) {
      if (ctx.state.held.get(parcel)?.handed === false) ctx.persist({ type: 'departed', parcel, drone, flight })
    },
    hand(ctx, { parcel, drone, at, replyTo }) {
      const held = ctx.state.held.get(parcel)
      // Told again until it is settled: the second time it is settled already.
      if (held?.handed === false) {
        ctx.persist({ type: 'handed', parcel, drone, at })
        ctx.deliver(depot, String(held.to), { type: 'receive', parcel })
      }
      ctx.tell(replyTo, { type: 'settled', parcel })
    },
    giveBack(ctx, { parcel, replyTo }) {
      if (ctx.state.held.get(parcel)?.handed === false) ctx.persist({ type: 'returned', parcel })
      ctx.tell(replyTo, { type: 'settled', parcel })
    },
    receive(ctx, { parcel }) {
      ctx.persist({ type: 'delivered', parcel })
      ctx.deliver(depot, String(originOf(parcel)), { type: 'receipt', parcel })
    },
    receipt: (ctx, { parcel }) => ctx.persist({ type: 'closed', parcel }),
    read: (ctx, { replyTo }) => ctx.tell(replyTo, { district: Number(ctx.key), seq: ctx.seq, books: ctx.state }),
    inquiry: () => undefined,
  },
  // Often, so that a process that was killed is back soon; kept events are for the auditor, who reads behind.
  snapshotEvery: 100,
  keepEvents: 500,
})

function turned(flights: Books['flights'], parcel: number, drone: number, at: number): Books['flights'] {
  const flight = flights.get(drone)
  return flight?.parcel === parcel ? having(flights, drone, { ...flight, turned: at }) : flights
}
