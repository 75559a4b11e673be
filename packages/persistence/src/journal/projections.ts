// Which projections a journal has, what each reads, and how far it is: what deleting events waits for. What a projection reads is kept as a place
// of its own, under its name behind `$reads/`, so that every journal that keeps places has it too.

import { EventsDeleted } from '../values/errors.ts'
import { kindOf } from '../values/stored.ts'
import type { Journal } from './port.ts'

/** Before the name under which it is kept what a projection reads. */
export const readsPrefix = '$reads/'

/** Which events a projection reads; all where neither is there. */
export interface ProjectionQuery {
  readonly kind?: string | undefined
  readonly tag?: string | undefined
}

/** A projection of a journal. */
export interface ProjectionPlace extends ProjectionQuery {
  readonly projection: string
  /** The last event that it has handled; undefined before the first. */
  readonly offset: string | undefined
}

/** What is kept of a projection besides its place. */
interface Reads extends ProjectionQuery {
  /** It missed events that were deleted: it does not start again before it is removed. */
  readonly missed?: { readonly id: string; readonly seq: number }
}

/** How many events are read to find out what a projection has not handled; one that is further behind holds back all. */
const maxRead = 2000
const batch = 200

/** All projections that have a place, or have begun, by name. */
export async function projectionsOf(journal: Journal): Promise<readonly ProjectionPlace[]> {
  const places = new Map((await journal.places?.()) ?? [])
  const names = new Set([...places.keys()].map((name) => (name.startsWith(readsPrefix) ? name.slice(readsPrefix.length) : name)))
  return [...names].sort().map((projection) => {
    const { kind, tag } = readsOf(places.get(readsPrefix + projection))
    return { projection, kind, tag, offset: places.get(projection) }
  })
}

function readsOf(text: string | undefined): Reads {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Reads)
  } catch {
    // Not ours: it may read anything.
    return {}
  }
}

/** A projection begins: from now on nothing is deleted that it has not handled. Fails with `EventsDeleted` if something was already. */
export async function registerProjection(journal: Journal, projection: string, query: ProjectionQuery, skips: boolean): Promise<void> {
  const name = readsPrefix + projection
  const { kind, tag } = query
  const before = await journal.offset(name)
  const { missed, ...was } = readsOf(before)
  if (!skips && missed !== undefined) throw new EventsDeleted(projection, missed.id, missed.seq)
  const now = JSON.stringify({ kind, tag } satisfies Reads)
  if (before !== undefined && missed === undefined && JSON.stringify({ kind: was.kind, tag: was.tag }) === now) return
  await journal.advance(name, before, now, async () => undefined)
  // One that has a place had what it needed, as far as it read the same.
  if (skips || (before === undefined && (await journal.offset(projection)) !== undefined)) return
  const gone = await firstDeleted(journal, kind)
  if (gone !== undefined) await missedEvents(journal, projection, query, gone.id, 1)
}

async function firstDeleted(journal: Journal, kind: string | undefined): Promise<{ readonly id: string } | undefined> {
  for (let after: string | undefined; ;) {
    const ids = await journal.ids({ kind, after, most: 1000 })
    const gone = ids.find(({ deleted }) => deleted > 0)
    if (gone !== undefined || ids.length < 1000) return gone
    after = ids.at(-1)!.id
  }
}

/** Notes that a projection needs an event that is gone, so that it does not go on without it at its next start either. Fails with `EventsDeleted`. */
export async function missedEvents(journal: Journal, projection: string, { kind, tag }: ProjectionQuery, id: string, seq: number): Promise<never> {
  const name = readsPrefix + projection
  await journal.advance(name, await journal.offset(name), JSON.stringify({ kind, tag, missed: { id, seq } } satisfies Reads), async () => undefined)
  throw new EventsDeleted(projection, id, seq)
}

/** What holds back the deletion of events. */
export interface HeldBack {
  readonly projection: string
  /** The last event of the id that every projection has handled, or does not read. */
  readonly upTo: number
}

/** How far the events of an id may be deleted, if not up to `target`: the first that a projection still reads stays. */
export async function heldBack(journal: Journal, id: string, deleted: number, target: number): Promise<HeldBack | undefined> {
  let held: HeldBack | undefined
  for (const { projection, kind, tag, offset } of await projectionsOf(journal)) {
    if (kind !== undefined && kind !== kindOf(id)) continue
    const upTo = await handledBy(journal, { kind: kindOf(id), tag }, offset, id, deleted)
    if (upTo < (held?.upTo ?? target)) held = { projection, upTo }
  }
  return held
}

/** The number before the first event of an id that comes after an offset; `deleted` where that is too far to look. */
async function handledBy(journal: Journal, query: ProjectionQuery, after: string | undefined, id: string, deleted: number): Promise<number> {
  let read = 0
  for await (const found of journal.events({ ...query, after, once: true, batch })) {
    const next = found.find((event) => event.id === id)
    if (next !== undefined) return next.seq - 1
    if ((read += found.length) >= maxRead) return deleted
  }
  return Infinity
}
