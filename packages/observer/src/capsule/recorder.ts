// Records every actor of a thread from its birth, so that what led to a failure can be written into a capsule: messages, signals and answers as they
// were when they came, and what the actor read of the system's clock. Of each path the last failure is kept, also when the actor has ended.
// The threads of a system have one each, made anew there of what this one says about itself.

import { type Clock, type FlightLog, type FlightRecorder, type FlightSubject, InvalidOption } from '@troupe/core'
import {
  type Cell,
  cellOf,
  checkFunction,
  checkObject,
  checkWhole,
  infoIn,
  ownFlightOf,
  pathOf,
  readOptions,
  type SystemCore,
} from '@troupe/core/internal'
import { CapsuleLog, type Chapter, type Redact } from './log.ts'
import { capsuleFrom, type Code, codeOf, type Sealed } from './sealed.ts'

/** What of each actor is kept. */
export interface CapsuleRecorderOptions {
  /** Messages, signals and answers of each actor; 1,000 if left out. */
  readonly capacity?: number | undefined
  /** Sees every message, signal and answer before it is kept: what it returns is kept in its place. For what must not be written down. */
  readonly redact?: ((value: unknown, type: string) => unknown) | undefined
  /** The module that exports `redact`, and under which name: threads load it from there. Where there is a `redact` and not this, actors on threads are not recorded. */
  readonly redactAt?: { readonly url: string; readonly name: string } | undefined
}

/** Failures that are kept, each of another path. */
const failuresKept = 200
/** Paths that are named where one is asked for that has not failed. */
const pathsNamed = 5

/** How a recorder like this one is made on a thread; what of its options is found in a module stands apart. See `threads` of @troupe/node. */
interface OnThreads {
  readonly url: string
  readonly name: string
  readonly options: object
  readonly parts: Readonly<Record<string, { readonly url: string; readonly name: string }>>
}
const onThreads = Symbol.for('@troupe/on-threads')

/** What a thread says of the failures at a path. */
export type Found = { readonly when: number; readonly capsule: unknown } | { readonly failed: readonly string[] }

/**
 * A flight recorder that writes down what a capsule needs; given to `ActorSystem.create`. `troupe run --record` uses it.
 *
 * Guarantees: what was handled is kept as it was then, whatever the handler does to it; at most `capacity` of each actor; actors on threads are recorded there, each
 * thread keeping what is its own until somebody asks, and losing it where it is lost. Fails: with `InvalidOption` on a wrong option. It costs a copy of every
 * message, and the memory that they take: it is for finding a failure, not for always.
 *
 * @example
 * const system = ActorSystem.create('shop', { flightRecorder: capsuleRecorder() })
 */
export function capsuleRecorder(options: CapsuleRecorderOptions = {}): FlightRecorder {
  const {
    capacity = 1000,
    redact,
    redactAt,
  } = readOptions('capsuleRecorder', options, { capacity: [checkWhole, 1], redact: checkFunction, redactAt: checkPlace })
  if (redactAt !== undefined && redact === undefined)
    throw new InvalidOption('redactAt', redactAt.url, 'it says where redact is found: give redact too, for this thread')
  return new CapsuleRecorder(capacity, redact, redactAt)
}

export class CapsuleRecorder implements FlightRecorder {
  readonly #capacity: number
  readonly #redact: Redact
  readonly #listening = new WeakSet<object>()
  /** By path; the last that was set is the newest. */
  readonly #sealed = new Map<string, Sealed>()
  /** False where threads could not do what this one does. */
  readonly recordsThreads: boolean

  constructor(capacity: number, redact: Redact | undefined, redactAt: CapsuleRecorderOptions['redactAt']) {
    this.#capacity = capacity
    this.#redact = redact ?? ((value) => value)
    this.recordsThreads = redact === undefined || redactAt !== undefined
    const value: OnThreads = {
      url: entry().href,
      name: 'capsuleRecorder',
      options: { capacity },
      parts: redactAt === undefined ? {} : { redact: redactAt },
    }
    if (this.recordsThreads) Object.defineProperty(this, onThreads, { value })
  }

  open(subject: FlightSubject): FlightLog {
    const cell = cellOf(subject.ref)!
    // Where there is a recorder no actor takes the short way through its turns but what stands for one of another thread; that thread records it.
    if (cell.options.plain) return elsewhere
    this.#listen(cell)
    const code = codeOf(subject)
    return new CapsuleLog(cell, this.#capacity, this.#redact, (chapter) => this.#seal(cell, code, chapter))
  }

  /** What there is of the last failure at a path, or what else has failed, the newest first. */
  found(path: string, system: string): Found {
    const sealed = this.#sealed.get(path)
    if (sealed !== undefined) return { when: sealed.when, capsule: capsuleFrom(sealed, system) }
    return { failed: [...this.#sealed.keys()].toReversed().slice(0, pathsNamed) }
  }
  /** The same, to be sent from the thread of this recorder. */
  recorded(path: string): string {
    return JSON.stringify(this.found(path, ''))
  }

  #seal(cell: Cell, code: Code, chapter: Chapter): void {
    const path = pathOf(cell.ref)
    const sealed: Sealed = { path, code, chapter, when: Date.now(), cause: undefined }
    // It is about to fail: with what is known when it has.
    queueMicrotask(() => (sealed.cause = causeOf(cell)))
    this.#sealed.delete(path)
    this.#sealed.set(path, sealed)
    for (const oldest of this.#sealed.keys()) {
      if (this.#sealed.size <= failuresKept) break
      this.#sealed.delete(oldest)
    }
  }

  /** What an actor reads of its system's clock is part of its story; there is one clock for all of them. */
  #listen({ host }: Cell): void {
    if (this.#listening.has(host)) return
    this.#listening.add(host)
    const clock = (host as SystemCore).view.clock as Clock & Record<'now' | 'random', () => number>
    for (const what of ['now', 'random'] as const) {
      const read = clock[what].bind(clock)
      Object.defineProperty(clock, what, {
        configurable: true,
        value: () => {
          const value = read()
          const log = ownFlightOf(host.running?.current)
          if (log instanceof CapsuleLog) log.read(what, value)
          return value
        },
      })
    }
  }
}

/** Of what stands for an actor of another thread. */
const elsewhere: FlightLog = { add: () => {}, entries: () => [] }

/** It waits for a supervisor on another thread, or the system has written it down. */
function causeOf(cell: Cell): unknown {
  const waiting = infoIn(cell, 'failed')
  if (waiting !== undefined) return waiting.cause
  return (cell.host as SystemCore).failures.list().findLast(({ actor }) => actor === cell.ref)?.cause
}

/** Where a thread finds this. It is built, as all that threads run. */
function entry(): URL {
  const here = import.meta.url
  return here.endsWith('.ts') ? new URL('../../dist/capsule.js', here) : new URL('./capsule.js', here)
}

function checkPlace(option: string, value: unknown): { readonly url: string; readonly name: string } {
  checkObject(option, value)
  const { url, name } = value as { readonly url?: unknown; readonly name?: unknown }
  if (typeof url !== 'string' || !URL.canParse(url) || typeof name !== 'string' || name === '')
    throw new InvalidOption(option, url, 'use { url: import.meta.url, name } with the name under which that module exports redact')
  return { url, name }
}
