// Actors whose options hold functions, or change how they run, for the tests of threads.

import { type ActorRef, type MessageSchema, type Middleware, receive, same, setup, swallow } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Optioned =
  | { readonly type: 'hold'; readonly replyTo: ActorRef<string> }
  | { readonly type: 'release'; readonly replyTo: ActorRef<string> }
  | { readonly type: 'number'; readonly n: number; readonly replyTo: ActorRef<number> }
  | { readonly type: 'fail' }
  | { readonly type: 'secret' }

/** Two kinds of asks: one is answered when the other has come. */
export const reentrantActor: ActorDefinition<[], Optioned> = defineActor(
  import.meta.url,
  'reentrantActor',
  () =>
    setup<Optioned>(() => {
      let release = (): void => {}
      return receive<Optioned>((_ctx, m) => {
        if (m.type === 'hold') {
          const held = new Promise<void>((resolve) => (release = resolve))
          return held.then(() => {
            m.replyTo.tell('released')
            return same
          })
        }
        if (m.type === 'release') {
          release()
          m.replyTo.tell('done')
        }
        return same
      })
    }),
  { reentrant: true },
)

const positive: MessageSchema<Optioned> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const { n } = value as { readonly n?: number }
      return typeof n === 'number' && n > 0 ? { value: value as Optioned } : { issues: [{ message: 'not above 0' }] }
    },
  },
}

export const choosy: ActorDefinition<[], Optioned> = defineActor(
  import.meta.url,
  'choosy',
  () =>
    receive<Optioned>((_ctx, m) => {
      if (m.type === 'number') m.replyTo.tell(m.n)
      return same
    }),
  { accepts: positive },
)

/** What a link has seen is told to whoever was named. */
export const watched: ActorDefinition<[report: ActorRef<string>], Optioned> = defineActor(
  import.meta.url,
  'watched',
  (report: ActorRef<string>) => {
    seen = report
    return receive<Optioned>((_ctx, m) => {
      if (m.type === 'fail') throw new Error('as told')
      if (m.type === 'number') m.replyTo.tell(m.n)
      return same
    })
  },
  { middleware: [link()] },
)

let seen: ActorRef<string> | undefined

function link(): Middleware {
  return {
    name: 'link',
    before: (message) => {
      const m = message as Optioned
      if (m.type === 'secret') return swallow
      return m.type === 'number' ? { ...m, n: m.n * 2 } : m
    },
    after: (message) => seen?.tell(`after ${(message as Optioned).type}`),
    error: (cause) => seen?.tell(`error ${(cause as Error).message}`),
    close: () => seen?.tell('close'),
  }
}
