// What is known of all actors of one kind, in whatever style it was written: how a state begins, what an event makes of it, and how
// what is stored becomes an event of today. Pure: no journal, no actor.

import { InvalidOption, type MessageSchema, NotAllowed } from '@troupe/core'
import { isThenable, show } from '@troupe/core/internal'
import { decode, encode } from '../values/codec.ts'
import { RecoveryFailed } from '../values/errors.ts'
import { isName } from '../values/names.ts'
import type { StoredEvent } from '../values/stored.ts'
import type { OpenedEvent } from './keyring.ts'
import { fitting, validate } from './schema-check.ts'

/** An event: what happened is its `type`, the rest is data. */
export interface AnyEvent {
  readonly type: string
}

/** A state that is a value. Fails with `NotAllowed` on a promise of one, which no event could be applied to. */
export function stateOf(made: unknown, what: string, kind: string): unknown {
  if (isThenable(made)) {
    made.then(undefined, () => undefined)
    throw new NotAllowed(
      `What makes a state by ${what} of ${kind} returned a promise. States are made synchronously: what takes time is done in a command's after(…) or ask(…).`,
    )
  }
  return made
}

/** Whether a state is the object that it was made of: its handlers may have changed that in place. */
export function isSameObject(state: unknown, before: unknown): boolean {
  return state === before && typeof state === 'object' && state !== null
}

/** An event as it was stored, for `upcast`. */
export interface StoredForm {
  readonly type: string
  /** The version of the kind that wrote it, below the present one. */
  readonly version: number
  /** The event as it was then. */
  readonly event: unknown
}

/** An event whose subject was erased, for `erased`: what is left of it. */
export interface ErasedForm {
  readonly type: string
  readonly version: number
  readonly subject: string
  readonly seq: number
}

/** What makes a state of events. */
export interface Definition {
  readonly kind: string
  readonly version: number
  readonly initial: (key: string) => unknown
  /** Whether there is an event of that type. */
  readonly knows: (type: string) => boolean
  readonly apply: (state: unknown, event: AnyEvent) => unknown
  readonly upcast: ((stored: StoredForm) => unknown) | undefined
  /** What a snapshot of an earlier version is today. */
  readonly upcastState: ((stored: { readonly version: number; readonly state: unknown }) => unknown) | undefined
  readonly schema: MessageSchema | undefined
  readonly tags: ((event: never) => readonly string[]) | undefined
  readonly snapshotEvery: number
  /** Whether a snapshot is to be taken after an event, whatever `snapshotEvery` says. */
  readonly snapshotWhen: ((state: unknown, event: AnyEvent) => boolean) | undefined
  /** Whose data an event is. */
  readonly subject: ((event: never) => string | undefined) | undefined
  /** What stands for an event that was erased. */
  readonly erased: ((left: ErasedForm) => unknown) | undefined
  /** How many events before the last snapshot stay; undefined for all. */
  readonly keepEvents: number | undefined
}

const noTags: readonly string[] = []

/** What an event will be when it is read: itself, or what the schema makes of it. Fails with `SchemaMismatch`. */
export function eventRead({ schema }: Definition, id: string, event: AnyEvent, { type, data }: StoredEvent): AnyEvent {
  return schema === undefined ? event : (fitting(schema, data, `event ${type}`, id) as AnyEvent)
}

/** An event as it is to be stored. Fails with `NotStorable`, with `EventTooLarge` above `most` bytes, and with what `tags` throws. */
export function storedEvent(definition: Definition, id: string, event: AnyEvent, time: number, most?: number): StoredEvent {
  return {
    type: event.type,
    version: definition.version,
    data: encode(event, 'event', id, event.type, most),
    tags: definition.tags === undefined ? noTags : checkTags(definition.tags(event as never)),
    subject: definition.subject === undefined ? undefined : checkSubject(definition.subject(event as never)),
    time,
  }
}

/** What an event can be found by, as a list of its own. */
function checkTags(tags: unknown): readonly string[] {
  if (!Array.isArray(tags)) throw new InvalidOption('tags', tags, 'return a list of texts, which may be empty')
  for (const tag of tags as unknown[]) if (!isName(tag, 200)) throw new InvalidOption('tags', tag, 'use well-formed texts of 1 to 200 characters')
  return tags.length === 0 ? noTags : [...(tags as string[])]
}

/** The name of a subject, or none. */
export function checkSubject(subject: unknown): string | undefined {
  if (subject === undefined) return undefined
  if (!isName(subject, 200))
    throw new InvalidOption('subject', subject, "use a well-formed text of 1 to 200 characters, or undefined where the data is nobody's")
  return subject
}

/** What a stored event makes of a state: read, brought up to date, checked, applied. Fails with `RecoveryFailed`. */
export function applied(definition: Definition, id: string, seq: number, state: unknown, stored: OpenedEvent): unknown {
  let next = state
  for (const event of current(definition, id, seq, stored)) {
    if (typeof event !== 'object' || event === null || typeof event.type !== 'string')
      throw new RecoveryFailed(id, seq, `it became ${show(event)}, which is not an event; let upcast and erased return objects with a type`)
    if (!definition.knows(event.type))
      throw new RecoveryFailed(id, seq, `nothing is known of events of type ${JSON.stringify(event.type)}; add it, or turn it into others by upcast`)
    try {
      next = definition.apply(next, event)
    } catch (cause) {
      throw new RecoveryFailed(id, seq, `applying ${event.type} failed`, cause)
    }
  }
  return next
}

/** What a stored event is today: none, one or several. Fails with `RecoveryFailed`. */
export function current(definition: Definition, id: string, seq: number, stored: OpenedEvent): readonly AnyEvent[] {
  const { version, upcast, schema } = definition
  if (stored.erased === true) return standIns(definition, id, seq, stored)
  let event: unknown
  try {
    event = decode(stored.data)
  } catch (cause) {
    throw new RecoveryFailed(id, seq, 'its data cannot be read', cause)
  }
  if (stored.version > version)
    throw new RecoveryFailed(
      id,
      seq,
      `it was written by version ${stored.version} of ${definition.kind}, and this is version ${version}; deploy the newer one`,
    )
  let events: readonly unknown[] = [event]
  if (stored.version < version && upcast !== undefined) {
    try {
      events = listOf(upcast({ type: stored.type, version: stored.version, event }))
    } catch (cause) {
      throw new RecoveryFailed(id, seq, `upcast from version ${stored.version} failed`, cause)
    }
  }
  return schema === undefined ? (events as readonly AnyEvent[]) : events.map((one) => checked(schema, id, seq, one))
}

/** What stands for an event whose data is gone. */
function standIns({ erased, schema }: Definition, id: string, seq: number, { type, version, subject }: OpenedEvent): readonly AnyEvent[] {
  if (erased === undefined) return []
  let events: readonly unknown[]
  try {
    events = listOf(erased({ type, version, subject: subject!, seq }))
  } catch (cause) {
    throw new RecoveryFailed(id, seq, `what stands for an erased ${type} could not be said`, cause)
  }
  return schema === undefined ? (events as readonly AnyEvent[]) : events.map((one) => checked(schema, id, seq, one))
}

function listOf(made: unknown): readonly unknown[] {
  return Array.isArray(made) ? made : made === undefined ? [] : [made]
}

function checked(schema: MessageSchema, id: string, seq: number, event: unknown): AnyEvent {
  const validated = validate(schema, event)
  if (!validated.fits) throw new RecoveryFailed(id, seq, `${validated.why}. Turn it into what fits by upcast`, validated.cause)
  return validated.value as AnyEvent
}
