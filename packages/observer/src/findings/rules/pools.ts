// Siblings of one sort that are to share the work and do not: one takes much longer for a message than the others, and has the longer queue.

import type { Picture } from '../../survey/picture.ts'
import type { Clue } from '../finding.ts'
import { count, duration, grouped } from '../words.ts'

const fewest = 3
const largest = 256
const slower = 3
const longer = 3
const queuedLeast = 20
const handledLeast = 20

/** Looks at those in these rows, and at their siblings. */
export function poolClues(picture: Picture, told: Uint32Array, siblingsOf: (parent: number) => readonly number[]): readonly Clue[] {
  const seen = new Set<number>()
  const clues: Clue[] = []
  const { queued, waiting, parent: parents, uid } = picture.columns
  for (let i = 0; i < told.length; i++) {
    const row = told[i]!
    if (queued[row]! + waiting[row]! < queuedLeast || uid[row] === 0) continue
    const parent = parents[row]!
    if (seen.has(parent)) continue
    const size = picture.children.get(parent) ?? 0
    if (size < fewest || size > largest) continue
    seen.add(parent)
    const pool = siblingsOf(parent)
      .map((sibling) => picture.actorIn(sibling))
      .filter((a) => a.processed >= handledLeast)
      .map((a) => ({ uid: a.uid, each: a.busy / a.processed, queued: a.queued }))
    if (pool.length < fewest) continue
    clues.push(uneven(parent, pool, (sibling) => picture.get(sibling, 'growsSince')))
  }
  return clues
}

interface Worker {
  readonly uid: number
  readonly each: number
  readonly queued: number
}

/** The one that stands out of those that are of one kind with it; undefined where none does. */
function standsOut(pool: readonly Worker[]): { readonly worst: Worker; readonly each: number; readonly queued: number } | undefined {
  if (pool.length < fewest) return undefined
  const each = median(pool.map((a) => a.each))
  const queued = median(pool.map((a) => a.queued))
  const worst = pool.reduce((w, a) => (a.each > w.each ? a : w))
  if (worst.each < slower * each || worst.queued < queuedLeast || worst.queued < longer * Math.max(1, queued)) return undefined
  return { worst, each, queued }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

/** Siblings of different kinds are no pool, and kinds are known with the names: what stands out is found then. */
function uneven(parent: number, pool: readonly Worker[], sinceOf: (uid: number) => number): Clue {
  const longest = pool.reduce((w, a) => (a.queued > w.queued ? a : w))
  return {
    rule: 'uneven-pool',
    severity: 'warning',
    key: String(parent),
    uids: [parent],
    asks: pool.map(({ uid }) => uid),
    since: sinceOf(longest.uid),
    evidence: {},
    tell: (names) => {
      const kinds = grouped(pool, ({ uid }) => names.kindOf(uid) ?? '')
      for (const workers of kinds.values()) {
        const found = standsOut(workers)
        if (found === undefined) continue
        const { worst, each, queued } = found
        const factor = each === 0 ? worst.each : worst.each / each
        return {
          uids: [parent, worst.uid],
          evidence: {
            msPerMessage: Number(worst.each.toPrecision(3)),
            median: Number(each.toPrecision(3)),
            queued: worst.queued,
            medianQueued: queued,
          },
          subject: names.of(parent),
          sentence: `${names.of(worst.uid)} takes ${each === 0 ? duration(worst.each) : `${count(factor)} × as long`} for a message as its siblings, and has ${count(worst.queued)} queued where they have ${count(queued)}: a rule that looks at queues would spare it`,
        }
      }
      return undefined
    },
  }
}
