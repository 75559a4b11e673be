// Who listens to which channel. Subscribers are forgotten when they end, by watch.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import { glob } from './commands/command.ts'

/** What a subscriber hears; `pattern` where it subscribed by one. */
export interface Published {
  readonly type: 'published'
  readonly channel: string
  readonly message: string
  readonly pattern: string | undefined
}

export interface PublishDone {
  readonly type: 'publish-done'
  readonly receivers: number
}

export type PubSub =
  | { readonly type: 'subscribe'; readonly channel: string; readonly pattern: boolean; readonly subscriber: ActorRef<Published> }
  | { readonly type: 'unsubscribe'; readonly channel: string; readonly pattern: boolean; readonly subscriber: ActorRef<Published> }
  | { readonly type: 'publish'; readonly channel: string; readonly message: string; readonly from: ActorRef<PublishDone> }

type Subscribers = Map<string, Set<ActorRef<Published>>>

export function pubsub(): Behavior<PubSub> {
  return setup((ctx) => {
    const channels: Subscribers = new Map()
    const patterns: Subscribers = new Map()
    const matchers = new Map<string, (channel: string) => boolean>()
    const forget = (from: Subscribers, name: string, subscriber: ActorRef<Published>): void => {
      const subscribers = from.get(name)
      subscribers?.delete(subscriber)
      if (subscribers?.size === 0) from.delete(name)
    }
    return receive<PubSub>(
      (_ctx, m) => {
        switch (m.type) {
          case 'subscribe': {
            const to = m.pattern ? patterns : channels
            if (m.pattern) matchers.set(m.channel, glob(m.channel))
            const subscribers = to.get(m.channel)
            if (subscribers === undefined) to.set(m.channel, new Set([m.subscriber]))
            else subscribers.add(m.subscriber)
            ctx.watch(m.subscriber)
            return same
          }
          case 'unsubscribe':
            forget(m.pattern ? patterns : channels, m.channel, m.subscriber)
            if (m.pattern && !patterns.has(m.channel)) matchers.delete(m.channel)
            return same
          case 'publish': {
            const { channel, message } = m
            let receivers = 0
            for (const subscriber of channels.get(channel) ?? []) {
              subscriber.tell({ type: 'published', channel, message, pattern: undefined })
              receivers++
            }
            for (const [pattern, subscribers] of patterns) {
              if (matchers.get(pattern)?.(channel) !== true) continue
              for (const subscriber of subscribers) {
                subscriber.tell({ type: 'published', channel, message, pattern })
                receivers++
              }
            }
            m.from.tell({ type: 'publish-done', receivers })
            return same
          }
        }
      },
      (_ctx, signal) => {
        if (signal.type !== 'Terminated') return same
        const gone = signal.ref as ActorRef<Published>
        for (const all of [channels, patterns]) for (const name of all.keys()) forget(all, name, gone)
        for (const pattern of matchers.keys()) if (!patterns.has(pattern)) matchers.delete(pattern)
        return same
      },
    )
  })
}
