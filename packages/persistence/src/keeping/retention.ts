// Deleting events that snapshots stand for, and taking such snapshots, by hand: for whoever runs a system.

import type { SystemView } from '@troupe/core'
import { InvalidOption } from '@troupe/core'
import { checkWhole, readOptions, type Table } from '@troupe/core/internal'
import type { Kind } from '../gate/context.ts'
import type { Definition } from '../gate/definition.ts'
import { definitions } from '../gate/event-sourced.ts'
import { classDefinition, EventSourced } from '../gate/event-sourced-class.ts'
import { idOf } from '../gate/ids.ts'
import { snapshotNow, trim } from '../gate/trimming.ts'
import { hubIn } from '../reading/events.ts'

/** How far events are deleted. */
export interface TrimOptions {
  /** The number of the last event to go; what the last snapshot but one stands for if left out. */
  readonly upTo?: number | undefined
}

/** What names a kind: what `eventSourced` gave, or a class. */
export type KindOrClass = Kind<never> | (abstract new (key: string) => EventSourced<never, never>)

const table: Table<TrimOptions> = { upTo: [checkWhole, 1] }

/** What is known of a kind, whatever its style. */
export function definitionOf(kind: KindOrClass, key: string): Definition {
  const known = typeof kind === 'function' ? definitions.get(kind) : undefined
  if (known !== undefined) return known.definition
  if (!isClass(kind)) throw new InvalidOption('kind', kind, 'use what eventSourced(…) returned, or a class that extends EventSourced')
  const actor = kind as unknown as Parameters<typeof classDefinition>[0]
  let applying: object | undefined
  return classDefinition(actor, () => (applying ??= new actor(key)))
}

function isClass(kind: unknown): boolean {
  try {
    return typeof kind === 'function' && kind.prototype instanceof EventSourced
  } catch {
    return false
  }
}

/**
 * Deletes the first events of an actor, if snapshots stand for them.
 *
 * Guarantees: nothing is deleted unless the last snapshot, and the one before it, can be read, are of the present version, and equal what the
 * events make that are there; so the state can be told afterwards as before. Numbers go on where they were. The actor may run
 * meanwhile. Events that a projection has not handled are not deleted: without `upTo` those before them are, with it nothing is. Fails with
 * `RetentionRefused`, `InvalidOption`, and with what the journal fails with. Readers by `journalEvents` that have not got that far will not
 * see what was deleted.
 *
 * @example
 * const gone = await trimEvents(system, cart, '42')
 */
export async function trimEvents(system: SystemView, kind: KindOrClass, key: string, options: TrimOptions = {}): Promise<number> {
  const { upTo } = readOptions('trimEvents', options, table)
  const definition = definitionOf(kind, key)
  const id = idOf(definition.kind, key)
  return trim(hubIn(system, 'delete events'), definition, id, key, upTo === undefined ? { keepEvents: 0 } : { upTo })
}

/**
 * Keeps a snapshot of what the journal has of an actor; returns the number of the last event that it stands for.
 *
 * Guarantees: it is made of stored events only; the actor may run meanwhile. Fails with `RecoveryFailed` where those cannot be read, with
 * `RetentionRefused` where the journal did not keep it, and with `InvalidOption`.
 *
 * @example
 * await takeSnapshot(system, cart, '42')
 */
export async function takeSnapshot(system: SystemView, kind: KindOrClass, key: string): Promise<number> {
  const definition = definitionOf(kind, key)
  return snapshotNow(hubIn(system, 'take a snapshot'), definition, idOf(definition.kind, key), key)
}
