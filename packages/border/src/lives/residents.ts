// Who is on this thread, as far as others know of it: actors that run here for a parent elsewhere, actors of this thread that
// others hold refs of, what stands here for actors that run elsewhere, and how those ended that have. Nobody else keeps a
// list of them, and each is in at most one list as what it is.

import type { AnyRef } from '@troupe/core'
import type { Cell, EndInfo } from '@troupe/core/internal'
import type { HostedCell } from './hosted.ts'
import type { StubCell } from './stub.ts'

/** Ends that are remembered; the oldest is forgotten first. */
const endsKept = 10_000

interface Ended {
  readonly ref: AnyRef
  readonly end: EndInfo
}

/** By which numbers others know the actors of this place. */
export interface Numbers {
  /** The number of one that others come to know. */
  of(cell: Cell): number
  /** The number it has, if it has one. */
  known(cell: Cell): number | undefined
}

/** Where all places have one sequence of numbers, it is that of the ref. */
export const byUid: Numbers = { of: (cell) => cell.ref.uid, known: (cell) => cell.ref.uid }

export class Residents {
  readonly #numbers: Numbers
  /** How many ran here for a parent elsewhere and have ended. */
  hostedGone = 0
  readonly #hosted = new Map<number, HostedCell>()
  /** Those whose module is being loaded, and what is done when they are told to end meanwhile. */
  readonly #expected = new Map<number, () => void>()
  readonly #stubs = new Map<number, StubCell>()
  readonly #exported = new Map<number, Cell>()
  readonly #ended = new Map<number, Ended>()

  constructor(numbers: Numbers = byUid) {
    this.#numbers = numbers
  }

  // Those that run here for a parent elsewhere.

  /** An actor is about to come: what it is told before is for it. Told to end, it is expected no more, and `stop` is called. */
  expect(uid: number, stop: () => void): void {
    this.#expected.set(uid, stop)
  }
  expectNoMore(uid: number): void {
    this.#expected.delete(uid)
  }
  /** One that has not come yet is told to end. */
  stopExpected(uid: number): void {
    const stop = this.#expected.get(uid)
    this.#expected.delete(uid)
    stop?.()
  }
  host(cell: HostedCell): void {
    this.#hosted.set(cell.ref.uid, cell)
  }
  unhost(uid: number): void {
    this.#hosted.delete(uid)
  }
  hosted(uid: number): HostedCell | undefined {
    return this.#hosted.get(uid)
  }
  get allHosted(): Iterable<HostedCell> {
    return this.#hosted.values()
  }
  get hostedCount(): number {
    return this.#hosted.size
  }

  // What stands here for those that run elsewhere.

  stand(stub: StubCell): void {
    this.#stubs.set(stub.ref.uid, stub)
    this.export(stub)
  }
  stub(uid: number): StubCell | undefined {
    return this.#stubs.get(uid)
  }
  get stubs(): Iterable<StubCell> {
    return this.#stubs.values()
  }

  // Those whom others know.

  export(cell: Cell): void {
    this.#exported.set(this.#numbers.of(cell), cell)
  }
  /** No other place knows an actor any more. */
  unexport(uid: number): void {
    this.#exported.delete(uid)
  }
  /** The number of living actors of this thread that other places know. */
  get exportedCount(): number {
    return this.#exported.size
  }
  isExported(uid: number): boolean {
    return this.#exported.has(uid)
  }
  /** The actor of this thread that others mean by this number. */
  cell(uid: number): Cell | undefined {
    return this.#hosted.get(uid) ?? this.#exported.get(uid)
  }
  /** Its ref, also of one that has ended. */
  ref(uid: number): AnyRef | undefined {
    return this.cell(uid)?.ref ?? this.#ended.get(uid)?.ref
  }
  /** An actor of this thread has ended. */
  left(cell: Cell): void {
    const number = this.#numbers.known(cell)
    if (number === undefined) return
    const known = this.#exported.delete(number)
    if (this.#stubs.delete(number) || known) this.remember(cell)
  }
  /** Keeps how an actor ended, for those who ask later. */
  remember(cell: Cell): void {
    const { reason, cause } = cell.end ?? { reason: 'normal' as const, cause: undefined }
    this.#ended.set(this.#numbers.of(cell), { ref: cell.ref, end: { reason, cause } })
    if (this.#ended.size > endsKept) this.#ended.delete(this.#ended.keys().next().value!)
  }
  ended(uid: number): Ended | undefined {
    return this.#ended.get(uid)
  }
}
