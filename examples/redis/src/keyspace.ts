// One database as an actor. It gets the commands of a connection in batches, as they came out of one chunk, and answers
// each batch with one text; a transaction is a batch that answers as one array. Being an actor is what makes both
// atomic.

import { type ActorRef, type Behavior, receive, same, setup } from 'troupe'
import { execute } from './commands/execute.ts'
import { Replies } from './replies.ts'
import { Store } from './store.ts'

/** The answer to a batch; batches of one connection are answered in order. */
export interface BatchDone {
  readonly type: 'batch-done'
  readonly text: string
}

export type Keyspace =
  | { readonly type: 'batch'; readonly commands: readonly (readonly string[])[]; readonly transaction: boolean; readonly from: ActorRef<BatchDone> }
  | { readonly type: 'flush' }
  | { readonly type: 'size'; readonly replyTo: ActorRef<{ readonly keys: number; readonly expires: number }> }
  | { readonly type: 'sweep' }

const sweepEvery = 100
const sweepLimit = 1000

export function keyspace(clock: () => number): Behavior<Keyspace> {
  return setup((ctx) => {
    const store = new Store(clock)
    ctx.timers.every('sweep', sweepEvery, { type: 'sweep' })
    return receive((_ctx, m) => {
      switch (m.type) {
        case 'batch': {
          const out = new Replies()
          store.tick()
          if (m.transaction) out.array(m.commands.length)
          let done = 0
          try {
            for (const args of m.commands) {
              execute(store, args, out)
              done++
            }
          } finally {
            // A bug in a command fails this actor, and its supervisor resumes it; but who waits must not wait for ever.
            for (; done < m.commands.length; done++) out.error('ERR internal error')
            m.from.tell({ type: 'batch-done', text: out.text })
          }
          return same
        }
        case 'flush':
          store.clear()
          return same
        case 'size':
          m.replyTo.tell({ keys: store.size, expires: store.expiring })
          return same
        case 'sweep':
          store.sweep(sweepLimit)
          return same
      }
    })
  })
}
