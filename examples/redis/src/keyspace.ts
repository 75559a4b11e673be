// One database as an actor. It gets the commands of a connection in batches and answers each batch with one text; a
// transaction is a batch that answers as one array. Being an actor is what makes both atomic. A batch that is long, or
// whose answers are, is answered in part, so that a client that does not read costs no more than one part.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import { find, run } from './commands/execute.ts'
import { Replies } from './replies.ts'
import { Store } from './store.ts'

/** The answers to the first `done` commands of a batch: all of them, or those up to one that is not for a keyspace. */
export interface BatchDone {
  readonly type: 'batch-done'
  readonly text: string
  readonly done: number
}

/** Commands from `first` on, which from then on nobody changes. */
export interface Batch {
  readonly type: 'batch'
  readonly commands: readonly (readonly string[])[]
  readonly first: number
  readonly transaction: boolean
  readonly from: ActorRef<BatchDone>
}

export type Keyspace =
  | Batch
  | { readonly type: 'flush' }
  | { readonly type: 'size'; readonly replyTo: ActorRef<{ readonly keys: number; readonly expires: number }> }
  | { readonly type: 'sweep' }

const sweepEvery = 100
const sweepLimit = 1000
/** Bytes of answers after which the rest of a batch waits. */
const enough = 256 * 1024
/** Commands after which others have their turn. */
const longest = 64

export function keyspace(clock: () => number, longestReply: number): Behavior<Keyspace> {
  return setup((ctx) => {
    const store = new Store(clock)
    ctx.timers.every('sweep', sweepEvery, { type: 'sweep' })
    return receive((_ctx, m) => {
      switch (m.type) {
        case 'batch':
          answer(store, m, longestReply)
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

function answer(store: Store, { commands, first, transaction, from }: Batch, longestReply: number): void {
  const out = new Replies(longestReply)
  store.tick()
  if (transaction) out.array(commands.length)
  const last = transaction ? commands.length : Math.min(commands.length, first + longest)
  let at = first
  try {
    while (at < last) {
      const args = commands[at]!
      const found = find(args[0]!)
      if (found === undefined) break
      run(found, store, args, out)
      at++
      if (out.text.length > enough && !transaction) break
    }
  } catch (cause) {
    // A bug in a command fails this actor, and its supervisor resumes it; but who waits must not wait for ever.
    for (; at < last; at++) out.error('ERR internal error')
    from.tell({ type: 'batch-done', text: out.text, done: at - first })
    throw cause
  }
  from.tell({ type: 'batch-done', text: out.text, done: at - first })
}
