// An event-sourced actor: memory is what its events make of the beginning. `persist` applies at once and queues the event; a command's
// events are written together or not at all, because the queue is taken between commands only.

import { type ActorContext, NotAllowed } from '@troupe/core'
import { type Cell, isThenable, show } from '@troupe/core/internal'
import { encode } from '../values/codec.ts'
import { RecoveryFailed, SubjectErased } from '../values/errors.ts'
import type { Head, Ownership, StoredEvent, Write } from '../values/stored.ts'
import { type AnyEvent, type Definition, eventRead, isSameObject, storedEvent } from './definition.ts'
import { Entity } from './entity.ts'
import type { Flight, Turn } from './flight.ts'
import { Folding, snapshotPlace, snapshotText } from './folding.ts'
import type { Hub } from './hub.ts'
import { isSealed, type OpenedEvent, placeOf } from './keyring.ts'
import { trim } from './trimming.ts'

const noTags: readonly string[] = []

export abstract class Sourced extends Entity {
  readonly definition: Definition
  protected current: unknown = undefined
  #snapshotSeq = 0
  /** An event asked for one that could not be taken yet, because another was on its way. */
  #snapshotWanted = false
  /** Whose data memory has; only where events have subjects. */
  #subjects: Set<string> | undefined = undefined
  /** What is being recovered. */
  #folding: Folding | undefined = undefined

  constructor(id: string, hub: Hub, cell: Cell, definition: Definition) {
    super(id, hub, cell)
    this.definition = definition
  }

  get state(): unknown {
    return this.current
  }

