// What a person wants to see of a journal, beyond what the journal itself says: one id with its events, and all kinds with their sizes.

import { checkCan, checkText, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import type { Journal } from '../journal/port.ts'
import { type Head, kindOf, type ListedId, type StoredEvent } from '../values/stored.ts'

/** One id of a journal. */
export interface ShownId {
  readonly head: Head
  readonly events: readonly (StoredEvent & { readonly seq: number })[]
}

/** Which of its events. */
export interface ShowOptions {
  /** Those after this number; from the first that is there if left out. */
  readonly after?: number | undefined
  /** At most so many; 100 if left out. */
  readonly most?: number | undefined
}

const table: Table<ShowOptions> = { after: [checkWhole, 0], most: [checkWhole, 1] }
const open = ['an open journal', 'replay'] as const

/**
 * One id: where it stands, and some of its events, as they are stored.
 *
 * Guarantees: an id that was never written has numbers of 0 and no events. Fails with `JournalDamaged` where one cannot be read.
 *
 * @example
 * const { head, events } = await showId(journal, 'cart/42', { most: 10 })
 */
export async function showId(journal: Journal, id: string, options: ShowOptions = {}): Promise<ShownId> {
  checkCan('journal', journal, open)
  checkText('id', id)
  const { after = 0, most = 100 } = readOptions('showId', options, table)
  const [head] = await journal.heads([id])
  const events: (StoredEvent & { seq: number })[] = []
  for await (const part of journal.replay([{ id, after }], Math.min(most, 1000))) {
    if ('damage' in part) throw part.damage
    for (const [i, event] of part.events.entries()) events.push({ seq: part.first + i, ...event })
    if (events.length >= most) break
  }
  return { head: head!, events: events.slice(0, most) }
}

/**
 * The ids of a journal, in order, read a page at a time.
 *
 * @example
 * for await (const { id, seq } of listIds(journal, { kind: 'cart' })) console.log(id, seq)
 */
export async function* listIds(journal: Journal, query: { readonly kind?: string | undefined } = {}): AsyncGenerator<ListedId> {
  checkCan('journal', journal, open)
  const { kind } = readOptions('listIds', query, { kind: checkText } satisfies Table<typeof query>)
  for (let after: string | undefined; ;) {
    const some = await journal.ids({ kind, after, most: 1000 })
    yield* some
    if (some.length < 1000) return
    after = some.at(-1)!.id
  }
}

/** What a journal has of one kind. */
export interface KindStats {
  readonly kind: string
  readonly ids: number
  /** Events that are there. */
  readonly events: number
  /** Events that were deleted. */
  readonly deleted: number
  readonly snapshots: number
  readonly states: number
}

/**
 * What a journal has of each kind, by name. Goes over all ids.
 *
 * @example
 * console.table(await kindStats(journal))
 */
export async function kindStats(journal: Journal): Promise<readonly KindStats[]> {
  const kinds = new Map<string, { kind: string; ids: number; events: number; deleted: number; snapshots: number; states: number }>()
  for await (const { id, seq, deleted, snapshots, revision } of listIds(journal)) {
    const kind = kindOf(id)
    const stats = kinds.get(kind) ?? { kind, ids: 0, events: 0, deleted: 0, snapshots: 0, states: 0 }
    kinds.set(kind, stats)
    stats.ids++
    stats.events += seq - deleted
    stats.deleted += deleted
    stats.snapshots += snapshots.length
    if (revision !== undefined) stats.states++
  }
  return [...kinds.values()].sort((one, other) => (one.kind < other.kind ? -1 : 1))
}
