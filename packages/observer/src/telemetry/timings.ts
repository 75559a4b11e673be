// How long messages waited and how long they were handled, of those that the observer follows: a few in a hundred thousand, each kind as often as it comes.

import { type Cell, kindOfActor } from '@troupe/core/internal'
import type { SpanListener } from '../sampling/listener.ts'
import type { Span } from '../sampling/span.ts'
import type { Kinds } from './naming.ts'

/** Upper bounds in seconds, from 10 µs to 10 s. */
export const bounds: readonly number[] = [0.00001, 0.000025, 0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10]

export class Timings implements SpanListener {
  readonly #names: Kinds
  readonly #queued: (kind: string, seconds: number) => void
  readonly #handled: (kind: string, seconds: number) => void
  readonly #kinds = new WeakMap<Span, string>()

  constructor(kinds: Kinds, queued: (kind: string, seconds: number) => void, handled: (kind: string, seconds: number) => void) {
    this.#names = kinds
    this.#queued = queued
    this.#handled = handled
  }
  sent(): void {}
  taken(span: Span, cell: Cell): undefined {
    const kind = this.#names.name(kindOfActor(cell))
    this.#kinds.set(span, kind)
    this.#queued(kind, (span.takenAt! - span.sentAt) / 1000)
  }
  done(span: Span): void {
    const kind = this.#kinds.get(span)
    if (kind !== undefined && span.takenAt !== undefined && span.doneAt !== undefined) this.#handled(kind, (span.doneAt - span.takenAt) / 1000)
  }
  answered(): void {}
}
