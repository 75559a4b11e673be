// Brings actors to where they stood: many at a time, in few reads, within permits, so that a million that start together neither
// storm the journal nor time out while they wait. An actor's start ends when no progress was made for long; waiting for a permit is
// no part of that. Nothing is read while a write of that id is under way, or an epoch is being raised.

import { budgets } from '@troupe/core/internal'
import { RecoveryFailed, RecoveryStalled } from '../values/errors.ts'
import type { Head, Replayed } from '../values/stored.ts'
import type { Journal } from '../journal/port.ts'
import type { Tally } from '../journal/tally.ts'
import type { Gated } from './gated.ts'
import type { Keyring } from './keyring.ts'

/** How many ids one read asks for. */
const idsPerRead = 256
/** How many events are folded at a time. */
const eventsPerStep = 1000
/** How long the loop may be held, in milliseconds. */
const slice = 5

/** What recovery asks of whoever has the journal. */
export interface RecoveryHost {
  /** The journal, once it may be read. */
  readable(): Promise<Journal>
  readonly keyring: Keyring
  /** Milliseconds without progress that end a recovery. */
  readonly timeout: number
  /** How many reads may be under way. */
  readonly permits: number
  /** Monotonic milliseconds. */
  ticks(): number
  readonly tally: Tally
  after(ms: number, task: () => void): () => void
  /** Lets the host serve its events. */
  breathe(): Promise<void>
}

interface Waiting {
  readonly actor: Gated
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
  settled: boolean
}

/** An actor whose events are being read. */
interface Replaying {
  readonly waiting: Waiting
  readonly head: Head
  /** The number of the last event that was folded. */
  at: number
}

export class Recovery {
  readonly #host: RecoveryHost
  #queue: Waiting[] = []
  #reads = 0
  #planned = false
  #breathed = 0

  constructor(host: RecoveryHost) {
    this.#host = host
    budgets.onOwner?.('permits of recovery', () => this.#reads)
  }

  /** How many wait for a permit, and how many reads are under way. */
  get standing(): { readonly waiting: number; readonly reading: number } {
    return { waiting: this.#queue.length, reading: this.#reads }
  }

  /** Resolves when memory is what the journal has. */
  recover(actor: Gated): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { actor, resolve, reject, settled: false }
      this.#queue.push(waiting)
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#planned) return
    this.#planned = true
    // Those that start in the same turn are read together.
    void Promise.resolve().then(() => {
      this.#planned = false
      while (this.#reads < this.#host.permits && this.#queue.length > 0) {
        // Who was stopped while it waited is not read for.
        const batch = this.#queue.splice(0, idsPerRead).filter((waiting) => wanted(waiting))
        if (batch.length === 0) continue
        this.#reads++
        void this.#read(batch).finally(() => {
          this.#reads--
          this.#plan()
        })
      }
    })
  }

  async #read(batch: readonly Waiting[]): Promise<void> {
    try {
      const journal = await this.#host.readable()
      const heads = await this.#bounded(batch, journal.heads(batch.map(({ actor }) => actor.id)))
      const byId = new Map<string, Replaying>()
      for (const [i, waiting] of batch.entries()) {
        const head = heads[i]!
        try {
          if (head.damage !== undefined) throw head.damage
          const after = await this.#bounded(batch, waiting.actor.begin(head))
          if (after === undefined || after >= head.seq) finish(waiting, head)
          else byId.set(head.id, { waiting, head, at: after })
        } catch (cause) {
          if (cause instanceof RecoveryStalled) throw cause
          settle(waiting, cause)
        }
      }
      if (byId.size > 0) await this.#replay(journal, batch, byId)
      for (const { waiting, head } of byId.values()) finish(waiting, head)
    } catch (cause) {
      for (const waiting of batch)
        settle(waiting, cause instanceof RecoveryStalled ? new RecoveryStalled(waiting.actor.id, this.#host.timeout) : cause)
    }
  }

  /** Those with few events first, and each starts with its last event: no small actor waits for a large one of its batch. */
  async #replay(journal: Journal, batch: readonly Waiting[], byId: ReadonlyMap<string, Replaying>): Promise<void> {
    const smallestFirst = [...byId.values()].sort((a, b) => a.head.seq - a.at - (b.head.seq - b.at))
    const from = smallestFirst.map(({ head: { id }, at }) => ({ id, after: at }))
    const parts = journal.replay(from, eventsPerStep)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await this.#bounded(batch, parts.next())
        if (done === true) return
        const replaying = byId.get(value.id)!
        const { waiting, head } = replaying
        if (!waiting.settled) await this.#fold(batch, waiting, value)
        if ('events' in value && (replaying.at += value.events.length) >= head.seq) finish(waiting, head)
        if (this.#host.ticks() - this.#breathed > slice) {
          await this.#host.breathe()
          this.#breathed = this.#host.ticks()
        }
      }
    } catch (cause) {
      // Not waited for: it is what does not answer.
      void parts.return?.().then(undefined, () => undefined)
      throw cause
    }
  }

  async #fold(batch: readonly Waiting[], waiting: Waiting, part: Replayed): Promise<void> {
    try {
      if ('damage' in part) throw part.damage
      const { id, first, events } = part
      // Few have subjects; for the others nothing is waited for.
      const sealed = events.some(({ subject }) => subject !== undefined)
      waiting.actor.fold(first, sealed ? await this.#bounded(batch, this.#host.keyring.openEvents(id, first, events)) : events)
    } catch (cause) {
      if (cause instanceof RecoveryStalled) throw cause
      settle(waiting, cause)
    }
  }

  /** What the journal promised, unless it keeps us waiting for too long. */
  #bounded<T>(batch: readonly Waiting[], promise: Promise<T>): Promise<T> {
    const { timeout } = this.#host
    return new Promise((resolve, reject) => {
      const cancel = this.#host.after(timeout, () => reject(new RecoveryStalled(batch[0]!.actor.id, timeout)))
      promise.then(resolve, reject).finally(cancel)
    })
  }
}

/** Whether an actor is still there, or was stopped while it waited. */
export function isWanted({ cell: { phase }, finishing }: Gated): boolean {
  return phase === 'starting' || phase === 'running' || phase === 'suspended' || finishing
}

/** The same; one that is not is told that it is too late. */
function wanted(waiting: Waiting): boolean {
  if (isWanted(waiting.actor)) return true
  settle(waiting, new RecoveryFailed(waiting.actor.id, undefined, 'the actor was stopped while it waited'))
  return false
}

function finish(waiting: Waiting, head: Head): void {
  if (waiting.settled) return
  try {
    waiting.actor.complete(head)
    settle(waiting, undefined)
  } catch (cause) {
    settle(waiting, cause)
  }
}

function settle(waiting: Waiting, cause: unknown): void {
  if (waiting.settled) return
  waiting.settled = true
  if (cause === undefined) waiting.resolve()
  else waiting.reject(cause)
}

/** Whether trying again could help. */
export function isPermanent(cause: unknown): boolean {
  let code: unknown
  try {
    code = (cause as { readonly code?: unknown } | null | undefined)?.code
  } catch {
    // A getter that throws says nothing.
  }
  return (
    cause instanceof RecoveryFailed ||
    code === 'journal-damaged' ||
    code === 'journal-refused' ||
    code === 'id-in-use' ||
    code === 'fence-lost' ||
    code === 'persist-fenced'
  )
}
