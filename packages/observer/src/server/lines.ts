// The list of actors that a page shows a part of: flat and sorted, or as a tree in which siblings beyond a few are put together. It is made
// here and not in the page, so that a hundred thousand actors cost the wire what fits on a screen.

import type { ActorName } from '@troupe/core/internal'
import type { Line, Lines, LinesWish, SortKey } from '../feed/news.ts'
import { firstOf } from './first-of.ts'
import type { Stand, Standing } from './standing.ts'

/** Siblings that are shown before the rest is put together: more at the top, where people know what they named. */
const siblingsShown = [24, 24, 6, 5]
/** A system of so few is shown one level deeper. */
const small = 60
/** Depths that are open at first, and to which those are with somebody in trouble below them. */
const openDepth = 1
const troubleDepth = 4
const inTrouble = 2
const none = -1

/** Where it stands in the list, before it has a name. */
interface Place {
  readonly row: number
  readonly depth: number
  readonly open: boolean
  readonly more?: Line['more']
}

export type Names = (uids: Iterable<number>) => Promise<ReadonlyMap<number, ActorName>>

/** Lists that are kept until the next survey: one for each page that asks, at about. */
const kept = 8

/** A part of the list, before it has names. */
interface Draft {
  readonly total: number
  readonly actors: number
  readonly now: number
  readonly lines: readonly { readonly place: Place; readonly stand: Stand; readonly children: number }[]
}

/** Makes the parts of the list that are asked for. */
export class ListMaker {
  readonly #standing: Standing
  readonly #names: Names
  readonly #worked: (began: number) => void
  /** As of which survey those are. */
  #version = NaN
  readonly #drafts = new Map<string, Draft>()

  /** What is sorted is read at once, which `worked` is told the beginning of; only names are waited for. */
  constructor(standing: Standing, names: Names, worked: (began: number) => void) {
    this.#standing = standing
    this.#names = names
    this.#worked = worked
  }

