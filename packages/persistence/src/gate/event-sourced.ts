// Event-sourced actors as values: a kind is defined once, and called with a key it is the behavior of one actor.

import { InvalidOption, type MessageSchema } from '@troupe/core'
import { type Cell, checkFunction, checkObject, checkWhole, readOptions, type Table, unreadable } from '@troupe/core/internal'
import type { CommandContext, Commands, Kind } from './context.ts'
import { type AnyEvent, type Definition, type ErasedForm, stateOf, type StoredForm } from './definition.ts'
import type { Hub } from './hub.ts'
import { checkKind, idOf } from './ids.ts'
import { gatedBehavior } from './shell.ts'
import { Commanded } from './sourced.ts'

/** What each type of event makes of a state. */
export type EventHandlers<S> = Readonly<Record<string, (state: S, event: never) => S>>

/** The union of the events that a record of handlers is for. */
export type EventsOf<H> = {
  [K in keyof H & string]: H[K] extends (state: never, event: infer D) => unknown
    ? unknown extends D
      ? { readonly type: K }
      : { readonly type: K } & D
    : never
}[keyof H & string]

/** What may be said of how events are kept, besides what they mean. */
export interface KeepOptions<E, S = unknown> {
  /** How many events until the next snapshot; 1,000 if left out, 0 for none. */
  readonly snapshotEvery?: number | undefined
  /**
   * Whether a snapshot is taken after an event, besides those of `snapshotEvery`: given the state that the event has made, such as that of an
   * order that was closed. It is taken when the command is done. What it throws fails the command, and nothing of it is stored.
   */
  readonly snapshotWhen?: ((state: S, event: E) => boolean) | undefined
  /** What an event can be found by. */
  readonly tags?: ((event: E) => readonly string[]) | undefined
  /** The version of events and state; 1 if left out. Raise it when their shape changes, and say by `upcast` what became of older events. */
  readonly version?: number | undefined
  /** What an event of an earlier version is now: one, several, or nothing. */
  readonly upcast?: ((stored: StoredForm) => AnyEvent | readonly AnyEvent[] | undefined) | undefined
  /**
   * What a snapshot of an earlier version is now. Asked only where the events that it stands for were deleted; otherwise they are replayed. Without it
   * an actor whose events were deleted cannot be read by a higher version.
   */
  readonly upcastState?: ((stored: { readonly version: number; readonly state: unknown }) => unknown) | undefined
  /** A Standard Schema that every event must fit: before it is stored, or `SchemaMismatch`, and after it was read, behind the upcast. */
  readonly schema?: MessageSchema | undefined
  /**
   * Whose data an event is, such as the number of a customer; not a name, for it is kept as it is. Such an event is sealed with a key of
   * that subject, and so are snapshots after it; `eraseSubject` makes both unreadable wherever copies of them are.
   */
  readonly subject?: ((event: E) => string | undefined) | undefined
  /** What stands for an event whose subject was erased: one, several, or, if left out, nothing. */
  readonly erased?: ((left: ErasedForm) => AnyEvent | readonly AnyEvent[] | undefined) | undefined
  /**
   * Deletes events that two snapshots stand for, each compared with what the events make, but for so many before the newer one. All stay if
   * left out. Not together with `subject`.
   */
  readonly keepEvents?: number | undefined
}

/** A kind of event-sourced actors. */
export interface SourcedDefinition<M extends { type: string }, S, H extends EventHandlers<S>> extends KeepOptions<NoInfer<EventsOf<H>>, NoInfer<S>> {
  /** The state before the first event. */
  readonly initial: (key: string) => S
  /** What each event makes of the state: pure, without a look at anything else. */
  readonly events: H
  /** What is done about each message; synchronous. */
  readonly commands: Commands<CommandContext<S, EventsOf<H>, M>, M>
}

export const keepTable: Table<KeepOptions<never>> = {
  snapshotEvery: [checkWhole, 0],
  snapshotWhen: checkFunction,
  tags: checkFunction,
  version: [checkWhole, 1],
  upcast: checkFunction,
  upcastState: checkFunction,
  schema: checkObject,
  subject: checkFunction,
  erased: checkFunction,
  keepEvents: [checkWhole, 0],
}
const table: Table<Record<string, unknown>> = {
  initial: [checkFunction, undefined, true],
  events: [checkHandlers, undefined, true],
  commands: [checkHandlers, undefined, true],
  ...keepTable,
}

