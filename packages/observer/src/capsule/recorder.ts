// Records every actor of a system from its birth, so that what led to a failure can be written into a capsule: messages, signals and answers as they
// were when they came, and what the actor read of the system's clock. Of each path the last failure is kept, also when the actor has ended.

import {
  ActorInitializationError,
  type ActorSystem,
  type Clock,
  type FlightEntry,
  type FlightLog,
  type FlightNote,
  type FlightRecorder,
  type FlightSubject,
} from '@troupe/core'
import {
  type Cell,
  cellOf,
  checkFunction,
  checkWhole,
  coreOf,
  kindOfActor,
  ownFlightOf,
  pathOf,
  readOptions,
  type SystemCore,
} from '@troupe/core/internal'
import type { Capsule, CapsuleEntry } from './capsule.ts'
import { keep, type Kept } from './values.ts'

/** What of each actor is kept. */
export interface CapsuleRecorderOptions {
  /** Messages, signals and answers of each actor; 1,000 if left out. */
  readonly capacity?: number | undefined
  /** Sees every message, signal and answer before it is kept: what it returns is kept in its place. For what must not be written down. */
  readonly redact?: ((value: unknown, type: string) => unknown) | undefined
}

/** Failures that are kept, each of another path. */
const failuresKept = 200

interface Line {
  readonly what: CapsuleEntry['what']
  readonly at: number
  readonly type: string
  readonly sender: string | undefined
  readonly ok: boolean
  readonly text: string
}

interface Chapter {
  readonly lines: readonly Line[]
  readonly lost: number
  readonly missing: readonly string[]
  readonly now: readonly number[]
  readonly random: readonly number[]
  readonly incarnation: number
  readonly kind: string
}

type Redact = NonNullable<CapsuleRecorderOptions['redact']>

/**
 * A flight recorder that writes down what a capsule needs; given to `ActorSystem.create`. `troupe run --record` uses it.
 *
 * Guarantees: what was handled is kept as it was then, whatever the handler does to it; at most `capacity` of each actor. Fails: with `InvalidOption` on a wrong
 * option. It costs a copy of every message, and the memory that they take: it is for finding a failure, not for always.
 *
 * @example
 * const system = ActorSystem.create('shop', { flightRecorder: capsuleRecorder() })
 */
export function capsuleRecorder(options: CapsuleRecorderOptions = {}): FlightRecorder {
  const { capacity = 1000, redact = (value: unknown) => value } = readOptions('capsuleRecorder', options, {
    capacity: [checkWhole, 1],
    redact: checkFunction,
  })
  return new CapsuleRecorder(capacity, redact)
}

class CapsuleRecorder implements FlightRecorder {
  readonly #capacity: number
  readonly #redact: Redact
  readonly #listening = new WeakSet<object>()
  /** By path; the last that was set is the newest. */
  readonly sealed = new Map<string, { readonly subject: FlightSubject; readonly chapter: Chapter }>()

  constructor(capacity: number, redact: Redact) {
    this.#capacity = capacity
    this.#redact = redact
  }

  open(subject: FlightSubject): FlightLog {
    const cell = cellOf(subject.ref)!
    this.#listen(cell)
    return new CapsuleLog(cell, this.#capacity, this.#redact, (chapter) => this.#seal(subject, chapter))
  }

  #seal(subject: FlightSubject, chapter: Chapter): void {
    const path = pathOf(subject.ref)
    this.sealed.delete(path)
    this.sealed.set(path, { subject, chapter })
    for (const oldest of this.sealed.keys()) {
      if (this.sealed.size <= failuresKept) break
      this.sealed.delete(oldest)
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

/** One actor. */
class CapsuleLog implements FlightLog {
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
    }
  }
}

/** Where the code of an actor is, as it was defined; see `defineActor` of @troupe/node. */
interface Origin {
  readonly url: string
  readonly name: string
  readonly args?: readonly unknown[]
}
const originKey: unique symbol = Symbol.for('@troupe/origin') as never

function originOf({ spawned, args }: FlightSubject): {
  readonly url: string | undefined
  readonly name: string | undefined
  readonly args: readonly unknown[]
} {
  if (typeof spawned === 'function') {
    const origin = (spawned as { readonly [originKey]?: Origin })[originKey]
    return { url: origin?.url, name: origin?.name ?? spawned.name, args }
  }
  for (let at = spawned; typeof at === 'object' && at !== null; at = (at as { readonly behavior?: unknown }).behavior) {
    const { origin } = at as { readonly origin?: Origin }
    if (origin !== undefined) return { url: origin.url, name: origin.name, args: origin.args ?? [] }
  }
  return { url: undefined, name: undefined, args: [] }
}

/** Why there is no capsule. */
export type NoCapsule = { readonly none: string }

/** The capsule of the last failure at a path, or why there is none. */
export function capsuleOf(system: ActorSystem, path: string): Capsule | NoCapsule {
  const core = coreOf(system)
  const recorder = core.flightRecorder
  if (!(recorder instanceof CapsuleRecorder))
    return { none: 'this system records nothing: start it with troupe run --record, or with { flightRecorder: capsuleRecorder() }' }
  const failure = system.failures.list().findLast(({ actor }) => pathOf(actor) === path)
  const sealed = recorder.sealed.get(path)
  if (sealed === undefined || failure === undefined) {
    const paths = [...recorder.sealed.keys()].toReversed().slice(0, 5)
    return { none: `nothing at ${path} has failed${paths.length === 0 ? '' : `; what has: ${paths.join(', ')}`}` }
  }
  const { subject, chapter } = sealed
  const { url, name, args } = originOf(subject)
  const kept = args.map((arg) => keep(arg))
  const thrown = failure.cause instanceof ActorInitializationError ? (failure.cause.cause ?? failure.cause) : failure.cause
  const cause = thrown as { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown }
  const isError = thrown instanceof Error
  const missing = [
    ...(url === undefined ? ['where its code is: it was not defined by defineActor; replay --with <module> says it'] : []),
    ...(chapter.lost > 0 ? [`the first ${chapter.lost} things that happened to it, for the recorder keeps so many`] : []),
    ...chapter.missing,
    ...kept.flatMap((arg) => arg.missing.map((what) => `${what}, as an argument`)),
  ]
  return {
    troupe: 'capsule',
    version: 1,
    system: system.name,
    path,
    kind: chapter.kind,
    incarnation: chapter.incarnation,
    made: new Date().toISOString(),
    code: { url, name, args: kept.map(({ text }) => JSON.parse(text) as unknown) },
    entries: chapter.lines.map(({ text, ...line }) => ({ ...line, value: JSON.parse(text) as unknown })),
    reads: { now: chapter.now, random: chapter.random },
    failure: {
      name: isError ? String(cause.name) : 'thrown',
      message: isError ? String(cause.message) : (JSON.stringify(thrown) ?? 'undefined'),
      stack: isError ? String(cause.stack) : '',
      during: chapter.lines.at(-1)?.what === 'message' ? chapter.lines.at(-1)!.type : undefined,
      at: failure.at,
    },
    missing: [...new Set(missing)],
  }
}
