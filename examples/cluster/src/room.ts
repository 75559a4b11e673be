// A game room: players race over twenty fields, and whoever is caught goes home. Every move has a number of its player, so that one which is made
// again, because nobody knows what became of it, counts once; and so that one which is missing is noticed.

import type { ActorRef, MessageSchema } from '@troupe/core'
import { eventSourced, type Kind } from '@troupe/persistence'

export type Room = { type: 'move'; player: string; n: number; steps: number; replyTo: ActorRef<Moved> } | { type: 'look'; replyTo: ActorRef<Table> }

/** What a player hears when its move is on the disk. */
export interface Moved {
  /** The last number that the room has of this player: that of the move, unless one before it is missing. */
  readonly n: number
  /** The node that has the room now. */
  readonly node: string
}

/** What a move leaves in the journal. */
export interface Move {
  readonly player: string
  readonly n: number
  readonly steps: number
}

/** What stands on the table of a room. */
export interface Table {
  /** Which game it is, from 1 on. */
  readonly game: number
  readonly fields: Readonly<Record<string, number>>
  /** How many moves each player has made, in all games. */
  readonly numbers: Readonly<Record<string, number>>
  readonly wins: Readonly<Record<string, number>>
}

const goal = 20
export const empty: Table = { game: 1, fields: {}, numbers: {}, wins: {} }

/** The rules, which the referee plays by as well. The order of moves matters: who comes to a field second catches who is there. */
export function play(table: Table, { player, n, steps }: Move): Table {
  const numbers = { ...table.numbers, [player]: n }
  const field = (table.fields[player] ?? 0) + steps
  if (field >= goal) return { game: table.game + 1, fields: {}, numbers, wins: { ...table.wins, [player]: (table.wins[player] ?? 0) + 1 } }
  const others = Object.entries(table.fields).filter(([name, at]) => name !== player && at !== field)
  return { ...table, fields: { ...Object.fromEntries(others), [player]: field }, numbers }
}

/** The rooms as the node of that name has them. */
export function roomOn(node: string): Kind<Room> {
  return eventSourced('room', {
    initial: () => empty,
    events: { moved: (table, move: Move) => play(table, move) },
    commands: {
      move(ctx, { player, n, steps, replyTo }) {
        const last = ctx.state.numbers[player] ?? 0
        if (n === last + 1) ctx.persist({ type: 'moved', player, n, steps })
        ctx.tell(replyTo, { n: Math.max(last, Math.min(n, last + 1)), node }) // leaves when the move is on the disk
      },
      look: (ctx, { replyTo }) => ctx.tell(replyTo, ctx.state),
    },
    snapshotEvery: 500,
  })
}

/** What may come over the network; everything else is a dead letter `not-accepted`. A schema of zod or valibot does as well. */
export const accepts: MessageSchema = {
  '~standard': {
    version: 1,
    vendor: 'troupe-example',
    validate(value: unknown) {
      const { type, player, n, steps } = Object(value) as Record<string, unknown>
      const fits =
        type === 'look' || (type === 'move' && typeof player === 'string' && Number.isSafeInteger(n) && Number.isInteger(steps) && Number(steps) > 0)
      return fits ? { value } : { issues: [{ message: 'no move, and no look' }] }
    },
  },
}
