// Mailboxes that only grow, and why: handlers that take too long, or actors that would be quick enough and do not get their turn. And
// handlers that do not come to an end, and stashes that nobody takes up again.

import type { Columns, Picture, SeenActor } from '../../survey/picture.ts'
import type { Clue } from '../finding.ts'
import { count, duration, times } from '../words.ts'

/** How long a mailbox must not have become shorter, by how many it must have grown, and from where on it is serious. */
const growsFor = 5000
const growsBy = 100
const serious = 10_000
/** Whoever would need less than half of a thread for all that comes, and has less than a fifth of it, does not get its turn. */
const enough = 0.5
const smallShare = 0.2
const pendingFor = 10_000
const stashFor = 30_000

/** What is wrong with the actors in these rows; that a handler of those is pending whose circle is known needs no saying. */
export function mailboxClues(picture: Picture, told: Uint32Array, explained: ReadonlySet<number>): readonly Clue[] {
  const { at, columns } = picture
  const clues: Clue[] = []
  // By index: to go through a hundred thousand by an iterator takes three times as long.
  for (let i = 0; i < told.length; i++) {
    const row = told[i]!
    if (maybe(columns, row)) clues.push(...cluesOf(row, picture.actorIn(row), columns, at, explained))
  }
  return clues
}

/** Most have nothing of the sort: they are told by a number or three. */
function maybe({ queued, waiting, stashed, pendingSince }: Columns, row: number): boolean {
  return queued[row]! + waiting[row]! >= growsBy || stashed[row] !== 0 || !Number.isNaN(pendingSince[row])
}

function* cluesOf(row: number, actor: SeenActor, columns: Columns, at: number, explained: ReadonlySet<number>): Iterable<Clue> {
  const { uid, pendingSince } = actor
  if (uid === 0) return
  if (pendingSince !== undefined && at - pendingSince >= pendingFor && !explained.has(uid)) yield pending(uid, at, pendingSince, actor.queued)
  const stashSince = columns.stashSince[row]!
  if (actor.stashed > 0 && at - stashSince >= stashFor) yield stash(uid, at, stashSince, actor.stashed)
  const since = columns.growsSince[row]!
  const grown = actor.queued - columns.growsFrom[row]!
  if (at - since < growsFor || grown < growsBy) return
  const handled = actor.processed - columns.growsDone[row]!
  const busy = actor.busy - columns.growsBusy[row]!
  yield grows(uid, at, since, { queued: actor.queued, grown, handled, busy, pending: pendingSince !== undefined })
}

function pending(uid: number, at: number, since: number, queued: number): Clue {
  return {
    rule: 'handler-pending',
    severity: 'error',
    key: String(uid),
    uids: [uid],
    since,
    evidence: { ms: Math.round(at - since), queued },
    tell: (names) => ({
      subject: names.of(uid),
      sentence: `its handler has been waiting for ${duration(at - since)}${queued > 0 ? `, and behind it ${queued === 1 ? 'waits' : 'wait'} ${times(queued, 'message')}` : ''}`,
    }),
  }
}

function stash(uid: number, at: number, since: number, stashed: number): Clue {
  return {
    rule: 'stash-unchanged',
    severity: 'warning',
    key: String(uid),
    uids: [uid],
    since,
    evidence: { stashed, ms: Math.round(at - since) },
    tell: (names) => ({ subject: names.of(uid), sentence: `${times(stashed, 'message')} in its stash, unchanged for ${duration(at - since)}` }),
  }
}

interface Growth {
  readonly queued: number
  readonly grown: number
  readonly handled: number
  readonly busy: number
  readonly pending: boolean
}

function grows(uid: number, at: number, since: number, { queued, grown, handled, busy, pending: isPending }: Growth): Clue {
  const seconds = (at - since) / 1000
  const each = handled === 0 ? 0 : busy / handled
  const share = busy / (at - since)
  const needs = (((grown + handled) / seconds) * each) / 1000
  const starved = !isPending && handled > 0 && needs < enough && share < smallShare
  const rate = grown / seconds
  const evidence = {
    queued,
    perSecond: Math.round(rate),
    handledPerSecond: Math.round(handled / seconds),
    msPerMessage: Number(each.toPrecision(3)),
    share: Number(share.toPrecision(3)),
    needs: Number(needs.toPrecision(3)),
  }
  const how = `${count(queued)} queued, +${count(Math.max(1, rate))}/s for ${duration(at - since)}`
  const why = starved
    ? `; its handler takes only ${duration(each)}, but it had ${Math.max(1, Math.round(share * 100))} % of the time: others keep the thread busy`
    : handled === 0
      ? isPending
        ? '; its handler is pending'
        : '; it handles nothing'
      : isPending
        ? `; it handles ${count(handled / seconds)}/s, for its handler waits for something each time`
        : `; its handler takes ${duration(each)}, which is ${count(each === 0 ? handled / seconds : 1000 / each)}/s at most`
  return {
    rule: starved ? 'starved' : 'mailbox-grows',
    severity: starved || queued >= serious || handled === 0 ? 'error' : 'warning',
    key: String(uid),
    uids: [uid],
    since,
    evidence,
    tell: (names) => ({ subject: names.of(uid), sentence: how + why }),
  }
}
