// Who goes where: picks a thread of the pool for an actor, or starts one of its own, and lets actors wait while the place
// they want has no thread.

import { ThreadLost } from '../errors.ts'
import type { PlacementRequest } from '@troupe/border'
import { choose, type ThreadLoad } from './placement.ts'
import type { Replacements } from './replacements.ts'
import type { Thread } from './thread.ts'

interface Pool {
  /** Threads of the pool, by place; undefined where one was lost and not replaced yet. */
  readonly slots: readonly (Thread | undefined)[]
  readonly closing: boolean
  has(thread: Thread): boolean
  /** Starts a thread for one actor. */
  startPinned(slot: number): Thread
  readonly threads: Iterable<Thread>
  tasksOn(thread: Thread): number
}

export class Places {
  readonly #pool: Pool
  readonly #replacements: Replacements
  /** Threads of one actor, by its uid. */
  readonly #pinned = new Map<number, Thread>()
  /** Their numbers, kept while the actor lives. */
  readonly #numbers = new Map<number, number>()
  #placed = 0
  #waiting: (() => void)[] = []
  constructor(pool: Pool, replacements: Replacements) {
    this.#pool = pool
    this.#replacements = replacements
  }

  async place(request: PlacementRequest, uid: number): Promise<number> {
    if (request.dispatcher === 'pinned') return this.#own(uid)
    const { slots } = this.#pool
    for (;;) {
      const threads = slots.filter((t) => t !== undefined)
      if (threads.length === slots.length || (threads.length > 0 && typeof request.rule === 'string')) {
        const { epoch } = choose(
          request.rule,
          threads.map((t) => this.#loadOf(t)),
          this.#placed++,
        )
        threads.find((t) => t.epoch === epoch)!.placed++
        return epoch
      }
      this.#refuseIfClosing()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }
  async #own(uid: number): Promise<number> {
    const known = this.#pinned.get(uid)
    if (known !== undefined && this.#pool.has(known)) return known.epoch
    await this.#replacements.ready(placeOf(uid))
    this.#refuseIfClosing()
    const thread = this.#pool.startPinned(this.#numberFor(uid))
    this.#pinned.set(uid, thread)
    return thread.epoch
  }
  /** The lowest that is free. */
  #numberFor(uid: number): number {
    let number = this.#numbers.get(uid)
    if (number !== undefined) return number
    const taken = new Set([...this.#numbers.values(), ...Array.from(this.#pool.threads, (t) => t.slot)])
    for (number = this.#pool.slots.length; taken.has(number);) number++
    this.#numbers.set(uid, number)
    return number
  }
  #refuseIfClosing(): void {
    if (this.#pool.closing) throw new ThreadLost(-1, 'terminated', 'the system is closing')
  }
  #loadOf(thread: Thread): ThreadLoad {
    const { queued, busy, actors } = thread.signs.lastVitals
    const { beats } = thread.signs
    // What a thread says of itself is as old as its last beat: those who came since are counted here.
    if (beats !== thread.placedAt) {
      thread.placedAt = beats
      thread.placed = 0
    }
    return { epoch: thread.epoch, slot: thread.slot, actors: actors + thread.placed, queued: queued + this.#pool.tasksOn(thread), busy }
  }

  /** A place has its thread, or never will. */
  changed(): void {
    for (const look of this.#waiting.splice(0)) look()
  }
  /** A thread of one actor is gone for cause: the next is started later while that goes on. */
  lostPinned(thread: Thread): void {
    for (const [uid, own] of this.#pinned) if (own === thread) this.#replacements.lost(placeOf(uid))
  }
  /** The thread of an actor that needs it no more. */
  unpin(uid: number): Thread | undefined {
    if (this.#pinned.size === 0) return undefined
    const own = this.#pinned.get(uid)
    this.#pinned.delete(uid)
    this.#numbers.delete(uid)
    return own
  }

  /** What is waited for, in words. */
  get waits(): readonly string[] {
    return this.#waiting.length === 0 ? [] : [`${this.#waiting.length} actors want a place`]
  }
}

/** Threads of one actor have places of their own, so that one that dies again and again delays nobody else. */
function placeOf(uid: number): number {
  return -1 - uid
}
