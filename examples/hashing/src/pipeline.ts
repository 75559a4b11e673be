// Deals out files to the hashers, two at a time each, and collects what they find.

import { type ActorRef, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import { type Hash, type Hashed, hasher } from './hasher.ts'

export interface Progress {
  readonly done: number
  readonly of: number
  readonly bytes: number
}

export interface Job {
  readonly paths: readonly string[]
  readonly workers: number
  readonly rounds: number
  onProgress(progress: Progress): void
  onDone(hashes: ReadonlyMap<string, string>, failed: readonly string[]): void
}

type Answer = { readonly type: 'done'; readonly result: Hashed } | { readonly type: 'failed'; readonly path: string; readonly worker: ActorRef<Hash> }
type Pipeline = Answer | { readonly type: 'next'; readonly worker: ActorRef<Hash> }

export function pipeline(job: Job): Behavior<Pipeline> {
  return setup<Pipeline>((ctx) => {
    const waiting = [...job.paths]
    const hashes = new Map<string, string>()
    const failed: string[] = []
    let bytes = 0
    const give = (worker: ActorRef<Hash>): void => {
      const path = waiting.pop()
      if (path === undefined) return
      ctx.pipeToSelf(
        ctx.ask(worker, { type: 'hash', path }, { timeout: 60_000 }),
        (result): Pipeline => {
          ctx.self.tell({ type: 'next', worker })
          return { type: 'done', result }
        },
        (): Pipeline => ({ type: 'failed', path, worker }),
      )
    }
    const check = (): Behavior<Pipeline> => {
      job.onProgress({ done: hashes.size + failed.length, of: job.paths.length, bytes })
      if (hashes.size + failed.length < job.paths.length) return same
      job.onDone(hashes, failed)
      return stopped
    }
    for (let i = 0; i < job.workers; i++) {
      const worker = ctx.spawn(hasher(job.rounds), { name: `hasher-${i}`, dispatcher: 'parallel', placement: 'round-robin', supervision: 'resume' })
      give(worker)
      give(worker)
    }
    if (job.paths.length === 0) job.onDone(hashes, failed)
    return receive<Pipeline>((_ctx, m) => {
      switch (m.type) {
        case 'next':
          give(m.worker)
          return same
        case 'done':
          hashes.set(m.result.path, m.result.hash)
          bytes += m.result.bytes
          return check()
        case 'failed':
          // Unreadable, or lost with its thread: the file is given up, the worker goes on.
          failed.push(m.path)
          give(m.worker)
          return check()
      }
    })
  })
}
