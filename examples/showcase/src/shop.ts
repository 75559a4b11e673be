// The actors of the shop. None of them has a try around the bank, or asks whether another one is alive: what to do about
// a failure is said where an actor is spawned, and nowhere else.
//
//   shop ── books         counts what was sold
//        ├─ catalogue     knows prices; hands them over when it restarts
//        ├─ payments ── gateway      talks to the bank; gives up to payments after two restarts in a second
//        └─ orders ── worker-1…3     a worker that hits a cursed order is replaced

import { ActorError, type ActorRef, type Behavior, match, receive, same, setup, supervise } from '@troupe/core'
import type { Bank } from './bank.ts'

/** What became of an order. */
export interface Sale {
  readonly id: number
  readonly cents: number
  readonly receipt: string
  readonly attempts: number
}

type Books = { type: 'sold'; sale: Sale } | { type: 'total'; replyTo: ActorRef<Total> }
type Catalogue = { type: 'row'; line: string } | { type: 'price'; item: string; replyTo: ActorRef<number> }
type Payments = { type: 'charge'; cents: number; replyTo: ActorRef<string> }
type Order = { type: 'order'; id: number; item: string; replyTo: ActorRef<Sale> }

/** How many orders were paid, and how much. */
export interface Total {
  readonly sales: number
  readonly cents: number
}

/** What the shop understands: orders, price rows from the supplier, and the question for the total. */
export type Shop = Order | Extract<Catalogue, { type: 'row' }> | Extract<Books, { type: 'total' }>

const books = (total: Total = { sales: 0, cents: 0 }): Behavior<Books> =>
  match({
    sold: (_ctx, { sale }) => books({ sales: total.sales + 1, cents: total.cents + sale.cents }),
    total: (_ctx, { replyTo }) => {
      replyTo.tell(total)
      return same
    },
  })

/** Fails on a malformed row, restarts, and still knows every price: the old incarnation hands them to the new one. */
const catalogue = setup<Catalogue>((ctx) => {
  const prices = new Map(ctx.handedOver as Map<string, number> | undefined)
  return match(
    {
      row: (_ctx, { line }) => {
        const [item = '', cents] = line.split('=')
        if (!(Number(cents) > 0)) throw new Error(`malformed price row "${line}"`)
        prices.set(item, Number(cents))
        return same
      },
      price: (_ctx, { item, replyTo }) => {
        const cents = prices.get(item)
        if (cents !== undefined) replyTo.tell(cents)
        return same
      },
    },
    (inner, signal) => {
      if (signal.type === 'PreRestart') inner.handOver(prices)
      return same
    },
  )
})

const gateway = (bank: Bank): Behavior<Payments> =>
  receive((_ctx, { cents, replyTo }) => {
    replyTo.tell(bank.charge(cents))
    return same
  })

/** Owns the gateway. When the gateway gives up, payments restarts, which makes a new one with a fresh budget. */
const payments = (bank: Bank): Behavior<Payments> =>
  setup((ctx) => {
    const patient = supervise({ limit: { restarts: 2, within: 1000 }, backoff: { min: 100, max: 200, jitter: 0 }, onLimit: 'escalate' })
    const line = ctx.spawn(gateway(bank), { name: 'gateway', supervision: patient })
    return receive((inner) => {
      inner.forward(line)
      return same
    })
  })

interface Colleagues {
  readonly ledger: ActorRef<Books>
  readonly prices: ActorRef<Catalogue>
  readonly till: ActorRef<Payments>
}

/** One order at a time. A charge that fails is tried again: while the gateway restarts, the question waits for it. */
const worker = ({ ledger, prices, till }: Colleagues): Behavior<Order> =>
  receive(async (ctx, { id, item, replyTo }) => {
    if (item === 'cursed idol') throw new ActorError(`order ${id} is cursed`, { kind: 'permanent', severity: 'warn' })
    const cents = await ctx.ask(prices, { type: 'price', item })
    for (let attempts = 1; ; attempts++) {
      try {
        const sale = { id, cents, receipt: await ctx.ask(till, { type: 'charge', cents }), attempts }
        ledger.tell({ type: 'sold', sale })
        replyTo.tell(sale)
        return same
      } catch (cause) {
        if (attempts === 5) throw new Error(`order ${id} could not be charged`, { cause })
      }
    }
  })

/** Hands each order to the next worker, and puts a new one in the place of any that stops. */
const orders = (colleagues: Colleagues): Behavior<Order> =>
  setup((ctx) => {
    const hire = (name: string): ActorRef<Order> => ctx.spawn(worker(colleagues), { name })
    const crew = [1, 2, 3].map((n) => hire(`worker-${n}`))
    let next = 0
    return receive(
      (inner) => {
        inner.forward(crew[next++ % crew.length]!)
        return same
      },
      (_inner, signal) => {
        if (signal.type !== 'ChildStopped' || signal.reason !== 'failure') return same
        const at = crew.findIndex((ref) => ref.uid === signal.child.uid)
        crew[at] = hire(`worker-${at + 1}`)
        return same
      },
    )
  })

/** The whole shop, as one behavior. */
export const shop = (bank: Bank): Behavior<Shop> =>
  setup((ctx) => {
    const ledger = ctx.spawn(books(), { name: 'books' })
    const prices = ctx.spawn(catalogue, { name: 'catalogue' })
    const till = ctx.spawn(payments(bank), { name: 'payments', supervision: supervise({ backoff: { min: 300, jitter: 0 } }) })
    const desk = ctx.spawn(orders({ ledger, prices, till }), { name: 'orders' })
    return match({
      order: (inner) => {
        inner.forward(desk)
        return same
      },
      row: (inner) => {
        inner.forward(prices)
        return same
      },
      total: (inner) => {
        inner.forward(ledger)
        return same
      },
    })
  })
