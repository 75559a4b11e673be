// An account is what happened to it: money that it sent, and money that it received. What is sent is delivered in the record of the
// command that sent it: it leaves the one and reaches the other exactly once, whatever ends in between.

import type { ActorRef } from '@troupe/core'
import { eventSourced, type Kind } from '@troupe/persistence'

export type Account =
  | { type: 'send'; transfer: string; to: string; amount: number; replyTo: ActorRef<Answer> }
  | { type: 'receive'; transfer: string; from: string; amount: number }
  | { type: 'balance'; replyTo: ActorRef<number> }

export type Answer = 'accepted' | 'not enough money'

/** What an account has in the beginning. */
export const opening = 1000

export interface Sent {
  readonly transfer: string
  readonly to: string
  readonly amount: number
}
export interface Received {
  readonly transfer: string
  readonly from: string
  readonly amount: number
}

export const account: Kind<Account> = eventSourced('account', {
  initial: () => opening,
  events: {
    sent: (balance, e: Sent) => balance - e.amount,
    received: (balance, e: Received) => balance + e.amount,
  },
  commands: {
    send(ctx, { transfer, to, amount, replyTo }) {
      if (amount > ctx.state) return ctx.tell(replyTo, 'not enough money')
      ctx.persist({ type: 'sent', transfer, to, amount })
      ctx.deliver(account, to, { type: 'receive', transfer, from: ctx.key, amount })
      ctx.tell(replyTo, 'accepted') // leaves when both are on the disk
    },
    receive: (ctx, { transfer, from, amount }) => ctx.persist({ type: 'received', transfer, from, amount }),
    balance: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
  snapshotEvery: 200,
})
