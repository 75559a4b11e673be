// What is seen in observations rather than in a survey: turns that hold the loop, restarts in rows, dead letters and who they come from.

import type { Clue } from '../finding.ts'
import type { ProcessorTime, SeenEvent } from '../frame.ts'
import { type Lately, Window } from '../window.ts'
import { duration, sortOf, times } from '../words.ts'

const lately = 60_000
const stormSpan = 10_000
/** Failures of one actor, and of one cause over several, that are a storm. */
const stormOfOne = 3
const stormOfMany = 10
const slowTurns = 3
const slowTurn = 100
const letters = 10
const lateReplies = 3

export class Happenings {
  readonly #slow = new Window(lately)
  readonly #failed = new Window(stormSpan)
  readonly #causes = new Window(stormSpan)
  readonly #letters = new Window(lately)
  readonly #late = new Window(lately)
  /** Failures that ended an actor for good, lately. */
  readonly #ends = new Window(stormSpan)

  /** Hears what was observed between two frames, and how the thread spent its busy time between them. */
  hear(events: readonly SeenEvent[], { ran, waited }: ProcessorTime = { ran: 1, waited: 0 }): void {
    const slow = events.reduce((sum, { type, ms = 0 }) => (type === 'turn.slow' ? sum + ms : sum), 0)
    // Even if all of the waiting was in slow turns, this share of them was work; if it was spread evenly, the other one was.
    const atLeast = slow === 0 ? 1 : 1 - waited / slow
    const evenly = waited === 0 ? 1 : ran / (ran + waited)
    const worked = Math.max(atLeast, evenly)
    for (const event of events) this.#hear(event, worked)
  }
  /** `worked`: the share of the time of slow turns that waiting for a core does not explain. */
  #hear(event: SeenEvent, worked: number): void {
    const { type, at, uid, path = '' } = event
    if (type === 'turn.slow') {
      const ms = (event.ms ?? 0) * worked
      // A turn that was slow because others had the processor is not one that held the loop.
      if (worked >= 0.5 || ms >= slowTurn) this.#slow.add(path, at, ms, uid)
    } else if (type === 'actor.failed') {
      const cause = sortOf(event.cause ?? 'unknown')
      this.#failed.add(path, at, 0, uid, cause)
      this.#causes.add(cause, at, 0, uid, path)
      if (event.directive === 'stop' || event.directive === 'escalate') this.#ends.add(path, at)
    } else if (type === 'message.dead') {
      if (event.reason === 'late-reply') this.#late.add(path, at, 0, uid)
      else this.#letters.add(`${event.sender ?? 'outside'} → ${path === '' ? 'nobody' : path} (${event.reason ?? 'unknown'})`, at, 0, uid)
    }
  }

  *clues(now: number): Iterable<Clue> {
    for (const entry of this.#slow.at(now)) if (entry.count >= slowTurns || entry.greatest >= slowTurn) yield holds(entry)
    yield* this.#storms(now)
    for (const entry of this.#letters.at(now)) if (entry.count >= letters) yield dead(entry)
    for (const entry of this.#late.at(now)) if (entry.count >= lateReplies) yield late(entry)
  }

  *#storms(now: number): Iterable<Clue> {
    const ended = new Set(this.#ends.at(now).map(({ key }) => key))
    const told = new Set<string>()
    for (const entry of this.#causes.at(now)) {
      if (entry.count < stormOfMany || entry.paths.size < 2) continue
      for (const path of entry.paths) told.add(path)
      yield byCause(
        entry,
        [...entry.paths].some((path) => ended.has(path)),
      )
    }
    for (const entry of this.#failed.at(now)) if (entry.count >= stormOfOne && !told.has(entry.key)) yield byActor(entry, ended.has(entry.key))
  }
}

function holds({ key, count, greatest, first, uids }: Lately): Clue {
  return {
    rule: 'holds-loop',
    severity: 'warning',
    key,
    uids: [...uids],
    since: first,
    evidence: { turns: count, longest: Math.round(greatest) },
    tell: () => ({
      subject: key,
      sentence: `${times(count, 'turn')} held the thread, the longest for ${duration(greatest)}; all other actors of it waited`,
    }),
  }
}

function byCause({ key, count, first, uids, paths }: Lately, ended: boolean): Clue {
  const [path] = paths
  return {
    rule: 'restart-storm',
    severity: ended ? 'error' : 'warning',
    key: `cause ${key}`,
    uids: [...uids],
    since: first,
    evidence: { failures: count, actors: paths.size, cause: key },
    tell: () => ({
      subject: `“${key}”`,
      sentence: `${times(count, 'failure')} of ${times(paths.size, 'actor')}${ended ? ', some of which were given up' : ', all restarted'}; the first of them ${path}`,
    }),
  }
}

function byActor({ key, count, first, uids, paths }: Lately, ended: boolean): Clue {
  const [cause] = paths
  return {
    rule: 'restart-storm',
    severity: ended ? 'error' : 'warning',
    key,
    uids: [...uids],
    since: first,
    evidence: { failures: count, cause: cause ?? '' },
    tell: () => ({ subject: key, sentence: `${times(count, 'failure')} within ${duration(stormSpan)}${ended ? ', then given up' : ''}: “${cause}”` }),
  }
}

function dead({ key, count, first, uids }: Lately): Clue {
  return {
    rule: 'dead-letters',
    severity: 'warning',
    key,
    uids: [...uids],
    since: first,
    evidence: { letters: count },
    tell: () => ({ subject: key, sentence: `${times(count, 'message')} within a minute reached nobody` }),
  }
}

function late({ key, count, first, uids }: Lately): Clue {
  return {
    rule: 'late-replies',
    severity: 'warning',
    key,
    uids: [...uids],
    since: first,
    evidence: { replies: count },
    tell: () => ({
      subject: key.replace(/^\/ask/, ''),
      sentence: `${times(count, 'answer')} within a minute came after the question was given up: the timeout is too short, or the answer takes too long`,
    }),
  }
}