/** A copy of a record of functions. */
export function checkHandlers(option: string, value: unknown): Readonly<Record<string, unknown>> {
  checkObject(option, value)
  let entries: [string, unknown][]
  try {
    entries = Object.entries(value as object)
  } catch (cause) {
    throw unreadable(option, value, cause)
  }
  for (const [type, handler] of entries) checkFunction(`${option}.${type}`, handler)
  return Object.fromEntries(entries)
}

/**
 * Actors that are what happened to them. Commands look at the state, persist events and tell others; what they tell leaves once all
 * that they saw is durable.
 *
 * Guarantees: P1 to P9 of the guide: what was acknowledged is durable; what recovers is what was; nothing leaves early, reads included;
 * a command's events are stored together or not at all. Fails with `InvalidOption`; at start with `RecoveryFailed` or `IdInUse`.
 *
 * @example
 * const counter: Kind<Counter> = eventSourced('counter', {
 *   initial: () => 0,
 *   events: { added: (n, e: { by: number }) => n + e.by },
 *   commands: {
 *     add: (ctx, m) => ctx.persist({ type: 'added', by: m.by }),
 *     get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
 *   },
 * })
 * const ref = system.spawn(counter('42'))
 */
export function eventSourced<M extends { type: string }, S, H extends EventHandlers<S>>(
  kind: string,
  definition: SourcedDefinition<M, S, H>,
): Kind<M> {
  const name = checkKind(kind)
  const given = readOptions('eventSourced', definition as unknown as Record<string, unknown>, table)
  const events = given['events'] as EventHandlers<unknown>
  const commands = given['commands'] as Readonly<Record<string, (ctx: never, message: never) => unknown>>
  for (const [type, handler] of Object.entries(events))
    if (type.startsWith('$')) throw new InvalidOption(`events.${type}`, handler, 'names that begin with $ are reserved')
  const known: Definition = {
    ...kept(name, given),
    initial: given['initial'] as Definition['initial'],
    knows: (type) => Object.hasOwn(events, type),
    apply: (state, event) => stateOf(events[event.type]!(state, event as never), event.type, name),
  }
  const behind = (id: string, hub: Hub, cell: Cell): Commanded => new Commanded(id, hub, cell, known, commands)
  const make = (key: string): ReturnType<Kind<M>> => gatedBehavior<M>(name, idOf(name, key), behind)
  definitions.set(make, { definition: known, commands })
  return Object.defineProperty(make, 'kind', { value: name, enumerable: true }) as Kind<M>
}

/** What stands behind a kind, for tests of it without a journal. */
export const definitions: WeakMap<
  object,
  { readonly definition: Definition; readonly commands: Readonly<Record<string, (ctx: never, message: never) => unknown>> }
> = new WeakMap()

/** How events are kept, with what was left out. */
export function kept(kind: string, given: Record<string, unknown>): Omit<Definition, 'initial' | 'knows' | 'apply'> {
  const every = (given['snapshotEvery'] as number | undefined) ?? 1000
  const keepEvents = given['keepEvents'] as number | undefined
  if (keepEvents !== undefined && given['subject'] !== undefined)
    throw new InvalidOption('keepEvents', keepEvents, 'events with a subject are all kept: snapshots of what was erased cannot stand for them')
  return {
    kind,
    version: (given['version'] as number | undefined) ?? 1,
    upcast: given['upcast'] as Definition['upcast'],
    upcastState: given['upcastState'] as Definition['upcastState'],
    schema: given['schema'] as Definition['schema'],
    tags: given['tags'] as Definition['tags'],
    snapshotEvery: every === 0 ? Infinity : every,
    snapshotWhen: given['snapshotWhen'] as Definition['snapshotWhen'],
    subject: given['subject'] as Definition['subject'],
    erased: given['erased'] as Definition['erased'],
    keepEvents,
  }
}
