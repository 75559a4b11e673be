// From a failing list of choices to a simple one: delta debugging over the choices that are not plain. Whole blocks are
// set to 0 first, then ever smaller ones, then what is left is lowered; a candidate counts if it breaks the same promise.

import type { InvariantId } from './violation.ts'

/** What trying a list gave. */
export interface Trial {
  readonly invariant: InvariantId | undefined
  readonly taken: readonly number[]
  readonly steps: number
}

/** The simplest list found within so many trials; `trials` says how many it took. */
export async function shrink(
  failing: readonly number[],
  invariant: InvariantId,
  attempt: (list: readonly number[]) => Promise<Trial>,
  most: number,
): Promise<{ readonly list: readonly number[]; readonly trials: number }> {
  let best = trim(failing)
  let bestSteps = Infinity
  let trials = 0
  const accept = async (candidate: readonly number[]): Promise<boolean> => {
    if (trials >= most) return false
    trials++
    const result = await attempt(candidate)
    if (result.invariant !== invariant) return false
    const taken = trim(result.taken)
    const weight = weightOf(taken)
    if (weight > weightOf(best) || (weight === weightOf(best) && result.steps >= bestSteps && taken.length >= best.length)) return false
    best = taken
    bestSteps = result.steps
    return true
  }
  for (;;) {
    const start = best
    await cutTail(() => best, accept)
    await zeroBlocks(() => best, accept)
    await dropBlocks(() => best, accept)
    await lower(() => best, accept)
    if (start === best) break
  }
  return { list: best, trials }
}

type Best = () => readonly number[]
type Accept = (candidate: readonly number[]) => Promise<boolean>

async function cutTail(best: Best, accept: Accept): Promise<void> {
  for (let keep = 0; keep < best().length; keep = keep === 0 ? 8 : keep * 2) if (await accept(best().slice(0, keep))) return
}

async function zeroBlocks(best: Best, accept: Accept): Promise<void> {
  for (let size = Math.ceil(best().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best().length; at += size) {
      const list = best()
      if (!list.slice(at, at + size).some((v) => v !== 0)) continue
      await accept(list.map((v, i) => (i >= at && i < at + size ? 0 : v)))
    }
  }
}

/** Takes choices out altogether: what followed a choice that is no longer made moves up. */
async function dropBlocks(best: Best, accept: Accept): Promise<void> {
  for (const size of [32, 8, 3, 1]) {
    for (let at = best().length - size; at >= 0; at -= size) {
      const list = best()
      await accept([...list.slice(0, at), ...list.slice(at + size)])
    }
  }
}

async function lower(best: Best, accept: Accept): Promise<void> {
  for (let at = 0; at < best().length; at++) {
    for (const value of [1, Math.floor((best()[at] ?? 0) / 2), (best()[at] ?? 0) - 1]) {
      const list = best()
      const now = list[at] ?? 0
      if (value < 1 || value >= now) continue
      if (await accept(list.map((v, i) => (i === at ? value : v)))) break
    }
  }
}

function trim(list: readonly number[]): readonly number[] {
  let end = list.length
  while (end > 0 && list[end - 1] === 0) end--
  return list.slice(0, end)
}

/** How far from plain: choices that are not 0 count most, then how large they are. */
function weightOf(list: readonly number[]): number {
  let weight = 0
  for (const value of list) if (value !== 0) weight += 1 + Math.min(value, 1000) / 1e6
  return weight
}
