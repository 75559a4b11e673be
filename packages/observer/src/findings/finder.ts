// Findings from one look after another. Pure in what it does: it has no clock, asks nobody, and the same frames give the same findings.
// What a finding is about is known by number; names are asked for once it is clear whose are needed.

import { checkFunction, checkList, readOptions, type Table, unreadable } from '@troupe/core/internal'
import { Picture } from '../survey/picture.ts'
import { type Clue, type Finding, findingOf, type Names, type RuleName } from './finding.ts'
import type { Frame } from './frame.ts'
import { Happenings } from './rules/happenings.ts'
import { journalClues } from './rules/journals.ts'
import { mailboxClues } from './rules/mailboxes.ts'
import { poolClues } from './rules/pools.ts'
import { Totals } from './rules/totals.ts'
import { waitClues } from './rules/waiting.ts'

/** What was noticed in the last frame, before it has names. */
export interface Noticed {
  /** Whose names the sentences need. */
  readonly uids: ReadonlySet<number>
  /** The sentences, the worst first. */
  tell(names: Names): readonly Finding[]
}

/** What is never said: a rule, or one finding by its id. */
export type Muted = ReadonlySet<string>

export class Finder {
  readonly picture: Picture
  readonly #happenings = new Happenings()
  readonly #totals = new Totals()
  readonly #since = new Map<string, number>()

  constructor(picture: Picture = new Picture()) {
    this.picture = picture
  }

  look(frame: Frame): Noticed {
    const { picture } = this
    // What was found in the last survey holds until the next.
    const told = frame.surveyed === false ? picture.told : picture.take(frame.at, frame.parts, frame.silent)
    this.#happenings.hear(frame.events, frame.processor)
    const waiting = [...waitClues(frame.waits, frame.at)]
    const circles = new Set(waiting.filter(({ rule }) => rule === 'wait-cycle').flatMap(({ uids }) => uids))
    const clues: Clue[] = [
      ...waiting,
      ...mailboxClues(picture, told, circles),
      ...poolClues(picture, told, (parent) => this.#childrenOf(parent)),
      ...this.#happenings.clues(frame.at),
      ...this.#totals.clues(frame, picture),
      ...journalClues(frame.journals ?? [], frame.at),
    ]
    const since = this.#remember(clues)
    const uids = new Set(clues.flatMap((clue) => [...clue.uids, ...(clue.asks ?? [])]))
    return {
      uids,
      tell: (names) => {
        const found = clues.map((clue, i) => findingOf(clue, since[i]!, names)).filter((finding) => finding !== undefined)
        return found.toSorted(worstFirst)
      },
    }
  }

  /** Their rows. */
  #childrenOf(parent: number): number[] {
    const rows: number[] = []
    const { columns, used } = this.picture
    for (let row = 0; row < used; row++) if (columns.parent[row] === parent && columns.uid[row] !== 0) rows.push(row)
    return rows
  }

  /** Since when each has been found: a window that moves on does not make it younger. */
  #remember(clues: readonly Clue[]): number[] {
    const present = new Set<string>()
    const since = clues.map((clue) => {
      const key = `${clue.rule}:${clue.key}`
      present.add(key)
      const known = Math.min(this.#since.get(key) ?? Infinity, clue.since)
      this.#since.set(key, known)
      return known
    })
    for (const key of this.#since.keys()) if (!present.has(key)) this.#since.delete(key)
    return since
  }
}

function worstFirst(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1
  return a.since - b.since || (a.id < b.id ? -1 : 1)
}

/**
 * Whether a finding is muted: by its id, or by its rule.
 *
 * @example
 * const heard = findings.filter((finding) => !isMuted(finding, new Set(['late-replies', 'drops:middleware'])))
 */
export function isMuted(finding: Pick<Finding, 'id' | 'rule'>, muted: Muted): boolean {
  return muted.has(finding.id) || muted.has(finding.rule)
}

/** What actors are called, and what is not said. */
export interface FindingsOptions {
  /** What a finding calls an actor; its number if left out. */
  readonly nameOf?: ((uid: number) => string | undefined) | undefined
  /** What sort an actor is of: only those of one sort are compared with each other. All are of one if it is left out. */
  readonly kindOf?: ((uid: number) => string | undefined) | undefined
  /** Rules, or findings by their ids. */
  readonly mute?: readonly (RuleName | (string & {}))[] | undefined
}

const table: Table<FindingsOptions> = {
  nameOf: checkFunction,
  kindOf: checkFunction,
  mute: (option, value) => checkList(option, value, (one) => typeof one === 'string', 'texts'),
}

/**
 * The findings after the last of these frames.
 *
 * Guarantees: a pure function: no clock, no system. Findings whose id or rule is muted are left out; the worst come first. Fails: with
 * `InvalidOption` on what are not frames.
 *
 * @example
 * const found = findings(frames, { mute: ['late-replies'], nameOf: (uid) => names.get(uid) })
 */
export function findings(frames: Iterable<Frame>, options: FindingsOptions = {}): readonly Finding[] {
  const { mute = [], nameOf, kindOf } = readOptions('findings', options, table)
  const muted = new Set<string>(mute)
  const finder = new Finder()
  let noticed: Noticed | undefined
  try {
    for (const frame of frames) noticed = finder.look(frame)
  } catch (cause) {
    throw unreadable('frames', frames, cause)
  }
  const names: Names = { of: (uid) => nameOf?.(uid) ?? `actor ${uid}`, kindOf: (uid) => kindOf?.(uid) }
  return (noticed?.tell(names) ?? []).filter((finding) => !isMuted(finding, muted))
}
