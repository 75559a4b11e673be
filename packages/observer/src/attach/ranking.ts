// The few of many that are worth a line: of those that something happened to in a round, with what they did in a second.

import type { Picture } from '../survey/picture.ts'
import type { Update } from '../source/update.ts'

/** One actor of many, with what it did in a second. */
export interface TopRow {
  readonly uid: number
  readonly path: string
  readonly kind: string
  readonly label: string | undefined
  readonly phase: string
  readonly queued: number
  readonly stashed: number
  /** Messages in a second. */
  readonly rate: number
  /** Milliseconds of a second that its turns took. */
  readonly busy: number
  readonly restarts: number
  /** Milliseconds for which a handler is pending. */
  readonly pending: number | undefined
  readonly thread: number
}

export type RankedBy = 'trouble' | 'queued' | 'busy' | 'rate'

type Draft = Omit<TopRow, 'path' | 'kind' | 'label'>

export class Ranking {
  readonly #before = new Map<number, { processed: number; busy: number; at: number }>()

  #last: readonly Draft[] = []

  /** The first of them, without their names; in a round without a survey those of the last one. */
  first(update: Update, picture: Picture, most: number, by: RankedBy): readonly Draft[] {
    if (update.surveyed === false) return this.#last
    const drafts: Draft[] = []
    const { at } = update
    for (const { rows, gone } of update.parts) {
      for (const uid of gone) this.#before.delete(uid)
      for (const uid of rows.uid) {
        const draft = this.#draft(uid, at, picture)
        if (draft !== undefined) drafts.push(draft)
      }
    }
    return (this.#last = drafts.toSorted((a, b) => weight(b, by) - weight(a, by)).slice(0, most))
  }

  #draft(uid: number, at: number, picture: Picture): Draft | undefined {
    const actor = picture.actor(uid)
    // The top itself handles nothing.
    if (actor === undefined || actor.parent === 0) return undefined
    const { processed, busy } = actor
    const before = this.#before.get(uid)
    if (before?.at === at) return undefined
    this.#before.set(uid, { processed, busy, at })
    const seconds = before === undefined ? 0 : (at - before.at) / 1000
    return {
      uid,
      phase: actor.phase,
      queued: actor.queued,
      stashed: actor.stashed,
      rate: seconds === 0 ? 0 : Math.max(0, processed - before!.processed) / seconds,
      busy: seconds === 0 ? 0 : Math.max(0, busy - before!.busy) / seconds,
      restarts: actor.incarnation,
      pending: actor.pendingSince === undefined ? undefined : at - actor.pendingSince,
      thread: actor.thread,
    }
  }
}

function weight({ queued, busy, rate, pending = 0, phase, stashed }: Draft, by: RankedBy): number {
  if (by === 'queued') return queued
  if (by === 'busy') return busy
  if (by === 'rate') return rate
  return (phase === 'running' ? 0 : 1e9) + queued + stashed + pending / 100 + busy
}
