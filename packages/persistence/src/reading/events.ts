// What was stored, for readers: events of a kind, of a tag, or all, each once and those of one id in order, as they are today.

import { ActorSystem, InvalidOption, NotAllowed, type SystemView } from '@troupe/core'
import { checkBoolean, checkSignal, checkString, checkText, extensionOf, readOptions, type Table } from '@troupe/core/internal'
import type { Kind } from '../gate/context.ts'
import { type AnyEvent, current } from '../gate/definition.ts'
import { definitions } from '../gate/event-sourced.ts'
import { Hub } from '../gate/hub.ts'
import type { OpenedEvent } from '../gate/keyring.ts'
import { extensionName } from '../gate/shell.ts'
import { decode } from '../values/codec.ts'
import { JournalDamaged } from '../values/errors.ts'
import { type FoundEvent, kindOf } from '../values/stored.ts'

/** An event that a reader is given. */
export interface ReadEvent<E = AnyEvent> {
  /** The event; of a kind that was given as such it is what it would be for the actor, after the upcast. */
  readonly event: E
  readonly id: string
  readonly key: string
  readonly kind: string
  readonly seq: number
  readonly tags: readonly string[]
  /** The version that wrote it. */
  readonly version: number
  /** When it was persisted, in milliseconds since 1970. */
  readonly time: number
  /** Where to go on after it. */
  readonly offset: string
}

/** Which events, and from where on. */
export interface ReadQuery {
  /** Those of a kind: by its name, as they are stored; or by what defines it, as they are today. */
  readonly kind?: string | Kind<never> | undefined
  /** Those with a tag. */
  readonly tag?: string | undefined
  /** After this offset; from the beginning if left out. */
  readonly after?: string | undefined
  /** Ends with what is there now, rather than to wait for more. */
  readonly once?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export const fromTable: Table<Pick<ReadQuery, 'kind' | 'tag'>> = {
  kind: (option, value) => (definitions.has(value as object) ? value : checkText(option, value)),
  tag: checkText,
}
const table: Table<ReadQuery> = { ...fromTable, after: checkString, once: checkBoolean, signal: checkSignal }

/** What persistence keeps for a system, if it has a journal. Fails with `InvalidOption` where it is no system. */
export function hubOrNone(system: SystemView): Hub | undefined {
  let known = false
  try {
    known = system instanceof ActorSystem
  } catch {
    // A proxy that says nothing of itself.
  }
  if (!known) throw new InvalidOption('system', system, 'use an ActorSystem')
  const hub = extensionOf(system, extensionName)
  return hub instanceof Hub ? hub : undefined
}

/** What persistence keeps for a system. */
export function hubIn(system: SystemView, what: string): Hub {
  const hub = hubOrNone(system)
  if (hub !== undefined) return hub
  throw new NotAllowed(`Cannot ${what}: the system has no journal. Write ActorSystem.create(name, { extensions: [persistence({ journal })] }).`)
}

/**
 * The events of a system's journal, as they come: those of a kind, of a tag, or all.
 *
 * Guarantees: each committed event once, those of one id in order, none skipped; waits for new ones, also of other processes, until its
 * signal is aborted or the system ends. Fails with `InvalidOption`, `NotAllowed`, and with what the journal fails with.
 *
 * @example
 * for await (const { event, key } of journalEvents(system, { kind: cart, once: true })) console.log(key, event.type)
 */
export function journalEvents<E = AnyEvent>(system: SystemView, query: ReadQuery = {}): AsyncIterable<ReadEvent<E>> {
  const given = readOptions('journalEvents', query, table)
  const hub = hubIn(system, 'read events')
  return readAll(hub, given)
}

async function* readAll<E>(hub: Hub, query: ReadQuery): AsyncGenerator<ReadEvent<E>> {
  const journal = await hub.readable()
  for await (const batch of journal.events({ ...foundBy(query), after: query.after, once: query.once, signal: query.signal, batch: 100 }))
    for (const found of await openedBy(hub, batch)) yield* readable<E>(hub, query.kind, found)
}

/** What the journal is asked for. */
export function foundBy({ kind, tag }: Pick<ReadQuery, 'kind' | 'tag'>): { readonly kind: string | undefined; readonly tag: string | undefined } {
  return { kind: typeof kind === 'function' ? kind.kind : kind, tag }
}

/** Events with what is sealed in them opened; the same ones where nothing is. */
export async function openedBy(hub: Hub, batch: readonly FoundEvent[]): Promise<readonly OpenedEvent<FoundEvent>[]> {
  if (!batch.some(({ subject }) => subject !== undefined)) return batch
  const opened: OpenedEvent<FoundEvent>[] = []
  for (const found of batch) opened.push(await hub.keyring.openEvent(found.id, found.seq, found))
  return opened
}

/** What a stored event is for a reader: itself, or what its kind makes of it today; nothing where it was erased and nothing stands for it. */
export function readable<E>(hub: Hub, kind: ReadQuery['kind'], found: OpenedEvent<FoundEvent>): readonly ReadEvent<E>[] {
  const { id, seq, tags, version, time, offset } = found
  // Those of ours say nothing to readers.
  if (found.type.startsWith('$')) return []
  const of = kindOf(id)
  const known = typeof kind === 'function' ? definitions.get(kind) : undefined
  let events: readonly unknown[]
  if (known !== undefined) events = current(known.definition, id, seq, found)
  else if (found.erased === true) events = []
  else
    try {
      events = [decode(found.data)]
    } catch (cause) {
      throw new JournalDamaged(hub.name, `${id} event ${seq}`, 'its data cannot be read', cause)
    }
  return events.map((event) => ({ event: event as E, id, key: id.slice(of.length + 1), kind: of, seq, tags, version, time, offset }))
}
