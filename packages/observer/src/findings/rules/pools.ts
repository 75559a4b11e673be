// Siblings of one sort that are to share the work and do not: one takes much longer for a message than the others, and has the longer queue.

import type { Picture } from '../../survey/picture.ts'
import type { Clue } from '../finding.ts'
import { count, duration } from '../words.ts'

const fewest = 3
const largest = 256
const slower = 3
const longer = 3
const queuedLeast = 20
const handledLeast = 20

/** Looks at those of whom something was said, and at their siblings. */
export function* poolClues(picture: Picture, told: Iterable<number>, siblingsOf: (parent: number) => readonly number[]): Iterable<Clue> {
  const seen = new Set<number>()
  for (const uid of told) {
    const actor = picture.actor(uid)
    if (actor === undefined || actor.queued < queuedLeast || seen.has(actor.parent)) continue
    const size = picture.children.get(actor.parent) ?? 0
    if (size < fewest || size > largest) continue
    seen.add(actor.parent)
    const pool = siblingsOf(actor.parent)
      .map((sibling) => picture.actor(sibling))
      .filter((a) => a !== undefined && a.processed >= handledLeast)
      .map((a) => ({ uid: a!.uid, each: a!.busy / a!.processed, queued: a!.queued }))
    if (pool.length < fewest) continue
    const each = median(pool.map((a) => a.each))
    const queued = median(pool.map((a) => a.queued))
    const worst = pool.reduce((w, a) => (a.each > w.each ? a : w))
    if (worst.each < slower * each || worst.queued < queuedLeast || worst.queued < longer * Math.max(1, queued)) continue
    yield uneven(actor.parent, worst, each, queued, picture.get(worst.uid, 'growsSince'))
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

function uneven(
  parent: number,
  worst: { readonly uid: number; readonly each: number; readonly queued: number },
  each: number,
  queued: number,
  since: number,
): Clue {
  const factor = each === 0 ? worst.each : worst.each / each
  return {
    rule: 'uneven-pool',
    severity: 'warning',
    key: String(parent),
    uids: [parent, worst.uid],
    since,
    evidence: { msPerMessage: Number(worst.each.toPrecision(3)), median: Number(each.toPrecision(3)), queued: worst.queued, medianQueued: queued },
    tell: (nameOf) => ({
      subject: nameOf(parent),
      sentence: `${nameOf(worst.uid)} takes ${each === 0 ? duration(worst.each) : `${count(factor)} × as long`} for a message as its siblings, and has ${count(worst.queued)} queued where they have ${count(queued)}: a rule that looks at queues would spare it`,
    }),
  }
}
