// One tree of all threads: each is asked what it hosts, and where an actor runs elsewhere, what stands for it here is
// completed by what its thread says.

import type { ActorSnapshot } from '@troupe/core'
import { type Exchange, homeOf } from '@troupe/border'
import type { Thread } from '../pool/thread.ts'
import { Poll } from './poll.ts'

export type Placed = ActorSnapshot & { readonly thread: number }

export class Inspections {
  readonly #exchange: Exchange
  readonly #poll = new Poll<readonly Placed[]>()
  constructor(exchange: Exchange, slotOf: (epoch: number) => number) {
    this.#exchange = exchange
    exchange.on('inspected', ({ id, hosted }, crossing) => {
      const slot = slotOf(crossing.peer)
      this.#poll.answered(
        id,
        crossing.peer,
        hosted.map((snapshot) => placedOn(snapshot, slot)),
      )
    })
  }

  async inspect(own: ActorSnapshot, threads: Iterable<Thread>): Promise<ActorSnapshot> {
    const hosted = await this.hosted(threads)
    return merge(
      homeOf(own.uid) === 0
        ? own
        : (findIn(
            [...hosted.values()].flatMap((s) => s.children),
            own.uid,
          ) ?? own),
      hosted,
    )
  }
  /** What those threads say of the actors that run there for a parent elsewhere, by their numbers. */
  hosted(threads: Iterable<Thread>): Promise<ReadonlyMap<number, Placed>> {
    const awaited = [...threads].filter((t) => t.state === 'up').map((t) => t.epoch)
    return new Promise((resolve) => {
      const id = this.#poll.begin(awaited, (answers) => resolve(new Map([...(answers?.values() ?? [])].flat().map((s) => [s.uid, s]))))
      for (const epoch of awaited) this.#exchange.tell(epoch, { op: 'inspect', id })
    })
  }
  /** A thread is gone: nobody waits for what it has to show. */
  gone(epoch: number): void {
    this.#poll.gone(epoch)
  }

  /** What is waited for, in words. */
  get waits(): readonly string[] {
    return this.#poll.awaited.map((awaited) => `an inspection has no answer yet of ${awaited.join(', ')}`)
  }
}

/** With all below it on the same thread, as far as they do not run elsewhere. */
function placedOn(snapshot: ActorSnapshot, thread: number): Placed {
  return { ...snapshot, thread, children: snapshot.children.map((child) => placedOn(child, thread)) }
}

/** What the thread that spawned it says of an actor: there it stands below one that is hosted. */
function findIn(snapshots: Iterable<ActorSnapshot>, uid: number): ActorSnapshot | undefined {
  for (const snapshot of snapshots) {
    const found = snapshot.uid === uid ? snapshot : findIn(snapshot.children, uid)
    if (found !== undefined) return found
  }
  return undefined
}

function merge(root: ActorSnapshot, hosted: ReadonlyMap<number, Placed>): ActorSnapshot {
  const there = hosted.get(root.uid)
  const children = there === undefined ? root.children : [...root.children, ...there.children]
  const merged = { ...root, children: children.map((child) => merge(child, hosted)) }
  if (there === undefined) return merged
  const { stashed, metrics, thread } = there
  return { ...merged, queued: root.queued + there.queued, stashed, metrics, pending: there.pending ?? root.pending, thread }
}
