// From what a journal has of an id to what an event-sourced actor is: a snapshot that can be read, or the beginning, and the events after
// it, one by one. Used by recovery, and by whoever compares a snapshot with what it stands for. No actor is needed.

import type { Logger } from '@troupe/core'
import type { Journal } from '../journal/port.ts'
import { decode, encode } from '../values/codec.ts'
import { RecoveryFailed } from '../values/errors.ts'
import type { Head, Snapshot } from '../values/stored.ts'
import { Belongings } from './belongings.ts'
import { applied, type Definition, stateOf } from './definition.ts'
import { isSealed, type Keyring, type OpenedEvent } from './keyring.ts'

/** What it takes to read a snapshot. */
export interface FoldingHost {
  readonly keyring: Keyring
  readonly environment: { readonly logger: Logger }
}

export class Folding {
  readonly #definition: Definition
  readonly #id: string
  state: unknown
  own: Belongings | undefined
  /** The number of the last event that is in it. */
  at = 0
  /** Whose data may be in it. */
  subjects: Set<string> | undefined

  private constructor(definition: Definition, id: string) {
    this.#definition = definition
    this.#id = id
  }

  /** Before the first event. */
  static initial(definition: Definition, id: string, key: string): Folding {
    const folding = new Folding(definition, id)
    try {
      folding.state = stateOf(definition.initial(key), 'initial', definition.kind)
    } catch (cause) {
      throw new RecoveryFailed(id, undefined, 'its initial state could not be made', cause)
    }
    return folding
  }

  /** As far as a snapshot goes that can be used, or before the first event. Fails with `RecoveryFailed`. */
  static async begin(host: FoldingHost, journal: Journal, definition: Definition, key: string, head: Head): Promise<Folding> {
    const { id, deleted } = head
    let older: number | undefined
    for (let snapshot = head.snapshot; snapshot !== undefined; snapshot = await journal.snapshotBefore(id, snapshot.seq)) {
      if (snapshot.seq < deleted || snapshot.seq > head.seq) continue
      const folding = await Folding.restore(host, definition, id, snapshot, deleted > 0)
      if (folding !== undefined) return folding
      if (snapshot.version !== definition.version) older ??= snapshot.version
    }
    // Without its first events a beginning would be invented.
    if (deleted > 0)
      throw new RecoveryFailed(
        id,
        undefined,
        `its events up to ${deleted} were deleted, and no snapshot of version ${definition.version} that stands for them can be read${
          older === undefined
            ? ''
            : older < definition.version
              ? `; there is one of version ${older}: say by upcastState what it is now`
              : `; there is one of version ${older}: deploy that`
        }`,
      )
    return Folding.initial(definition, id, key)
  }

  /** What a snapshot says; undefined where it cannot be used. One of an earlier version is brought up to date where nothing else is left. */
  static async restore(host: FoldingHost, definition: Definition, id: string, snapshot: Snapshot, alone = false): Promise<Folding | undefined> {
    const { version, upcastState } = definition
    const current = snapshot.version === version
    if (!current && (!alone || snapshot.version > version || upcastState === undefined)) return undefined
    const folding = new Folding(definition, id)
    try {
      let text = snapshot.data
      if (isSealed(text)) {
        const opened = await host.keyring.openForAll(text, snapshotPlace(id, snapshot.seq))
        // Somebody whose data is in it was erased: all of it is made of the events that are left.
        if (opened === undefined) return undefined
        text = opened.text
        folding.subjects = new Set(opened.subjects)
      }
      const { state, ...own } = decode(text) as { readonly state: unknown; readonly mail?: unknown; readonly timers?: unknown }
      folding.own = Belongings.from(own)
      folding.state = state
    } catch (cause) {
      host.environment.logger.warn({ id, seq: snapshot.seq, cause }, 'a snapshot cannot be read; an earlier one, or all events, are')
      return undefined
    }
    if (!current) folding.#upcast(snapshot.version)
    folding.at = snapshot.seq
    return folding
  }

  /** Brings a state of an earlier version up to date. Fails with `RecoveryFailed`. */
  #upcast(version: number): void {
    const { kind, upcastState } = this.#definition
    try {
      this.state = stateOf(upcastState!({ version, state: this.state }), 'upcastState', kind)
    } catch (cause) {
      throw new RecoveryFailed(this.#id, undefined, `upcastState from version ${version} failed`, cause)
    }
  }

  fold(first: number, events: readonly OpenedEvent[]): void {
    const [definition, id] = [this.#definition, this.#id]
    if (first !== this.at + 1) throw new RecoveryFailed(id, first, `event ${this.at + 1} is missing`)
    let { state, at } = this
    for (const stored of events) {
      at++
      if (stored.type.startsWith('$')) (this.own ??= new Belongings()).fold(id, at, stored.type, stored.data)
      else state = applied(definition, id, at, state, stored)
      if (stored.subject !== undefined && stored.erased !== true) (this.subjects ??= new Set()).add(stored.subject)
    }
    this.state = state
    this.at = at
  }
}

/** The text of a snapshot. */
export function snapshotText(id: string, state: unknown, own: object): string {
  return encode({ state, ...own }, 'state', id)
}
/** What a sealed snapshot is bound to. */
export function snapshotPlace(id: string, seq: number): string {
  return `${id} snapshot ${seq}`
}
