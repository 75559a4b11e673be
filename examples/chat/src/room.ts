// One room: who is in it, what was said lately. A room that has been empty for a while asks its lobby to let it sleep,
// and hands over what it wants to remember.

import { type ActorRef, type AnyRef, type Behavior, receive, same, setup } from '@troupe/core'
import type { Said, ToBrowser } from './protocol.ts'

export type Room =
  | { readonly type: 'enter'; readonly name: string; readonly visitor: ActorRef<RoomNews> }
  | { readonly type: 'leave'; readonly visitor: AnyRef }
  | { readonly type: 'say'; readonly visitor: AnyRef; readonly text: string }

/** What a visitor hears from a room. `room` takes what the visitor says. */
export type RoomNews = { readonly type: 'news'; readonly news: ToBrowser; readonly room: ActorRef<Room> }

/** What a room tells its lobby. */
export type RoomReport =
  | { readonly type: 'people-changed'; readonly room: string; readonly people: number }
  /** Empty for long enough. `entered` says how many came in ever: if more are on their way, it stays awake. */
  | { readonly type: 'sleepy'; readonly room: string; readonly entered: number; readonly history: readonly Said[] }

export interface RoomOptions {
  readonly name: string
  readonly history: readonly Said[]
  readonly lobby: ActorRef<RoomReport>
  readonly sleepAfter: number
  readonly clock: () => number
}

const remembered = 50

export function room(options: RoomOptions): Behavior<Room> {
  const { name: self, lobby, sleepAfter, clock } = options
  return setup((ctx) => {
    const people = new Map<AnyRef, { readonly name: string; readonly ref: ActorRef<RoomNews> }>()
    const history: Said[] = [...options.history]
    let entered = 0
    let id = history.at(-1)?.id ?? 0
    ctx.setReceiveTimeout(sleepAfter)

    const names = (): string[] => [...people.values()].map((p) => p.name).sort((a, b) => a.localeCompare(b))
    const tell = (to: ActorRef<RoomNews>, news: ToBrowser): void => to.tell({ type: 'news', news, room: ctx.self })
    const tellAll = (news: ToBrowser): void => {
      for (const { ref } of people.values()) tell(ref, news)
    }
    /** The name asked for, with a number if someone has it. */
    const free = (wanted: string): string => {
      const taken = new Set(names())
      let name = wanted
      for (let n = 2; taken.has(name); n++) name = `${wanted} ${n}`
      return name
    }
    const gone = (visitor: AnyRef): void => {
      const person = people.get(visitor)
      if (person === undefined) return
      people.delete(visitor)
      ctx.unwatch(visitor)
      tellAll({ type: 'people', people: names(), change: { name: person.name, came: false } })
      lobby.tell({ type: 'people-changed', room: self, people: people.size })
    }

    return receive<Room>(
      (_ctx, m) => {
        switch (m.type) {
          case 'enter': {
            entered++
            const name = free(m.name)
            people.set(m.visitor, { name, ref: m.visitor })
            ctx.watch(m.visitor)
            tell(m.visitor, { type: 'entered', room: self, name, history, people: names() })
            for (const { ref } of people.values()) if (ref !== m.visitor) tell(ref, { type: 'people', people: names(), change: { name, came: true } })
            lobby.tell({ type: 'people-changed', room: self, people: people.size })
            return same
          }
          case 'leave':
            gone(m.visitor)
            return same
          case 'say': {
            const person = people.get(m.visitor)
            if (person === undefined) return same
            const said: Said = { type: 'said', id: ++id, name: person.name, text: m.text, at: clock() }
            history.push(said)
            if (history.length > remembered) history.shift()
            tellAll(said)
            return same
          }
        }
      },
      (_ctx, signal) => {
        if (signal.type === 'Terminated') gone(signal.ref)
        if (signal.type === 'ReceiveTimeout' && people.size === 0) lobby.tell({ type: 'sleepy', room: self, entered, history })
        return same
      },
    )
  })
}
