// The list of actors that a page shows a part of: flat and sorted, or as a tree in which siblings beyond a few are put together. It is made
// here and not in the page, so that a hundred thousand actors cost the wire what fits on a screen.

import type { ActorName } from '@troupe/core/internal'
import type { Line, Lines, LinesWish, SortKey } from '../feed/news.ts'
import type { Stand } from './standing.ts'

/** Siblings that are shown before the rest is put together: more at the top, where people know what they named. */
const siblingsShown = [24, 24, 6, 5]
/** A system of so few is shown one level deeper. */
const small = 60
/** Depths that are open at first, and to which those are with somebody in trouble below them. */
const openDepth = 1
const troubleDepth = 4
const inTrouble = 2

/** Where it stands in the list, before it has a name. */
interface Place {
  readonly uid: number
  readonly depth: number
  readonly open: boolean
  readonly more?: Line['more']
}

const keys: Readonly<Record<SortKey, (stand: Stand) => number>> = {
  // Whoever is in trouble first, then whoever has the longest mailbox, then whoever failed most.
  trouble: ({ state, seen }) => state * 1e12 + seen.queued * 1000 + Math.min(999, seen.incarnation),
  queued: ({ seen }) => seen.queued,
  rate: ({ rate }) => rate,
  load: ({ load }) => load,
  restarts: ({ seen }) => seen.incarnation,
}

export type Names = (uids: Iterable<number>) => Promise<ReadonlyMap<number, ActorName>>

/** The part of the list that was asked for. */
export async function linesOf(wish: LinesWish, stands: ReadonlyMap<number, Stand>, now: number, names: Names): Promise<Lines> {
  const key = keys[wish.sort]
  const matching = wish.filter === '' ? undefined : await matches(wish.filter, stands, names)
  const flat = wish.mode === 'flat' || matching !== undefined
  const children = childrenOf(stands)
  const places = flat ? flatPlaces(matching ?? stands.keys(), stands, key) : treePlaces(wish, stands, children, key)
  const shown = places.slice(wish.offset, wish.offset + wish.count)
  const named = await names(shown.map(({ uid }) => uid))
  const lines = shown.flatMap((place) => {
    const stand = stands.get(place.uid)
    return stand === undefined ? [] : [lineOf(place, stand, named.get(place.uid), children.get(place.uid)?.length ?? 0, now)]
  })
  return { total: places.length, offset: wish.offset, lines, actors: stands.size }
}

async function matches(filter: string, stands: ReadonlyMap<number, Stand>, names: Names): Promise<number[]> {
  const wanted = filter.toLowerCase()
  const found: number[] = []
  for (const [uid, { path, kind, label }] of await names(stands.keys()))
    if (`${path} ${kind} ${label ?? ''}`.toLowerCase().includes(wanted)) found.push(uid)
  return found
}

function flatPlaces(uids: Iterable<number>, stands: ReadonlyMap<number, Stand>, key: (stand: Stand) => number): Place[] {
  const order = [...uids].filter((uid) => stands.has(uid))
  return sorted(order, stands, key).map((uid) => ({ uid, depth: 0, open: false }))
}

/** The greatest first, and of equals the oldest. Keys are read once: a sort asks for each some seventeen times. */
function sorted(uids: readonly number[], stands: ReadonlyMap<number, Stand>, key: (stand: Stand) => number): number[] {
  return uids
    .map((uid): readonly [number, number] => [uid, key(stands.get(uid)!)])
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .map(([uid]) => uid)
}

function childrenOf(stands: ReadonlyMap<number, Stand>): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const [uid, { seen }] of stands) {
    // Whose parent is not seen stands at the top: better there than nowhere.
    const parent = stands.has(seen.parent) ? seen.parent : 0
    const list = children.get(parent)
    if (list === undefined) children.set(parent, [uid])
    else list.push(uid)
  }
  return children
}

function treePlaces(wish: LinesWish, stands: ReadonlyMap<number, Stand>, children: Map<number, number[]>, key: (stand: Stand) => number): Place[] {
  const opened = new Set(wish.opened)
  const closed = new Set(wish.closed)
  const full = new Set(wish.full)
  const worst = worstBelow(stands, children, key)
  const states = worstBelow(stands, children, ({ state }) => state)
  const ill = (uid: number): boolean => children.get(uid)?.some((child) => states.get(child)! >= inTrouble) === true
  const opens = (uid: number, depth: number): boolean => depth < openDepth + Number(stands.size <= small) || (depth < troubleDepth && ill(uid))
  const places: Place[] = []
  const below = (parent: number, depth: number): void => {
    const order = (children.get(parent) ?? []).toSorted((a, b) => worst.get(b)! - worst.get(a)! || a - b)
    const few = siblingsShown[Math.min(depth, siblingsShown.length - 1)]!
    const all = full.has(parent) || order.length <= few + 1
    for (const uid of all ? order : order.slice(0, few)) {
      const open = children.has(uid) && (opened.has(uid) || (!closed.has(uid) && opens(uid, depth)))
      places.push({ uid, depth, open })
      if (open) below(uid, depth + 1)
    }
    if (!all) places.push({ uid: order[few]!, depth, open: false, more: together(parent, order.slice(few), stands) })
  }
  below(0, 0)
  return places
}

function together(parent: number, uids: readonly number[], stands: ReadonlyMap<number, Stand>): NonNullable<Line['more']> {
  let queued = 0
  let restarts = 0
  for (const uid of uids) {
    const { seen } = stands.get(uid)!
    queued += seen.queued
    restarts += seen.incarnation
  }
  return { parent, actors: uids.length, queued, restarts }
}

/** Of each the worst that is below it or in it, so that trouble deep down brings its branch to the top. */
function worstBelow(
  stands: ReadonlyMap<number, Stand>,
  children: ReadonlyMap<number, readonly number[]>,
  key: (s: Stand) => number,
): Map<number, number> {
  const worst = new Map<number, number>()
  // Parents before their children, then back: a tree that is a long chain shall not need as deep a stack.
  const order: number[] = [...(children.get(0) ?? [])]
  for (let i = 0; i < order.length; i++) for (const child of children.get(order[i]!) ?? []) order.push(child)
  for (let i = order.length - 1; i >= 0; i--) {
    const uid = order[i]!
    const stand = stands.get(uid)!
    const own = Math.max(worst.get(uid) ?? 0, key(stand))
    worst.set(uid, own)
    const { parent } = stand.seen
    if (stands.has(parent)) worst.set(parent, Math.max(worst.get(parent) ?? 0, own))
  }
  return worst
}

function lineOf(place: Place, stand: Stand, name: ActorName | undefined, children: number, now: number): Line {
  const { seen, rate, load, state } = stand
  const path = name?.path ?? `actor ${seen.uid}`
  return {
    uid: seen.uid,
    path,
    name: path.slice(path.lastIndexOf('/') + 1) || path,
    kind: name?.kind ?? '',
    label: name?.label,
    phase: seen.phase,
    state,
    queued: seen.queued,
    stashed: seen.stashed,
    restarts: seen.incarnation,
    rate,
    load,
    pendingMs: seen.pendingSince === undefined ? undefined : now - seen.pendingSince,
    thread: seen.thread,
    depth: place.depth,
    children,
    open: place.open,
    more: place.more,
  }
}
