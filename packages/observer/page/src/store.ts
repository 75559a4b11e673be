// What the page knows: the rounds of the last five minutes, which of them is shown, and where the page is. Views read it; the connection
// and the footer write it.

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import { CellField } from '../../src/feed/cells.ts'
import type { FeedFrame } from '../../src/feed/frames.ts'
import { type Hello, type RoundNews, type View, views } from '../../src/feed/news.ts'

export interface CellsSeen {
  readonly uids: readonly number[]
  readonly state: Uint8Array
}
/** One round as it is kept: what a round does not tell again is carried on from the one before. */
export interface Moment {
  readonly round: RoundNews
  readonly cells: CellsSeen | undefined
  /** Messages handled in a second. */
  readonly rate: number
}

const kept = 300
/** Of more actors than this only the newest picture is kept. */
const cellsKept = 20_000

export const hello = signal<Hello | undefined>(undefined)
export const moments = signal<readonly Moment[]>([])
/** The number of the round that is shown; undefined: always the last. */
export const cursor = signal<number | undefined>(undefined)
export const link = signal<'connecting' | 'live' | 'lost' | 'hidden' | 'denied' | 'ended' | 'report'>('connecting')
/** Rounds and observations that are missing in what is kept. */
export const losses = signal({ rounds: 0, events: 0 })
export const view = signal<View>('overview')
export const selected = signal<number | undefined>(undefined)
/** The title of the page of somebody's own that is open. */
export const own = signal<string | undefined>(undefined)
/** What actors are searched for. */
export const filter = signal('')
export const marks = signal<readonly { readonly seq: number; readonly at: number }[]>([])

export const shown: ReadonlySignal<Moment | undefined> = computed(() => {
  const all = moments.value
  const at = cursor.value
  return at === undefined ? all.at(-1) : (all.find(({ round }) => round.seq >= at) ?? all.at(-1))
})
/** What was before the moment that is shown, and that one. */
export const past: ReadonlySignal<readonly Moment[]> = computed(() => {
  const at = cursor.value
  return at === undefined ? moments.value : moments.value.filter(({ round }) => round.seq <= at)
})
export const paused: ReadonlySignal<boolean> = computed(() => cursor.value !== undefined)

const field = new CellField()

export function take(frame: FeedFrame): void {
  switch (frame.kind) {
    case 'hello':
      hello.value = frame.hello
      document.title = `${frame.hello.system} – Troupe`
      return
    case 'round':
      return takeRound(frame.round)
    case 'cells':
      field.take(frame.cells)
      return replaceLast({ cells: field.sorted() })
    case 'end':
      link.value = 'ended'
  }
}

function takeRound(round: RoundNews): void {
  const all = moments.value
  const last = all.at(-1)
  batch(() => {
    // Told again after a change of view: what that view wants is added to what is known.
    if (last !== undefined && round.seq === last.round.seq)
      return replaceLast({ round: { ...last.round, ...defined(round), events: last.round.events } })
    const follows = last !== undefined && round.seq > last.round.seq
    const passed = follows ? Math.max(1, round.at - last.round.at) / 1000 : 0
    const missed = follows ? round.seq - last.round.seq - 1 : 0
    if (missed > 0 || round.lost > 0 || round.eventsLeftOut > 0)
      losses.value = { rounds: losses.value.rounds + missed, events: losses.value.events + round.lost + round.eventsLeftOut }
    const ledger = round.ledger ?? (follows ? last.round.ledger : undefined)
    const rate = passed === 0 ? 0 : Math.max(0, round.figures.handled - last!.round.figures.handled) / passed
    const before = follows ? thinned(all) : []
    moments.value = [...before, { round: { ...round, ledger }, cells: follows ? last.cells : undefined, rate }]
  })
}

function thinned(all: readonly Moment[]): Moment[] {
  const rest = all.slice(1 - kept)
  return rest.map((moment, i) => (i < rest.length - 1 && (moment.cells?.uids.length ?? 0) > cellsKept ? bare(moment) : moment))
}

const bare = ({ round, rate }: Moment): Moment => ({ round, rate, cells: undefined })

function replaceLast(more: Partial<Moment>): void {
  const all = moments.value
  const last = all.at(-1)
  if (last !== undefined) moments.value = [...all.slice(0, -1), { ...last, ...more }]
}
function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as Partial<T>
}

/** From the part of the address that stays here. */
export function follow(hash: string): void {
  const [name, uid] = hash.replace(/^#\//, '').split('/')
  batch(() => {
    view.value = views.find((one) => one === name) ?? 'overview'
    if (uid !== undefined && /^\d+$/.test(uid)) selected.value = Number(uid)
    if (uid?.startsWith('~') === true) filter.value = textIn(uid.slice(1))
    if (view.value === 'own' && uid !== undefined) own.value = textIn(uid)
  })
}
/** What an address says; as it is where it is no escape. */
function textIn(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
/** To a page of somebody's own. */
export const linkToOwn = (title: string): string => `#/own/${encodeURIComponent(title)}`
/** To all of a kind. */
export const linkToKind = (kind: string): string => `#/actors/~${encodeURIComponent(kind)}`
export const linkTo = (to: View, uid?: number): string => `#/${to}${uid === undefined ? '' : `/${uid}`}`
