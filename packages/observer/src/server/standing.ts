// How each actor stands, from round to round: what the survey says, how fast it goes, and the worst that can be said of it. One for all
// streams of a page; kept only while one is open. Only what a round tells of is touched, so that a quiet system costs nothing.

import type { Finding } from '../findings/finding.ts'
import type { Picture, SeenActor } from '../survey/picture.ts'
import type { Update } from '../source/update.ts'
import type { Cells } from '../feed/cells.ts'
import { Ages } from './ages.ts'

export interface Stand {
  seen: SeenActor
  /** Messages in a second, and milliseconds of turns in a second. */
  rate: number
  load: number
  /** Turns in a second, and by how many its mailbox grew in a second. */
  turns: number
  growth: number
  /** An index into `states`. */
  state: number
}

/** A mailbox of so many is behind. */
const behindFrom = 100
const pendingLong = 10_000
const idle = 0
const busy = 1
const behind = 2
const trouble = 3

export class Standing {
  readonly stands: Map<number, Stand> = new Map()
  /** Messages in all mailboxes. */
  queued = 0
  at = 0
  /** The number of the last round that is in it, and what that one changed. */
  seq = 0
  changes: Cells = { whole: false, gone: [], uids: [], state: new Uint8Array(0) }
  readonly ages: Ages = new Ages()
  #stirred = new Set<number>()
  #first = true

  take(update: Update, picture: Picture): void {
    const passed = Math.max(1, update.at - this.at) / 1000
    const first = (this.#first = this.at === 0)
    this.at = update.at
    this.seq = update.seq
    const { told, quiet } = this.#told(update, picture, first)
    const marks = marksOf(update.findings)
    const changed = new Map<number, number>()
    for (const uid of told) this.#tell(uid, picture, passed, marks, changed, !quiet.has(uid))
    for (const uid of this.#stirred) if (!told.has(uid)) this.#rest(uid, marks, changed)
    // A finding colours also those that nothing happened to.
    for (const [uid, mark] of marks) {
      const stand = this.stands.get(uid)
      if (stand !== undefined && stand.state < mark) changed.set(uid, (stand.state = mark))
    }
    for (const uid of marks.keys()) told.add(uid)
    this.#stirred = told
    const gone = this.#forget(update, picture)
    for (const uid of gone) changed.delete(uid)
    const uids = [...changed.keys()].sort(rising)
    this.changes = { whole: false, gone, uids, state: Uint8Array.from(uids, (uid) => changed.get(uid)!) }
  }

  clear(): void {
    this.stands.clear()
    this.ages.clear()
    this.#stirred.clear()
    this.queued = this.at = this.seq = 0
  }

  /** All of them as they are now. */
  whole(): Cells {
    const uids = [...this.stands.keys()].sort(rising)
    return { whole: true, gone: [], uids, state: Uint8Array.from(uids, (uid) => this.stands.get(uid)!.state) }
  }

  /** Whom the round tells of. Whoever is only in a survey of everything need not have done anything. */
  #told({ parts }: Update, picture: Picture, first: boolean): { readonly told: Set<number>; readonly quiet: Set<number> } {
    const told = new Set<number>()
    const quiet = new Set<number>()
    for (const { rows, whole } of parts)
      for (let row = 0; row < rows.length; row++) {
        const uid = rows.uid[row]!
        told.add(uid)
        if (whole && rows.turns[row] === 0) quiet.add(uid)
      }
    // Others have looked before this page did: what it has not heard is in the picture.
    if (first)
      for (const uid of picture.uids)
        if (!told.has(uid)) {
          quiet.add(uid)
          told.add(uid)
        }
    return { told, quiet }
  }

  #tell(uid: number, picture: Picture, passed: number, marks: Marks, changed: Map<number, number>, stirred: boolean): void {
    const known = this.stands.get(uid)
    // Read before it is written over.
    const { queued = 0, processed = 0, busy: worn = 0, turns = 0 } = known?.seen ?? {}
    const seen = picture.actor(uid, known?.seen)
    if (seen === undefined) return
    this.queued += seen.queued - queued
    if (seen.queued > 0 || queued > 0) this.ages.take(seen, this.at, !this.#first)
    const worked = known === undefined ? stirred : seen.turns > turns || seen.processed > processed
    const state = Math.max(stateOf(seen, this.at, worked), marks.get(uid) ?? idle)
    if (known === undefined) this.stands.set(uid, { seen, rate: 0, load: 0, turns: 0, growth: 0, state })
    else {
      known.rate = Math.max(0, seen.processed - processed) / passed
      known.load = Math.max(0, seen.busy - worn) / passed
      known.turns = Math.max(0, seen.turns - turns) / passed
      known.growth = (seen.queued - queued) / passed
    }
    if (known?.state !== state) {
      changed.set(uid, state)
      if (known !== undefined) known.state = state
    }
  }

  /** It had something to do in the last round, and in this one not. */
  #rest(uid: number, marks: Marks, changed: Map<number, number>): void {
    const stand = this.stands.get(uid)
    if (stand === undefined) return
    stand.rate = stand.load = stand.turns = stand.growth = 0
    const state = Math.max(stateOf(stand.seen, this.at, false), marks.get(uid) ?? idle)
    if (state !== stand.state) changed.set(uid, (stand.state = state))
  }

  #forget({ parts }: Update, picture: Picture): number[] {
    const gone: number[] = []
    const drop = (uid: number): void => {
      const stand = this.stands.get(uid)
      if (stand === undefined || picture.has(uid)) return
      this.queued -= stand.seen.queued
      this.stands.delete(uid)
      this.ages.forget(uid)
      gone.push(uid)
    }
    for (const part of parts) for (const uid of part.gone) drop(uid)
    // A thread that ended took its actors along, and nobody says their names.
    if (this.stands.size !== picture.size) for (const uid of this.stands.keys()) drop(uid)
    return gone.sort(rising)
  }
}

type Marks = ReadonlyMap<number, number>

function marksOf(findings: readonly Finding[]): Marks {
  const marks = new Map<number, number>()
  for (const { severity, uids } of findings)
    for (const uid of uids) marks.set(uid, Math.max(marks.get(uid) ?? idle, severity === 'error' ? trouble : behind))
  return marks
}

function stateOf({ phase, queued, pendingSince }: SeenActor, now: number, worked: boolean): number {
  if (phase === 'failed' || phase === 'suspended' || phase === 'restarting') return trouble
  if (queued > behindFrom || (pendingSince !== undefined && now - pendingSince > pendingLong)) return behind
  return worked || pendingSince !== undefined ? busy : idle
}

const rising = (a: number, b: number): number => a - b
