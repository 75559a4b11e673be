// Those who play: each has one move under way at a time, and makes it again, with the same number, until a room says that it has it.

import { type ActorRef, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import type { Moved, Room } from './room.ts'

export type Player =
  | { type: 'made'; moved: Moved }
  | { type: 'failed'; cause: unknown }
  | { type: 'next' }
  | { type: 'leave'; replyTo: ActorRef<'left'> }

/** Finds rooms, and is asked for each move: a ref may be of a session that has ended. */
export interface Rooms {
  ref(room: string): ActorRef<Room>
}

/** Hears how moves went. */
export interface Score {
  /** A room has the move: it is acknowledged. */
  made(room: string, player: string, moved: Moved): void
  /** Nobody knows what became of it; it is made again. */
  unknown(room: string, cause: unknown): void
}

export interface Seat {
  readonly room: string
  readonly player: string
  /** Moves that this player has made already. */
  readonly made: number
}

export interface Habits {
  /** From 0 to 1. */
  readonly random: () => number
  /** Milliseconds between two moves. */
  readonly pause: number
  /** Milliseconds for an answer. */
  readonly patience: number
}

export function player(rooms: Rooms, { room, player: name, made }: Seat, score: Score, { random, pause, patience }: Habits): Behavior<Player> {
  return setup<Player>((ctx) => {
    let n = made + 1
    let steps = 0
    let leaving: ActorRef<'left'> | undefined
    let between = true
    const move = (): void => {
      between = false
      ctx.pipeToSelf(
        ctx.ask(rooms.ref(room), { type: 'move', player: name, n, steps }, { timeout: patience }),
        (moved): Player => ({ type: 'made', moved }),
        (cause): Player => ({ type: 'failed', cause }),
      )
    }
    ctx.timers.once('next', 1 + random() * pause, { type: 'next' })
    return receive<Player>((_ctx, m) => {
      switch (m.type) {
        case 'next':
          if (between) steps = 1 + Math.floor(random() * 6)
          move()
          return same
        case 'made':
          score.made(room, name, m.moved)
          n++
          between = true
          break
        case 'failed':
          score.unknown(room, m.cause)
          break
        case 'leave':
          // Not before the move that is under way was acknowledged.
          leaving = m.replyTo
      }
      if (leaving !== undefined && between) {
        leaving.tell('left')
        return stopped
      }
      if (m.type !== 'leave') ctx.timers.once('next', pause * (0.5 + random()), { type: 'next' })
      return same
    })
  })
}

/** Random numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
}
