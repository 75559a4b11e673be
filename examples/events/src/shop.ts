// Who places an order does not know who cares. An accountant sums up, an auditor that is too slow loses the oldest by its own
// choice, and a watch follows what Troupe itself observes: failures and restarts.

import { measured, type ActorRef, type ActorSystem, buffered, type BufferedChannel, receive, same, type Subscription } from '@troupe/core'

/** Something happened that others may care about. */
export class OrderPlaced {
  readonly id: number
  readonly cents: number
  constructor(id: number, cents: number) {
    this.id = id
    this.cents = cents
  }
}

export interface Shop {
  readonly till: ActorRef<{ readonly id: number; readonly cents: number }>
  readonly books: { total: number }
  readonly audited: number[]
  readonly audit: Subscription
  /** Failures and phases, until somebody looks. */
  readonly watch: BufferedChannel
}

export function openShop(system: ActorSystem, pause: () => Promise<void>): Shop {
  const till = system.spawn<{ readonly id: number; readonly cents: number }>(
    receive((_ctx, { id, cents }) => {
      if (cents < 0) throw new Error(`order ${id} has a negative price`)
      system.events.publish(new OrderPlaced(id, cents))
      return same
    }),
    { name: 'till' },
  )
  const books = { total: 0 }
  const accountant = system.spawn<OrderPlaced>(
    receive((_ctx, { cents }) => {
      books.total += cents
      return same
    }),
    { name: 'accountant' },
  )
  system.events.subscribe(accountant, OrderPlaced)

  const audited: number[] = []
  const auditor = system.spawn<OrderPlaced>(
    receive(async (_ctx, { id }) => {
      await pause()
      audited.push(id)
    }),
    { name: 'auditor', metrics: measured() },
  )
  const audit = system.events.subscribe(auditor, OrderPlaced, { capacity: 6, overflow: 'drop-oldest' })

  const watch = buffered(100)
  watch.attach(system.events, (e) => (e as { type?: string }).type === 'actor.failed' || (e as { type?: string }).type === 'actor.phase')
  return { till, books, audited, audit, watch }
}