  async lines(wish: LinesWish): Promise<Lines> {
    const matching = wish.filter === '' ? undefined : await matches(wish.filter, this.#standing, this.#names)
    const { total, actors, now, lines } = matching === undefined ? this.#kept(wish) : this.#draft(wish, matching)
    const named = await this.#names(lines.map(({ stand }) => stand.seen.uid))
    return {
      total,
      offset: wish.offset,
      lines: lines.map(({ place, stand, children }) => lineOf(place, stand, named.get(stand.seen.uid), children, now)),
      actors,
    }
  }

  /** A page asks once a second, and where there are many nothing new is known of them for some. */
  #kept(wish: LinesWish): Draft {
    const drafts = this.#drafts
    if (this.#version !== this.#standing.version) drafts.clear()
    this.#version = this.#standing.version
    const key = JSON.stringify(wish)
    let draft = drafts.get(key)
    if (draft === undefined) {
      if (drafts.size === kept) drafts.clear()
      drafts.set(key, (draft = this.#draft(wish, undefined)))
    }
    return draft
  }

  #draft(wish: LinesWish, matching: readonly number[] | undefined): Draft {
    const began = performance.now()
    const standing = this.#standing
    const list = new List(standing, wish.sort)
    const { total, shown } = wish.mode === 'flat' || matching !== undefined ? list.flat(wish, matching) : list.tree(wish)
    const lines = shown.map((place) => ({ place, stand: standing.in(place.row), children: list.childrenOf(place.row) }))
    this.#worked(began)
    return { total, actors: standing.size, now: standing.at, lines }
  }
}

async function matches(filter: string, standing: Standing, names: Names): Promise<number[]> {
  const wanted = filter.toLowerCase()
  const found: number[] = []
  for (const [uid, { path, kind, label }] of await names(standing.picture.uids))
    if (`${path} ${kind} ${label ?? ''}`.toLowerCase().includes(wanted)) found.push(uid)
  return found
}

/** All actors as they stand now, by row: what they are sorted by, and who is whose child. A pass or two over numbers for a hundred thousand. */
class List {
  readonly #standing: Standing
  readonly #key: Float64Array
  /** The first child of each row, and the next sibling of each; those at the top hang at the place after the last row. */
  readonly #first: Int32Array
  readonly #next: Int32Array
  readonly #parent: Int32Array
  readonly #top: number
  readonly #rows: number[] = []

  constructor(standing: Standing, sort: SortKey) {
    this.#standing = standing
    const { picture } = standing
    const { used } = picture
    const { uid, parent } = picture.columns
    this.#top = used
    this.#key = new Float64Array(used)
    this.#first = new Int32Array(used + 1).fill(none)
    this.#next = new Int32Array(used).fill(none)
    this.#parent = new Int32Array(used).fill(used)
    let above = NaN
    let aboveRow = used
    for (let row = used - 1; row >= 0; row--) {
      if (uid[row] === 0) continue
      // Siblings are mostly beside each other. Whose parent is not seen stands at the top: better there than nowhere.
      if (parent[row] !== above) {
        above = parent[row]!
        aboveRow = picture.rowOf(above) ?? used
      }
      this.#rows.push(row)
      this.#parent[row] = aboveRow
      this.#next[row] = this.#first[aboveRow]!
      this.#first[aboveRow] = row
      this.#key[row] = this.#keyOf(row, sort)
    }
  }

  #keyOf(row: number, sort: SortKey): number {
    const { queued, waiting, incarnation } = this.#standing.picture.columns
    const { rate, load, state } = this.#standing.records
    switch (sort) {
      // Whoever is in trouble first, then whoever has the longest mailbox, then whoever failed most.
      case 'trouble':
        return state[row]! * 1e12 + (queued[row]! + waiting[row]!) * 1000 + Math.min(999, incarnation[row]!)
      case 'queued':
        return queued[row]! + waiting[row]!
      case 'rate':
        return rate[row]!
      case 'load':
        return load[row]!
      case 'restarts':
        return incarnation[row]!
    }
  }

  childrenOf(row: number): number {
    let count = 0
    for (let child = this.#first[row]!; child !== none; child = this.#next[child]!) count++
    return count
  }

  flat({ offset, count }: LinesWish, matching: readonly number[] | undefined): { readonly total: number; readonly shown: readonly Place[] } {
    const { picture } = this.#standing
    const rows = matching === undefined ? this.#rows : matching.flatMap((uid) => picture.rowOf(uid) ?? [])
    const first = firstOf(rows, offset + count, this.#before(this.#key))
    return { total: rows.length, shown: first.slice(offset).map((row) => ({ row, depth: 0, open: false })) }
  }

  /** The greatest first, and of equals the oldest. */
  #before(key: Float64Array): (a: number, b: number) => number {
    const { uid } = this.#standing.picture.columns
    return (a, b) => key[b]! - key[a]! || uid[a]! - uid[b]!
  }

  tree(wish: LinesWish): { readonly total: number; readonly shown: readonly Place[] } {
    const { picture, records, size } = this.#standing
    const { uid } = picture.columns
    const opened = new Set(wish.opened)
    const closed = new Set(wish.closed)
    const full = new Set(wish.full)
    const { worst, ill } = this.#below(records.state)
    const before = this.#before(worst)
    const opens = (row: number, depth: number): boolean => depth < openDepth + Number(size <= small) || (depth < troubleDepth && ill[row] === 1)
    const places: Place[] = []
    const below = (parent: number, depth: number): void => {
      const children: number[] = []
      for (let child = this.#first[parent]!; child !== none; child = this.#next[child]!) children.push(child)
      const few = siblingsShown[Math.min(depth, siblingsShown.length - 1)]!
      const whose = parent === this.#top ? 0 : uid[parent]!
      const all = full.has(whose) || children.length <= few + 1
      const order = all ? children.toSorted(before) : firstOf(children, few + 1, before)
      for (const row of all ? order : order.slice(0, few)) {
        const open = this.#first[row] !== none && (opened.has(uid[row]!) || (!closed.has(uid[row]!) && opens(row, depth)))
        places.push({ row, depth, open })
        if (open) below(row, depth + 1)
      }
      if (!all) places.push({ row: order[few]!, depth, open: false, more: this.#together(whose, children, order.slice(0, few)) })
    }
    below(this.#top, 0)
    return { total: places.length, shown: places.slice(wish.offset, wish.offset + wish.count) }
  }

  #together(parent: number, children: readonly number[], shown: readonly number[]): NonNullable<Line['more']> {
    const { queued, waiting, incarnation } = this.#standing.picture.columns
    let messages = 0
    let restarts = 0
    const add = (rows: readonly number[], sign: number): void => {
      for (const row of rows) {
        messages += sign * (queued[row]! + waiting[row]!)
        restarts += sign * incarnation[row]!
      }
    }
    add(children, 1)
    add(shown, -1)
    return { parent, actors: children.length - shown.length, queued: messages, restarts }
  }

  /** Of each the worst that is below it or in it, so that trouble deep down brings its branch to the top; and whether a child of it is or has somebody in trouble. */
  #below(state: Uint8Array): { readonly worst: Float64Array; readonly ill: Uint8Array } {
    const worst = Float64Array.from(this.#key)
    const states = Uint8Array.from(state.subarray(0, this.#top))
    const ill = new Uint8Array(this.#top + 1)
    // Parents before their children, then back: a tree that is a long chain shall not need as deep a stack.
    const order = new Int32Array(this.#rows.length)
    let end = 0
    for (let row = this.#first[this.#top]!; row !== none; row = this.#next[row]!) order[end++] = row
    for (let i = 0; i < end; i++) for (let row = this.#first[order[i]!]!; row !== none; row = this.#next[row]!) order[end++] = row
    for (let i = end - 1; i >= 0; i--) {
      const row = order[i]!
      const above = this.#parent[row]!
      if (states[row]! >= inTrouble) ill[above] = 1
      if (above === this.#top) continue
      if (worst[row]! > worst[above]!) worst[above] = worst[row]!
      if (states[row]! > states[above]!) states[above] = states[row]!
    }
    return { worst, ill }
  }
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
