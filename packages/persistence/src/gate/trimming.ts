// Deletes events that snapshots stand for. A snapshot stands for events only after it was read back and found equal to what those events
// make, as far as they are there to be replayed; otherwise nothing is deleted.

import { isDeepStrictEqual } from 'node:util'
import type { Journal } from '../journal/port.ts'
import { heldBack } from '../journal/projections.ts'
import { decode } from '../values/codec.ts'
import { RetentionRefused } from '../values/errors.ts'
import type { Head, Outcome, Snapshot } from '../values/stored.ts'
import type { Definition } from './definition.ts'
import { Folding, type FoldingHost, snapshotText } from './folding.ts'
import type { HeldEvents } from './held-events.ts'

/** What trimming asks of whoever has the journal. */
export interface TrimmingHost extends FoldingHost {
  readonly scope: string
  owned(): Promise<{ readonly journal: Journal; readonly epoch: number }>
  now(): number
}

/** How far: up to a number; or what two snapshots stand for, but for so many before the newer one. */
export type TrimTo = { readonly upTo: number } | { readonly keepEvents: number }

/** Deletes events of an id; returns up to which number they are gone. Fails with `RetentionRefused`, and with what the journal fails with. */
export async function trim(
  host: TrimmingHost & { readonly heldEvents: HeldEvents },
  definition: Definition,
  id: string,
  key: string,
  to: TrimTo,
): Promise<number> {
  if (definition.subject !== undefined)
    throw new RetentionRefused(
      id,
      'they may have subjects, and a snapshot cannot be read any more once one of them is erased: nothing would stand for them',
    )
  const { journal, epoch } = await host.owned()
  const head = await headOf(journal, id)
  const snapshots = await snapshotsOf(journal, head, definition.version)
  const [newest, older] = snapshots
  if (newest === undefined) {
    if ('keepEvents' in to) return head.deleted
    throw new RetentionRefused(id, `it has no snapshot of version ${definition.version}; take one first, by takeSnapshot`)
  }
  const wanted = 'upTo' in to ? to.upTo : Math.min(older?.seq ?? 0, newest.seq - to.keepEvents)
  if (wanted <= head.deleted) return head.deleted
  if (wanted > newest.seq) throw new RetentionRefused(id, `its last snapshot stands for those up to ${newest.seq}, and not up to ${wanted}`)
  const held = await heldBack(journal, id, head.deleted, wanted)
  if (held === undefined) host.heldEvents.release(id)
  else if ('upTo' in to)
    throw new RetentionRefused(
      id,
      `projection ${held.projection} has handled them up to ${Math.max(held.upTo, head.deleted)}, and not up to ${wanted}; let it catch up, or remove it with removeProjection`,
    )
  else host.heldEvents.hold(id, held.projection, wanted - Math.max(held.upTo, head.deleted), () => trim(host, definition, id, key, to))
  const target = held === undefined ? wanted : held.upTo
  if (target <= head.deleted) return head.deleted
  await verified(host, journal, definition, key, head, snapshots)
  const outcome = await journal.deleteEvents(id, target, { scope: host.scope, epoch })
  if (outcome.is !== 'stored') throw new RetentionRefused(id, `the journal did not do it (${outcome.is})`, causeOf(outcome))
  return target
}

async function headOf(journal: Journal, id: string): Promise<Head> {
  const [head] = await journal.heads([id])
  if (head!.damage !== undefined) throw head!.damage
  return head!
}

/** The snapshots that may stand for something, newest first. */
async function snapshotsOf(journal: Journal, head: Head, version: number): Promise<Snapshot[]> {
  const all: Snapshot[] = []
  for (let one = head.snapshot; one !== undefined; one = await journal.snapshotBefore(head.id, one.seq))
    if (one.version === version && one.seq >= head.deleted && one.seq <= head.seq) all.push(one)
  return all
}

/** Compares snapshots with what the events make that are still there. */
async function verified(
  host: FoldingHost,
  journal: Journal,
  definition: Definition,
  key: string,
  head: Head,
  snapshots: readonly Snapshot[],
): Promise<void> {
  const { id } = head
  const ascending = [...snapshots].reverse()
  // From the beginning where all events are there; else from the oldest snapshot, which stood for what is gone when that was deleted.
  const base = head.deleted === 0 ? Folding.initial(definition, id, key) : await Folding.restore(host, definition, id, ascending[0]!)
  if (base === undefined) throw new RetentionRefused(id, `its snapshot of ${ascending[0]!.seq} cannot be read`)
  for (const snapshot of ascending) {
    if (snapshot.seq > base.at) await foldUpTo(host, journal, base, id, snapshot.seq)
    const made = decode(snapshotText(id, base.state, base.own?.toData() ?? {}))
    let kept: unknown
    try {
      kept = decode(snapshot.data)
    } catch (cause) {
      throw new RetentionRefused(id, `its snapshot of ${snapshot.seq} cannot be read`, cause)
    }
    if (!isDeepStrictEqual(made, kept)) throw new RetentionRefused(id, `its snapshot of ${snapshot.seq} is not what its events make`)
  }
}

async function foldUpTo(host: FoldingHost, journal: Journal, folding: Folding, id: string, last: number): Promise<void> {
  for await (const part of journal.replay([{ id, after: folding.at }], 1000)) {
    if ('damage' in part) throw new RetentionRefused(id, 'its events cannot be read', part.damage)
    const events = part.events.slice(0, last - folding.at)
    folding.fold(part.first, await host.keyring.openEvents(id, part.first, events))
    if (folding.at >= last) return
  }
  throw new RetentionRefused(id, `event ${folding.at + 1} is missing`)
}

/** Keeps a snapshot of what the journal has of an id; returns the number that it stands for. */
export async function snapshotNow(host: TrimmingHost, definition: Definition, id: string, key: string): Promise<number> {
  const { journal, epoch } = await host.owned()
  const head = await headOf(journal, id)
  const folding = await Folding.begin(host, journal, definition, key, head)
  // There is one that can be read, or nothing to keep.
  if (folding.at === head.seq) return head.seq
  await foldUpTo(host, journal, folding, id, head.seq)
  const { at: seq, state, own, subjects } = folding
  const text = snapshotText(id, state, own?.toData() ?? {})
  const data = subjects === undefined ? text : await host.keyring.sealForAll([...subjects].sort(), text, `${id} snapshot ${seq}`)
  if (data === undefined) return 0
  const outcome = await journal.saveSnapshot({ id, seq, version: definition.version, data, time: host.now(), scope: host.scope, epoch })
  if (outcome.is !== 'stored') throw new RetentionRefused(id, `the journal did not keep a snapshot (${outcome.is})`, causeOf(outcome))
  return seq
}

function causeOf(outcome: Outcome): unknown {
  return 'cause' in outcome ? outcome.cause : undefined
}
