// What happened to one actor in the incarnation that it is in: messages, signals and answers as they were when they came, and what it read of the clock.
// Closed when it fails.

import type { FlightEntry, FlightLog, FlightNote } from '@troupe/core'
import { type Cell, kindOfActor, pathOf } from '@troupe/core/internal'
import type { CapsuleEntry } from './capsule.ts'
import { keep, type Kept } from './values.ts'

interface Line {
  readonly what: CapsuleEntry['what']
  readonly at: number
  readonly type: string
  readonly sender: string | undefined
  readonly ok: boolean
  readonly text: string
}

/** An incarnation that failed. */
export interface Chapter {
  readonly lines: readonly Line[]
  readonly lost: number
  readonly missing: readonly string[]
  readonly now: readonly number[]
  readonly random: readonly number[]
  readonly incarnation: number
  readonly kind: string
  /** When it failed, by the clock of its thread. */
  readonly at: number
}

/** Sees what is kept, before it is. */
export type Redact = (value: unknown, type: string) => unknown

/** One actor. */
export class CapsuleLog implements FlightLog {
  readonly #cell: Cell
  readonly #capacity: number
  readonly #redact: Redact
  readonly #seal: (chapter: Chapter) => void
  #lines: Line[] = []
  #reads: Record<'now' | 'random', number[]> = { now: [], random: [] }
  #missing = new Set<string>()
  #lost = 0

  constructor(cell: Cell, capacity: number, redact: Redact, seal: (chapter: Chapter) => void) {
    this.#cell = cell
    this.#capacity = capacity
    this.#redact = redact
    this.#seal = seal
  }

  read(what: 'now' | 'random', value: number): void {
    if (this.#reads[what].length < this.#capacity) this.#reads[what].push(value)
    else this.#missing.add(`what it read of the clock after the first ${this.#capacity} times`)
  }
  /** For the log of a failure; what is kept is for a capsule. */
  entries(): readonly FlightEntry[] {
    return []
  }
  add(entry: FlightEntry): void {
    if (entry.what === 'message') {
      const sender = entry.sender === undefined ? undefined : pathOf(entry.sender)
      this.#put({ what: 'message', at: entry.at, type: entry.type, sender, ok: true }, entry.message)
    } else if (entry.to === 'starting') {
      // A new incarnation begins with nothing of the last.
      this.#lines = []
      this.#reads = { now: [], random: [] }
      this.#missing = new Set()
      this.#lost = 0
      if (entry.from !== 'created' && this.#cell.extras?.handedOver !== undefined) this.#missing.add('what the incarnation before handed over')
    } else if (entry.to === 'failed') this.#seal(this.#chapter())
  }
  note(note: FlightNote): void {
    if (note.what === 'answer') this.#put({ what: 'answer', at: note.at, type: pathOf(note.of), sender: undefined, ok: note.ok }, note.value)
    else {
      if (note.type === 'ChildFailed' || note.type === 'ChildStopped')
        this.#missing.add('what happened to its children, which begin anew in the replay')
      this.#put({ what: 'signal', at: note.at, type: note.type, sender: undefined, ok: true }, note.signal)
    }
  }

  #put(line: Omit<Line, 'text'>, value: unknown): void {
    const kept: Kept = keep(this.#redacted(value, line.type))
    for (const missing of kept.missing) this.#missing.add(missing)
    if (this.#lines.length >= this.#capacity) {
      this.#lines.shift()
      this.#lost++
    }
    this.#lines.push({ ...line, text: kept.text })
  }
  #redacted(value: unknown, type: string): unknown {
    try {
      const redacted = this.#redact(value, type)
      if (redacted !== value) this.#missing.add(`what was taken out of ${type}`)
      return redacted
    } catch {
      this.#missing.add(`${type}, because redact failed`)
      return undefined
    }
  }
  #chapter(): Chapter {
    return {
      lines: this.#lines,
      lost: this.#lost,
      missing: [...this.#missing],
      ...this.#reads,
      incarnation: this.#cell.extras?.incarnation ?? 0,
      kind: kindOfActor(this.#cell),
      at: this.#cell.host.runtime.now(),
    }
  }
}
