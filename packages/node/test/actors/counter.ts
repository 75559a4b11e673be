// Actors for the tests of threads: built, so that threads of any Node can load them.

import { threadId } from 'node:worker_threads'
import { type ActorRef, receive, same, setup } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Counter =
  | { type: 'add'; by: number }
  | { type: 'get'; replyTo: ActorRef<number> }
  | { type: 'where'; replyTo: ActorRef<number> }
  | { type: 'fail'; why: string }

export const counter: ActorDefinition<[start?: number], Counter> = defineActor(import.meta.url, 'counter', (start: number = 0) =>
  setup<Counter>(() => {
    let n = start
    return receive<Counter>((_ctx, m) => {
      switch (m.type) {
        case 'add':
          n += m.by
          return same
        case 'get':
          m.replyTo.tell(n)
          return same
        case 'where':
          m.replyTo.tell(threadId)
          return same
        case 'fail':
          throw new Error(m.why)
      }
    })
  }),
)
