// The lobby wakes rooms when someone wants in, and lets them sleep when they ask to. Everybody who wants to enter comes
// through here, which is what makes falling asleep free of races: a room that someone is on the way to stays awake.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { RoomFacts, Said, ToBrowser } from './protocol.ts'
import { room, type Room, type RoomNews, type RoomReport } from './room.ts'

export type Lobby =
  | RoomReport
  | { readonly type: 'enter'; readonly room: string; readonly name: string; readonly visitor: ActorRef<RoomNews> }
  /** Wants to hear which rooms there are, now and whenever that changes. */
  | { readonly type: 'look'; readonly visitor: ActorRef<LobbyNews> }

export interface LobbyNews {
  readonly type: 'lobby-news'
  readonly news: ToBrowser
}

export interface LobbyOptions {
  /** Milliseconds that an empty room stays awake. */
  readonly sleepAfter: number
  readonly clock: () => number
}

interface Known {
  awake: ActorRef<Room> | undefined
  sent: number
  people: number
  history: readonly Said[]
}

/** Rooms asleep that are remembered; the one asleep longest is forgotten first. */
const mostAsleep = 1000

export function lobby(options: LobbyOptions): Behavior<Lobby> {
  return setup((ctx) => {
    const rooms = new Map<string, Known>()
    const visitors = new Set<ActorRef<LobbyNews>>()
    const facts = (): ToBrowser => {
      const list: RoomFacts[] = [...rooms].map(([name, { awake, people }]) => ({ name, people, awake: awake !== undefined }))
      return { type: 'rooms', rooms: list.sort((a, b) => b.people - a.people || a.name.localeCompare(b.name)).slice(0, 100) }
    }
    const announce = (): void => {
      const news = facts()
      for (const visitor of visitors) visitor.tell({ type: 'lobby-news', news })
    }
    const wake = (name: string): Known => {
      const known = rooms.get(name) ?? { awake: undefined, sent: 0, people: 0, history: [] }
      rooms.set(name, known)
      if (known.awake === undefined) {
        known.sent = 0
        known.awake = ctx.spawn(room({ name, history: known.history, lobby: ctx.self, ...options }), { supervision: 'restart' })
      }
      return known
    }
    const forget = (): void => {
      if (rooms.size <= mostAsleep) return
      for (const [name, { awake }] of rooms) {
        if (awake !== undefined) continue
        rooms.delete(name)
        return
      }
    }

    return receive<Lobby>(
      (_ctx, m) => {
        switch (m.type) {
          case 'look':
            visitors.add(m.visitor)
            ctx.watch(m.visitor)
            m.visitor.tell({ type: 'lobby-news', news: facts() })
            return same
          case 'enter': {
            const known = wake(m.room)
            known.sent++
            known.awake!.tell({ type: 'enter', name: m.name, visitor: m.visitor })
            return same
          }
          case 'people-changed': {
            const known = rooms.get(m.room)
            if (known !== undefined) known.people = m.people
            announce()
            return same
          }
          case 'sleepy': {
            const known = rooms.get(m.room)
            if (known?.awake === undefined || known.sent !== m.entered) return same
            ctx.stop(known.awake)
            known.awake = undefined
            known.history = m.history
            // To the end of the map: the longest asleep is the first to be forgotten.
            rooms.delete(m.room)
            rooms.set(m.room, known)
            forget()
            announce()
            return same
          }
        }
      },
      (_ctx, signal) => {
        if (signal.type === 'Terminated') visitors.delete(signal.ref as ActorRef<LobbyNews>)
        return same
      },
    )
  })
}
