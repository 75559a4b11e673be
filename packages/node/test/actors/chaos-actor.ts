// The actors of the chaos run: each checks the order of what it gets, passes some on to a neighbour on whatever thread,
// and takes its thread down in several ways when told to.

import { type ActorRef, receive, same, setup } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Chaos =
  | { readonly type: 'work'; readonly seq: number; readonly from: number; readonly next: ActorRef<Chaos> | undefined }
  | { readonly type: 'ping'; readonly replyTo: ActorRef<number> }
  | { readonly type: 'exit' }
  | { readonly type: 'throw' }
  | { readonly type: 'spin' }
  | { readonly type: 'fail' }

export const chaosActor: ActorDefinition<[me: number, complain: ActorRef<string>], Chaos> = defineActor(
  import.meta.url,
  'chaosActor',
  (me: number, complain: ActorRef<string>) =>
    setup<Chaos>((ctx) => {
      const seen = new Map<number, number>()
      return receive<Chaos>((_ctx, m) => {
        switch (m.type) {
          case 'work': {
            const last = seen.get(m.from) ?? -1
            if (m.seq <= last) complain.tell(`actor ${me} got ${m.seq} of ${m.from} after ${last}`)
            seen.set(m.from, m.seq)
            m.next?.tell({ type: 'work', seq: m.seq, from: me + 1_000_000, next: undefined })
            return same
          }
          case 'ping':
            m.replyTo.tell(ctx.incarnation)
            return same
          case 'exit':
            return process.exit(7)
          case 'throw':
            setTimeout(() => {
              throw new Error('chaos')
            })
            return same
          case 'spin':
            for (;;) continue
          case 'fail':
            throw new Error('chaos of one')
        }
      })
    }),
)
