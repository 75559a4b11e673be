// An actor that rings the bell of another thread and is gone before the wake: what a thread that is killed at the wrong
// moment does, at will.

import { workerData } from 'node:worker_threads'
import { type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Ringer =
  | { readonly type: 'bell'; readonly replyTo: ActorRef<SharedArrayBuffer> }
  | { readonly type: 'ring-and-die'; readonly bell: SharedArrayBuffer | undefined }

interface WithBell {
  readonly bell: SharedArrayBuffer
}
const data = workerData as { readonly berth: WithBell; readonly main: { readonly line: WithBell } }

export const ringer: ActorDefinition<[], Ringer> = defineActor(import.meta.url, 'ringer', () =>
  receive<Ringer>((_ctx, m) => {
    if (m.type === 'bell') {
      m.replyTo.tell(data.berth.bell)
      return same
    }
    const bell = new Int32Array(m.bell ?? data.main.line.bell)
    // Once it sleeps. What this thread has to say has gone by then, so that nothing else wakes it.
    const ring = (): void => {
      if (Atomics.compareExchange(bell, 0, 1, 0) === 1) process.exit(5)
      setImmediate(ring)
    }
    setTimeout(ring, 50)
    return same
  }),
)
