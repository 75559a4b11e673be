// One visitor: an actor that owns a WebSocket, checks what the browser sends, and passes on what rooms tell.

import type { WebSocketConnection, WebSocketEvent } from '@troupe/node'
import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Lobby, LobbyNews } from './lobby.ts'
import { readBrowser, type ToBrowser } from './protocol.ts'
import type { Room, RoomNews } from './room.ts'

export type Visitor = WebSocketEvent | RoomNews | LobbyNews | { readonly type: 'refill' }

/** What a visitor may say at once, and how fast that comes back. */
const burst = 20
const refillEvery = 500

export const visitor =
  (lobby: ActorRef<Lobby>) =>
  (socket: WebSocketConnection): Behavior<Visitor> =>
    setup((ctx) => {
      let room: ActorRef<Room> | undefined
      let allowed = burst
      const send = (news: ToBrowser): void => void socket.send(JSON.stringify(news))
      const leave = (): void => {
        room?.tell({ type: 'leave', visitor: ctx.self })
        room = undefined
      }
      lobby.tell({ type: 'look', visitor: ctx.self })
      ctx.timers.every('refill', refillEvery, { type: 'refill' })

      return receive((_ctx, m) => {
        switch (m.type) {
          case 'text': {
            const said = readBrowser(m.text)
            if (typeof said === 'string') send({ type: 'refused', why: said })
            else if (said.type === 'leave') leave()
            else if (allowed <= 0) send({ type: 'refused', why: 'not so fast' })
            else if (said.type === 'say') {
              allowed--
              if (room === undefined) send({ type: 'refused', why: 'enter a room first' })
              else room.tell({ type: 'say', visitor: ctx.self, text: said.text })
            } else {
              allowed--
              leave()
              lobby.tell({ type: 'enter', room: said.room, name: said.name, visitor: ctx.self })
            }
            return same
          }
          case 'news':
            if (m.news.type === 'entered') room = m.room
            // News of a room that was left a moment ago is no news.
            if (m.room === room) send(m.news)
            return same
          case 'lobby-news':
            send(m.news)
            return same
          case 'refill':
            if (allowed < burst) allowed++
            return same
          default:
            // A tab that was closed, or a network that broke: the actor ends, and its room hears of that.
            return same
        }
      })
    })
