// The work: a file is read and hashed over and over. Lives on a thread of the pool; knows nothing of it.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type ActorRef, receive, same } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export interface Hashed {
  readonly type: 'hashed'
  readonly path: string
  readonly bytes: number
  readonly hash: string
}
export interface Hash {
  readonly type: 'hash'
  readonly path: string
  readonly replyTo: ActorRef<Hashed>
}

export const hasher: ActorDefinition<[rounds: number], Hash> = defineActor(import.meta.url, 'hasher', (rounds: number) =>
  receive<Hash>(async (_ctx, m) => {
    const content = await readFile(m.path)
    let hash = createHash('sha256').update(content).digest()
    for (let i = 1; i < rounds; i++) hash = createHash('sha256').update(hash).update(content).digest()
    m.replyTo.tell({ type: 'hashed', path: m.path, bytes: content.length, hash: hash.toString('hex') })
    return same
  }),
)
