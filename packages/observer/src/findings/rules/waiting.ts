// Circles of actors that wait for each other, and chains of questions that are long: the last answers before all others do.

import type { Wait } from '@troupe/core/internal'
import type { Clue } from '../finding.ts'
import { duration } from '../words.ts'

/** Questions that may stand one behind the other. */
const longestChain = 5

/** Of the questions under way: only those count whose askers stand still until they are answered. */
export function* waitClues(waits: readonly Wait[], at: number): Iterable<Clue> {
  const from = new Map<number, Wait>()
  // Of several questions of one handler the oldest tells most.
  for (const wait of waits) if (wait.binds && wait.asker !== undefined && wait.ms > (from.get(wait.asker)?.ms ?? -1)) from.set(wait.asker, wait)
  const done = new Set<number>()
  let longest: readonly Wait[] = []
  for (const start of from.keys()) {
    if (done.has(start)) continue
    const { chain, cycle } = follow(from, start)
    if (cycle !== undefined && !cycle.some((wait) => done.has(wait.asker!))) yield circle(cycle, at)
    for (const wait of cycle ?? []) done.add(wait.asker!)
    if (cycle === undefined && chain.length > longest.length) longest = chain
  }
  if (longest.length > longestChain) yield long(longest, at)
}

/** Who waits for whom from here on, until somebody waits for nobody, or for one of those before. */
function follow(from: ReadonlyMap<number, Wait>, start: number): { readonly chain: readonly Wait[]; readonly cycle: readonly Wait[] | undefined } {
  const chain: Wait[] = []
  const seen = new Map<number, number>()
  for (let wait = from.get(start); wait !== undefined; wait = from.get(wait.target)) {
    const known = seen.get(wait.asker!)
    if (known !== undefined) return { chain, cycle: chain.slice(known) }
    seen.set(wait.asker!, chain.length)
    chain.push(wait)
  }
  return { chain, cycle: undefined }
}

const last = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function circle(cycle: readonly Wait[], at: number): Clue {
  // It is closed since the youngest of its questions.
  const ms = Math.min(...cycle.map((wait) => wait.ms))
  // From the lowest number on, so that it is the same circle wherever it was found.
  const first = cycle.reduce((least, wait, i) => (wait.asker! < cycle[least]!.asker! ? i : least), 0)
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)]
  const names = [...turned.map((wait) => last(wait.askerPath!)), last(turned[0]!.askerPath!)]
  return {
    rule: 'wait-cycle',
    severity: 'error',
    key: turned.map((wait) => wait.asker).join('→'),
    uids: turned.map((wait) => wait.asker!),
    since: at - ms,
    evidence: { actors: cycle.length, ms: Math.round(ms), paths: turned.map((wait) => wait.askerPath).join(' → ') },
    tell: () => ({ subject: names.join(' → '), sentence: `each waits for the answer of the next, for ${duration(ms)}` }),
  }
}

function long(chain: readonly Wait[], at: number): Clue {
  const names = [...chain.map((wait) => last(wait.askerPath!)), last(chain.at(-1)!.targetPath)]
  const ms = chain[0]!.ms
  return {
    rule: 'ask-chain',
    severity: 'warning',
    key: String(chain[0]!.asker),
    uids: chain.map((wait) => wait.asker!),
    since: at - ms,
    evidence: { questions: chain.length, ms: Math.round(ms) },
    tell: () => ({
      subject: names.join(' → '),
      sentence: `${chain.length} questions stand one behind the other, the first for ${duration(ms)}: all of them wait for ${names.at(-1)}`,
    }),
  }
}