  persist(...events: readonly AnyEvent[]): void {
    const turn = this.inCommand('persist')
    const { definition, id } = this
    turn.applying = true
    try {
      this.#apply(events, definition, id, turn)
    } finally {
      turn.applying = false
    }
  }
  #apply(events: readonly AnyEvent[], definition: Definition, id: string, turn: Turn): void {
    const time = this.hub.now()
    for (const event of events) {
      const type = typeOf(event)
      if (typeof type !== 'string' || type.startsWith('$') || !definition.knows(type))
        throw new NotAllowed(`${id} cannot persist ${show(type ?? event)}: it has no event of that type.`)
      const stored = storedEvent(definition, id, event, time, this.hub.maxEventBytes)
      if (stored.subject !== undefined && this.hub.keyring.peek(stored.subject) === 'erased') throw new SubjectErased(stored.subject)
      // As it will be read: a schema may make another value of it.
      const read = eventRead(definition, id, event, stored)
      const next = definition.apply(this.current, read)
      if (isSameObject(next, this.current)) turn.inPlace = true
      this.current = next
      if (definition.snapshotWhen !== undefined && wantsSnapshot(definition.snapshotWhen(next, read), id)) turn.snapshot = true
      this.#push(stored)
    }
  }
  #push(stored: StoredEvent): void {
    this.flying().push(stored)
    this.seq++
  }
  protected override note(type: string, data: object): string {
    const text = encode({ type, ...data }, type, this.id, undefined, this.hub.maxEventBytes)
    this.#push({ type, version: 1, data: text, tags: noTags, subject: undefined, time: this.hub.now() })
    return text
  }

  protected override mark(turn: Turn): void {
    turn.before = this.current
    const { flight } = this
    if (flight === undefined) return
    turn.length = flight.queue.length
    turn.queued = flight.queued
  }
  protected override rollBack(turn: Turn): void {
    this.current = turn.before
    this.rollBackOwn(turn)
    const { flight } = this
    if (flight === undefined || flight.queue.length === turn.length) return
    flight.queue.length = turn.length
    flight.queued = turn.queued
  }
  protected override settle(turn: Turn): void {
    if (this.seq === turn.seq) return
    super.settle(turn)
    const flight = this.flying()
    flight.bytes = flight.queued + flight.inFlight
    // One that waits to be durable is not replaced by a newer one, which under load would have to wait in turn, for ever.
    if (turn.snapshot) this.#snapshotWanted = true
    if (flight.snapshot === undefined && (this.#snapshotWanted || this.seq - this.#snapshotSeq >= this.#snapshotInterval))
      this.#decideSnapshot(flight)
    this.hub.writer.wants(this)
  }
  /** With many timers, three times as many events as it has timers: a snapshot has all of them, and would cost more than its events. */
  get #snapshotInterval(): number {
    return Math.max(this.definition.snapshotEvery, 3 * (this.own?.size ?? 0))
  }
  /** Encoded now: what later events change in place is no part of it. */
  #decideSnapshot(flight: Flight): void {
    const { id, seq } = this
    this.#snapshotSeq = seq
    this.#snapshotWanted = false
    try {
      flight.snapshot = { seq, text: snapshotText(id, this.current, this.own?.toData() ?? {}) }
    } catch (cause) {
      this.#snapshotLost(seq, cause)
    }
  }
  #snapshotLost(seq: number, cause: unknown): void {
    this.hub.environment.logger.warn({ id: this.id, seq, cause }, 'a snapshot was not kept; recovery replays more events until the next one is')
  }

  override follow(other: Sourced): void {
    this.current = other.current
  }

  protected override write({ scope, epoch }: Ownership, flight: Flight): Write | undefined {
    if (flight.queue.length === 0) return undefined
    const sealed = this.definition.subject !== undefined
    const subjects = sealed ? this.#seal(flight.queue) : undefined
    if (sealed && subjects === undefined) return undefined
    const events = flight.takeQueue()
    return { write: 'run', id: this.id, first: this.durable + 1, events, timers: this.takeTimers(flight), subjects, scope, epoch }
  }
  /** Seals what has a subject; whose it is, once all is ready. Keys that are not known are asked for, and then it is tried again. */
  #seal(events: StoredEvent[]): readonly string[] | undefined {
    const { keyring, writer } = this.hub
    const missing = new Set<string>()
    const all = new Set<string>()
    for (const [i, event] of events.entries()) {
      const { subject, data } = event
      if (subject !== undefined) all.add(subject)
      if (subject === undefined || isSealed(data)) continue
      const secret = keyring.peek(subject)
      if (secret === undefined) missing.add(subject)
      else if (secret === 'erased') {
        this.refused(new SubjectErased(subject))
        return undefined
      } else {
        events[i] = { ...event, data: keyring.seal(secret, subject, data, placeOf(this.id, this.durable + 1 + i)) }
        ;(this.#subjects ??= new Set()).add(subject)
      }
    }
    if (missing.size === 0) return [...all]
    this.hub
      .whenBack(() => Promise.all([...missing].map((subject) => keyring.load(subject))))
      .then(
        () => writer.wants(this),
        (cause: unknown) => this.refused(cause),
      )
    return undefined
  }
  protected override accounted(flight: Flight): void {
    super.accounted(flight)
    flight.inFlight = 0
    flight.bytes = flight.queued
    if (flight.snapshot !== undefined && flight.snapshot.seq <= this.durable) void this.#save(flight)
  }
  override get subjects(): ReadonlySet<string> {
    return this.#subjects ?? super.subjects
  }

  /** Keeps the state that is durable, beside the way of commands; one that is not kept costs time at the next start, and nothing else. */
  async #save(flight: Flight): Promise<void> {
    if (flight.saving) return
    flight.saving = true
    // Again for one that became due meanwhile: no further write may come that would save it.
    for (let due = flight.snapshot; due !== undefined && due.seq <= this.durable; due = flight.snapshot) {
      flight.snapshot = undefined
      await this.#saveOne(due.seq, due.text)
    }
    flight.saving = false
    this.rest()
  }
  async #saveOne(seq: number, text: string): Promise<void> {
    const { hub, id, definition } = this
    const subjects = this.#subjects === undefined ? [] : [...this.#subjects].sort()
    try {
      const data = subjects.length === 0 ? text : await hub.keyring.sealForAll(subjects, text, snapshotPlace(id, seq))
      // Somebody whose data is in it was erased meanwhile: it begins anew without that.
      if (data !== undefined) {
        const { journal, epoch } = await hub.owned()
        const outcome = await journal.saveSnapshot({ id, seq, version: definition.version, data, time: hub.now(), scope: hub.scope, epoch })
        if (outcome.is === 'failed' || outcome.is === 'unknown') throw outcome.cause
        if (outcome.is === 'stored' && definition.keepEvents !== undefined) await this.#trim(definition.keepEvents)
      }
    } catch (cause) {
      this.#snapshotLost(seq, cause)
    }
  }
  async #trim(keepEvents: number): Promise<void> {
    const { hub, id, definition, key } = this
    try {
      await trim(hub, definition, id, key, { keepEvents })
    } catch (cause) {
      hub.environment.logger.warn({ id, cause }, 'events were not deleted; it is tried again after the next snapshot')
    }
  }

  override async begin(head: Head): Promise<number> {
    const { journal } = await this.hub.owned()
    this.#folding = await Folding.begin(this.hub, journal, this.definition, this.key, head)
    this.#snapshotSeq = this.#folding.at
    return this.#folding.at
  }
  override fold(first: number, events: readonly OpenedEvent[]): void {
    this.#folding!.fold(first, events)
  }
  override complete(head: Head): void {
    const { at, state, own, subjects } = this.#folding!
    this.#folding = undefined
    if (at !== head.seq) throw new RecoveryFailed(this.id, at + 1, `it has ${head.seq} events, and only ${at} were found`)
    this.current = state
    this.#subjects = subjects
    this.begun(at, own)
  }
}

/** What an event says that it is; undefined where it says nothing. */
function typeOf(event: unknown): unknown {
  if (typeof event !== 'object' || event === null) return undefined
  try {
    return (event as AnyEvent).type
  } catch {
    return undefined
  }
}

/** One whose commands are functions. */
export class Commanded extends Sourced {
  readonly #commands: Readonly<Record<string, (ctx: never, message: never) => unknown>>
  constructor(id: string, hub: Hub, cell: Cell, definition: Definition, commands: Readonly<Record<string, (ctx: never, message: never) => unknown>>) {
    super(id, hub, cell, definition)
    this.#commands = commands
  }
  protected override command(_ctx: ActorContext<never>, message: unknown): unknown {
    const type = (message as { readonly type?: unknown } | null)?.type
    const command = typeof type === 'string' && Object.hasOwn(this.#commands, type) ? this.#commands[type] : undefined
    if (command === undefined) {
      this.unhandled()
      return undefined
    }
    return command(this as never, message as never)
  }
}

/** Refuses an answer that would count as no, such as a promise. */
function wantsSnapshot(answer: unknown, id: string): boolean {
  if (typeof answer === 'boolean') return answer
  if (isThenable(answer)) void Promise.resolve(answer).catch(() => {})
  throw new NotAllowed(`snapshotWhen of ${id} returned ${show(answer)}: it says true or false, at once.`)
}
