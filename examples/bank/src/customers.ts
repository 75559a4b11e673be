// The load: customers, each an actor that has one transfer under way at a time, from anybody to anybody else.

import { type ActorRef, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import type { Answer } from './account.ts'
import type { Accounts } from './bank.ts'

/** Hears how transfers ended. */
export interface Tally {
  /** It is on the disk, and took so many milliseconds. */
  accepted(transfer: string, ms: number): void
  refused(): void
  /** Nothing is known of it: the account failed, or did not answer. */
  unknown(cause: unknown): void
}

export type Customer =
  | { type: 'leave'; replyTo: ActorRef<'left'> }
  | { type: 'answered'; transfer: string; since: number; answer: Answer }
  | { type: 'failed'; cause: unknown }

export interface Habits {
  /** Begins the names of this customer's transfers; nobody else's begin so. */
  readonly name: string
  /** From 0 to 1. */
  readonly random: () => number
  readonly now: () => number
}

export function customer(accounts: Accounts, tally: Tally, { name, random, now }: Habits): Behavior<Customer> {
  return setup<Customer>((ctx) => {
    let n = 0
    const anybody = (): string => accounts.names[Math.floor(random() * accounts.names.length)]!
    const transfer = (): void => {
      const from = anybody()
      let to = anybody()
      while (to === from) to = anybody()
      const id = `${name}-${++n}`
      const since = now()
      ctx.pipeToSelf(
        ctx.ask(accounts.get(from), { type: 'send', transfer: id, to, amount: 1 + Math.floor(random() * 100) }, { timeout: 30_000 }),
        (answer): Customer => ({ type: 'answered', transfer: id, since, answer }),
        (cause): Customer => ({ type: 'failed', cause }),
      )
    }
    let leaving: ActorRef<'left'> | undefined
    transfer()
    return receive<Customer>((_ctx, m) => {
      if (m.type === 'leave') {
        // Not before the answer that is under way.
        leaving = m.replyTo
        return same
      }
      if (m.type === 'failed') tally.unknown(m.cause)
      else if (m.answer === 'accepted') tally.accepted(m.transfer, now() - m.since)
      else tally.refused()
      if (leaving !== undefined) {
        leaving.tell('left')
        return stopped
      }
      transfer()
      return same
    })
  })
}

/** Random numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
}
