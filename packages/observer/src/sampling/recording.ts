// What happened to one actor, as it was when it happened: messages, signals, answers and phases, copied, because handlers may change what they
// were given. Knows whether it has all of it from the actor's first message on, or since its last restart, and says so.

import type { FlightEntry, FlightLog, FlightNote } from '@troupe/core'
import { type Cell, pathOf, recordCell } from '@troupe/core/internal'

/** One thing that happened. What could not be copied is left out, and `copied` is false. */
export interface Recorded {
  readonly what: 'message' | 'signal' | 'answer' | 'phase'
  /** Milliseconds of the system's clock. */
  readonly at: number
  /** The type of a message or signal, the path of who answered, or the phase it went to. */
  readonly type: string
  readonly sender: string | undefined
  /** Of an answer: whether it is one, and not why there is none. */
  readonly ok: boolean
  readonly value: unknown
  readonly copied: boolean
}

/** What one incarnation was given, as far as it was recorded. */
export interface Chapter {
  readonly recorded: readonly Recorded[]
  /** Whether that is all of it. */
  readonly complete: boolean
}

/** What happens to one actor while it is recorded. */
export class Recording implements FlightLog {
  readonly #capacity: number
  #entries: Recorded[] = []
  #before: Chapter | undefined
  readonly #stop: () => void
  #lost = 0
  /** Whether nothing had happened to the incarnation that is recorded when it began. */
  #fromStart: boolean

  constructor(cell: Cell, capacity: number) {
    this.#capacity = capacity
    this.#fromStart = cell.phase === 'created'
    this.#stop = recordCell(cell, this)
  }

  /** Whether all that the present incarnation was given is in it. */
  get complete(): boolean {
    return this.#fromStart && this.#lost === 0
  }
  /** How many were left out, the oldest first. */
  get lost(): number {
    return this.#lost
  }
  get recorded(): readonly Recorded[] {
    return this.#entries
  }
  /** What the incarnation before was given, up to its end: why it failed is in there. Undefined where none has ended while it was recorded. */
  get before(): Chapter | undefined {
    return this.#before
  }
  stop(): void {
    this.#stop()
  }

  /** For the log of a failure; what is copied is for others. */
  entries(): readonly FlightEntry[] {
    return []
  }
  add(entry: FlightEntry): void {
    if (entry.what === 'phase') {
      // A new incarnation begins with nothing of the last: from here on all of it is known.
      if (entry.to === 'starting') {
        if (this.#entries.length > 0) this.#before = { recorded: this.#entries, complete: this.complete }
        this.#entries = []
        this.#lost = 0
        this.#fromStart = true
      }
      this.#put({ what: 'phase', at: entry.at, type: entry.to, sender: undefined, ok: true, value: undefined, copied: true })
    } else {
      const sender = entry.sender === undefined ? undefined : pathOf(entry.sender)
      this.#put({ what: 'message', at: entry.at, type: entry.type, sender, ok: true, ...copyOf(entry.message) })
    }
  }
  note(note: FlightNote): void {
    if (note.what === 'signal') this.#put({ what: 'signal', at: note.at, type: note.type, sender: undefined, ok: true, ...copyOf(note.signal) })
    else this.#put({ what: 'answer', at: note.at, type: pathOf(note.of), sender: undefined, ok: note.ok, ...copyOf(note.value) })
  }
  #put(entry: Recorded): void {
    if (this.#entries.length >= this.#capacity) {
      this.#entries.shift()
      this.#lost++
    }
    this.#entries.push(entry)
  }
}

/** As it is now. Refs, functions and whatever else cannot be copied make it nothing, and that is said. */
function copyOf(value: unknown): { readonly value: unknown; readonly copied: boolean } {
  try {
    return { value: structuredClone(value), copied: true }
  } catch {
    return { value: undefined, copied: false }
  }
}
