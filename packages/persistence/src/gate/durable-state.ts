// Actors whose state is kept as a whole, without a history: what is written is the newest state, with its revision. The gate is the
// same; changes that come while a write is under way are one write.

import type { MessageSchema } from '@troupe/core'
import { type Cell, checkFunction, checkObject, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import type { Commands, Kind, Leaving } from './context.ts'
import { checkHandlers } from './event-sourced.ts'
import type { Hub } from './hub.ts'
import { checkKind, idOf } from './ids.ts'
import { gatedBehavior } from './shell.ts'
import { CommandedState, type KeptState } from './stated.ts'

/** What a command of a durable-state actor is given. */
export interface StateContext<S, M> extends Leaving<M> {
  readonly state: S
  /** Replaces the state, now in memory and soon in the journal. */
  set(state: S): void
  /** Replaces the state by what becomes of it. */
  update(change: (state: S) => S): void
  /** Goes back to the beginning; the journal keeps that it was cleared, and its revision. */
  clear(): void
}

/** What may be said of how a state is kept. */
export interface StateKeeping<S> {
  /** The version of the state; 1 if left out. */
  readonly version?: number | undefined
  /** What a state of an earlier version is now. */
  readonly upcast?: ((stored: { readonly version: number; readonly state: unknown }) => S) | undefined
  /** A Standard Schema that every state must fit: before it is stored, or `SchemaMismatch`, and after it was read, behind the upcast. */
  readonly schema?: MessageSchema | undefined
  /**
   * Whose data a state is, such as the number of a customer; not a name, for it is kept as it is. Such a state is sealed with a key of that
   * subject; after `eraseSubject` the actor is as before its first change.
   */
  readonly subject?: ((state: S) => string | undefined) | undefined
}

/** A kind of durable-state actors. */
export interface StateDefinition<M extends { type: string }, S> extends StateKeeping<NoInfer<S>> {
  /** The state before the first change, and after it was cleared. */
  readonly initial: (key: string) => S
  /** What is done about each message; synchronous. */
  readonly commands: Commands<StateContext<S, M>, M>
}

export const stateTable: Table<StateKeeping<never>> = {
  version: [checkWhole, 1],
  upcast: checkFunction,
  schema: checkObject,
  subject: checkFunction,
}

const table: Table<Record<string, unknown>> = {
  initial: [checkFunction, undefined, true],
  commands: [checkHandlers, undefined, true],
  ...stateTable,
}

/** What stands behind a kind, for tests of it without a journal. */
export const stateDefinitions: WeakMap<
  object,
  { readonly kept: KeptState; readonly commands: Readonly<Record<string, (ctx: never, message: never) => unknown>> }
> = new WeakMap()

/** How a state is kept, with what was left out. */
export function keptState(given: Record<string, unknown>, initial: KeptState['initial']): KeptState {
  return {
    initial,
    version: (given['version'] as number | undefined) ?? 1,
    upcast: given['upcast'] as KeptState['upcast'],
    schema: given['schema'] as KeptState['schema'],
    subject: given['subject'] as KeptState['subject'],
  }
}

/**
 * Actors whose state is kept as a whole. Commands look at it, replace it and tell others; what they tell leaves once the state that
 * they saw is durable.
 *
 * Guarantees: as `eventSourced`, with revisions in place of events: each write replaces exactly the revision that it was made of.
 * Fails with `InvalidOption`; at start with `RecoveryFailed` or `IdInUse`.
 *
 * @example
 * const settings: Kind<Settings> = durableState('settings', {
 *   initial: () => ({ theme: 'light' }),
 *   commands: {
 *     choose: (ctx, m) => ctx.set({ theme: m.theme }),
 *     get: (ctx, m) => ctx.tell(m.replyTo, ctx.state.theme),
 *   },
 * })
 */
export function durableState<M extends { type: string }, S>(kind: string, definition: StateDefinition<M, S>): Kind<M> {
  const name = checkKind(kind)
  const given = readOptions('durableState', definition as unknown as Record<string, unknown>, table)
  const commands = given['commands'] as Readonly<Record<string, (ctx: never, message: never) => unknown>>
  const kept = keptState(given, given['initial'] as KeptState['initial'])
  const behind = (id: string, hub: Hub, cell: Cell): CommandedState => new CommandedState(id, hub, cell, kept, commands)
  const make = (key: string): ReturnType<Kind<M>> => gatedBehavior<M>(name, idOf(name, key), behind)
  stateDefinitions.set(make, { kept, commands })
  return Object.defineProperty(make, 'kind', { value: name, enumerable: true }) as Kind<M>
}
