// One database as an actor. It gets the commands of a connection in batches and answers each batch with one text; a
// transaction is a batch that answers as one array. Being an actor is what makes both atomic. A batch whose answers
// grow large is answered in part, so that a client that does not read costs no more than one part.

import { type ActorRef, type Behavior, receive, same, setup } from 'troupe'
import { execute } from './commands/execute.ts'
import { Replies } from './replies.ts'
import { Store } from './store.ts'

/** The answers to the first `done` commands of a batch. */
export interface BatchDone {
  readonly type: 'batch-done'
  readonly text: string
  readonly done: number
}

export type Keyspace =
  | { readonly type: 'batch'; readonly commands: readonly (readonly string[])[]; readonly transaction: boolean; readonly from: ActorRef<BatchDone> }
  | { readonly type: 'flush' }
  | { readonly type: 'size'; readonly replyTo: ActorRef<{ readonly keys: number; readonly expires: number }> }
  | { readonly type: 'sweep' }

const sweepEvery = 100
const sweepLimit = 1000
/** Bytes of answers after which the rest of a batch waits. */
const enough = 256 * 1024

export function keyspace(clock: () => number): Behavior<Keyspace> {
  return setup((ctx) => {
    const store = new Store(clock)
    ctx.timers.every('sweep', sweepEvery, { type: 'sweep' })
    return receive((_ctx, m) => {
      switch (m.type) {
        case 'batch':
          run(store, m)
          return same
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

function run(store: Store, { commands, transaction, from }: Extract<Keyspace, { type: 'batch' }>): void {
  const out = new Replies()
  store.tick()
  if (transaction) out.array(commands.length)
  let done = 0
  try {
    for (const args of commands) {
      execute(store, args, out)
      done++
      if (out.text.length > enough && !transaction) break
    }
  } catch (cause) {
    // A bug in a command fails this actor, and its supervisor resumes it; but who waits must not wait for ever.
    for (; done < commands.length; done++) out.error('ERR internal error')
    from.tell({ type: 'batch-done', text: out.text, done })
    throw cause
  }
  from.tell({ type: 'batch-done', text: out.text, done })
}
