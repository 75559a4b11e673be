// What of one actor is shown to somebody who looks at it alone: words and numbers, no message.

import type { ActorSnapshot } from '@troupe/core'
import { type ActorName, type Cell, kindOfActor, labelOfActor, MessageRing, pathOf, typeOf, type Wait } from '@troupe/core/internal'
import { causeText } from '../findings/events.ts'

const childrenShown = 100
const namesShown = 20
const timersLookedAt = 1000
const longestKey = 200

/** A timer that an actor has set. */
export interface TimerDetail {
  readonly key: string
  /** Milliseconds until it is due; 0 where its message is in the mailbox, or it is late. */
  readonly due: number
  /** Milliseconds between two; undefined of one that comes once. */
  readonly every: number | undefined
  /** The type of its message. */
  readonly type: string
}

/** What of an actor is shown to somebody who looks at it alone. */
export type ActorDetail = Omit<ActorSnapshot, 'children' | 'recent' | 'waiting'> & {
  readonly kind: string
  readonly label: string | undefined
  readonly waiting: { readonly reason: string; readonly ms: number; readonly cause: string | undefined } | undefined
  readonly children: readonly { readonly path: string; readonly phase: string; readonly queued: number }[]
  readonly childCount: number
  /** Questions that it asked, and that it is asked. */
  readonly waits: readonly Wait[]
  /** How many watch it; of an actor below one on another thread undefined. */
  readonly watchers: number | undefined
  /** Paths of the first who watch it, and of the first whom it watches. */
  readonly watchedBy: readonly string[]
  readonly watching: readonly string[]
  /** How many timers it has set, and the first of them, by key, those first that are due next. Undefined of an actor on another thread: it has them there. */
  readonly timers: number | undefined
  readonly timersSet: readonly TimerDetail[]
  /** The type of the message that it takes next, where its mailbox tells. */
  readonly nextType: string | undefined
}

export function detailOf(cell: Cell, snapshot: ActorSnapshot, waits: readonly Wait[]): ActorDetail {
  const { extras } = cell
  return {
    ...seenFrom(snapshot, snapshot.children.length > 0 ? snapshot.children : childrenOf(cell), waits),
    kind: kindOfActor(cell),
    label: labelOfActor(cell),
    childCount: Math.max(snapshot.children.length, cell.children?.size ?? 0),
    watchers: extras?.watchers?.size ?? 0,
    watchedBy: firstOf(extras?.watchers ?? [], ({ ref }) => ref.path),
    watching: firstOf(extras?.watching?.keys() ?? [], pathOf),
    ...(snapshot.thread === undefined && { timers: extras?.timers?.timers.size ?? 0, timersSet: timersOf(cell), nextType: nextType(cell) }),
  }
}

/** Of one of which this thread has nothing: what its own said. */
export function detailElsewhere(snapshot: ActorSnapshot, name: Pick<ActorName, 'kind' | 'label'> | undefined, waits: readonly Wait[]): ActorDetail {
  return { ...seenFrom(snapshot, snapshot.children, waits), kind: name?.kind ?? '', label: name?.label || undefined }
}

type Child = Pick<ActorSnapshot, 'path' | 'phase' | 'queued'>

function seenFrom(snapshot: ActorSnapshot, below: readonly Child[], waits: readonly Wait[]): Omit<ActorDetail, 'kind' | 'label'> {
  const { children: _children, recent: _recent, waiting, ...own } = snapshot
  return {
    ...own,
    waiting: waiting === undefined ? undefined : { ...waiting, cause: waiting.cause === undefined ? undefined : causeText(waiting.cause) },
    children: below.slice(0, childrenShown).map(({ path, phase, queued }) => ({ path, phase, queued })),
    childCount: below.length,
    waits: waits.filter((wait) => wait.asker === own.uid || wait.target === own.uid),
    watchers: undefined,
    watchedBy: [],
    watching: [],
    timers: undefined,
    timersSet: [],
    nextType: undefined,
  }
}

/** Only so many are looked at: there may be a hundred thousand, and somebody waits. */
function timersOf({ extras, host }: Cell): TimerDetail[] {
  const found: TimerDetail[] = []
  const now = host.runtime.now()
  for (const [key, { at, period, message }] of extras?.timers?.timers ?? []) {
    if (found.length >= timersLookedAt) break
    found.push({ key: key.slice(0, longestKey), due: Math.max(0, at - now), every: period === 0 ? undefined : period, type: typeOf(message) })
  }
  return found.sort((a, b) => a.due - b.due).slice(0, namesShown)
}

function firstOf<T>(all: Iterable<T>, name: (one: T) => string): string[] {
  const names: string[] = []
  for (const one of all) {
    if (names.length >= namesShown) break
    names.push(name(one))
  }
  return names
}

function childrenOf(cell: Cell): Child[] {
  const found = []
  const { path } = cell.ref
  for (let child = cell.children?.first; child !== undefined && found.length < childrenShown; child = child.next)
    found.push({ path: `${path}/${child.ref.segment}`, phase: child.phaseSeen, queued: child.queuedMessages })
  return found
}

/** Only of a plain mailbox: others may hand out another one first. */
function nextType(cell: Cell): string | undefined {
  const { queue } = cell
  // One that came alone stands before the ring; only the cell itself may take it from there, and it is only looked at here.
  const { slot } = cell as unknown as { readonly slot?: unknown }
  const next = slot ?? (queue instanceof MessageRing ? queue.at(0) : undefined)
  return next === undefined ? undefined : typeOf(next)
}
