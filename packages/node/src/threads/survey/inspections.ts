// One tree of all threads: each is asked what it hosts, and where an actor runs elsewhere, what stands for it here is
// completed by what its thread says.

import type { ActorSnapshot } from '@troupe/core'
import { type Exchange, homeOf } from '@troupe/border'
import type { Thread } from '../pool/thread.ts'

type Placed = ActorSnapshot & { readonly thread: number }

interface Inspection {
  readonly awaited: Set<number>
  readonly hosted: Map<number, Placed>
  resolve(): void
}

export class Inspections {
  readonly #exchange: Exchange
  readonly #open = new Map<number, Inspection>()
  #next = 0
  constructor(exchange: Exchange, slotOf: (epoch: number) => number) {
    this.#exchange = exchange
    exchange.on('inspected', ({ id, hosted }, channel) => {
      const inspection = this.#open.get(id)
      if (inspection === undefined) return
      for (const snapshot of hosted) inspection.hosted.set(snapshot.uid, placedOn(snapshot, slotOf(channel.peer)))
      this.#answered(inspection, channel.peer)
    })
  }

  async inspect(own: ActorSnapshot, threads: Iterable<Thread>): Promise<ActorSnapshot> {
    const id = ++this.#next
    const hosted = new Map<number, Placed>()
    const awaited = new Set([...threads].filter((t) => t.state === 'up').map((t) => t.epoch))
    if (awaited.size > 0) {
      await new Promise<void>((resolve) => {
        this.#open.set(id, { awaited, hosted, resolve })
        for (const epoch of awaited) this.#exchange.tell(epoch, { op: 'inspect', id })
      })
      this.#open.delete(id)
    }
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
  /** A thread is gone: nobody waits for what it has to show. */
  gone(epoch: number): void {
    for (const inspection of this.#open.values()) this.#answered(inspection, epoch)
  }
  #answered(inspection: Inspection, epoch: number): void {
    if (inspection.awaited.delete(epoch) && inspection.awaited.size === 0) inspection.resolve()
  }

  /** What is waited for, in words. */
  get waits(): readonly string[] {
    return Array.from(this.#open.values(), ({ awaited }) => `an inspection has no answer yet of ${[...awaited].join(', ')}`)
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
