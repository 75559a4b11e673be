// From a failing run to a simple one: delta debugging, first over the actions from outside, then over the choices that are
// not plain, by maker and in ever smaller blocks; then what is left is lowered. A candidate counts if it breaks the same
// promise in fewer steps, or in as many with plainer choices.

import { makers, type Recording } from './choices.ts'
import type { InvariantId } from './violation.ts'

/** What trying a run gave. */
export interface Trial {
  readonly invariant: InvariantId | undefined
  readonly recording: Recording
  readonly steps: number
  /** What it took to find out: about so many events. */
  readonly cost: number
}

/** All trials together see no more events than this: runs without end are long. */
const mostEvents = 3_000_000

/** A choice that is not plain: whose, and which. */
type Place = readonly [maker: number, index: number]

/** The simplest run found within so many trials; `trials` says how many it took. */
export async function shrink(
  failing: Recording,
  steps: number,
  invariant: InvariantId,
  attempt: (recording: Recording) => Promise<Trial>,
  most: number,
): Promise<{ readonly recording: Recording; readonly trials: number }> {
  const shrinker = new Shrinker(failing, steps, invariant, attempt, most)
  await shrinker.run()
  return { recording: shrinker.best, trials: shrinker.trials }
}

class Shrinker {
  best: Recording
  trials = 0
  #cost = 0
  #steps: number
  #weight: number
  readonly #invariant: InvariantId
  readonly #attempt: (recording: Recording) => Promise<Trial>
  readonly #most: number
  constructor(failing: Recording, steps: number, invariant: InvariantId, attempt: (recording: Recording) => Promise<Trial>, most: number) {
    this.best = failing
    // What is plainer and longer is no simpler: a run that was cut short by chance goes on for long when all is plain.
    this.#steps = steps
    this.#weight = weightOf(failing)
    this.#invariant = invariant
    this.#attempt = attempt
    this.#most = most
  }

  async run(): Promise<void> {
    for (let before: Recording | undefined; before !== this.best && !this.#isOver;) {
      before = this.best
      await this.#plainMakers()
      await this.#withoutActions()
      await this.#plainBlocks()
      await this.#dropBlocks()
      await this.#lower()
    }
  }

  get #isOver(): boolean {
    return this.trials >= this.#most || this.#cost >= mostEvents
  }

  /** Whether a candidate is simpler and breaks the same promise; then it is the best. */
  async #accept(candidate: Recording): Promise<boolean> {
    if (this.#isOver) return false
    this.trials++
    const { invariant, recording, steps, cost } = await this.#attempt(candidate)
    this.#cost += cost
    if (invariant !== this.#invariant) return false
    const weight = weightOf(recording)
    if (steps > this.#steps || (steps === this.#steps && weight >= this.#weight)) return false
    this.best = trimmed(recording)
    this.#steps = steps
    this.#weight = weight
    return true
  }

  /** Everything plain that one maker chose. */
  async #plainMakers(): Promise<void> {
    await this.#accept({ of: new Map(), without: this.best.without, spans: this.best.spans })
    for (const maker of this.best.of.keys()) {
      if (maker === makers.scenario) continue
      await this.#accept({ of: withList(this.best.of, maker, []), without: this.best.without, spans: this.best.spans })
    }
  }

  /** Actions from outside, in blocks, the last first. */
  async #withoutActions(): Promise<void> {
    const left = (): number[] => [...this.best.of.keys()].filter((m) => m % 4 === 2 && m > 0).map((m) => (m - 2) / 4)
    const last = Math.max(-1, ...left()) + 1
    // Also those that choose nothing: nobody knows of them but by number.
    const all = Array.from({ length: Math.max(last, 24) }, (_, i) => i)
    for (let size = all.length; size >= 1; size = Math.floor(size / 2)) {
      for (let at = all.length - size; at >= 0; at -= size) {
        const block = all.slice(at, at + size).filter((a) => !this.best.without.has(a))
        if (block.length === 0) continue
        const { of, spans } = this.best
        const without = new Set([...this.best.without, ...block])
        // With what the scheduler chose for their steps, so that all other steps keep their own; or else as it comes.
        if (!(await this.#accept({ of: withoutSpans(of, block, spans), without, spans }))) await this.#accept({ of, without, spans })
      }
    }
  }

  /** Blocks of choices, whoever made them, set to the plain ones. */
  async #plainBlocks(): Promise<void> {
    for (let size = Math.ceil(places(this.best).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < places(this.best).length;) {
        const block = places(this.best).slice(at, at + size)
        // What was accepted is gone from the list, so that the next block is at the same place.
        if (!(await this.#accept(changed(this.best, block, 0)))) at += size
        if (this.#isOver) return
      }
    }
  }

  /** Takes choices out altogether: what followed a choice that is no longer made moves up. */
  async #dropBlocks(): Promise<void> {
    const all = [...this.best.of.keys()]
    for (const maker of all) {
      for (const size of [16, 4, 1]) {
        for (let at = (this.best.of.get(maker)?.length ?? 0) - size; at >= 0; at -= size) {
          const list = this.best.of.get(maker) ?? []
          if (at + size > list.length) continue
          await this.#accept({
            of: withList(this.best.of, maker, [...list.slice(0, at), ...list.slice(at + size)]),
            without: this.best.without,
            spans: this.best.spans,
          })
          if (this.#isOver) return
        }
      }
    }
  }

  async #lower(): Promise<void> {
    for (const place of places(this.best)) {
      const now = valueAt(this.best, place)
      for (const value of [1, Math.floor(now / 2), now - 1])
        if (value >= 1 && value < now && (await this.#accept(changed(this.best, [place], value)))) break
    }
  }
}

function withList(of: Recording['of'], maker: number, list: readonly number[]): Map<number, readonly number[]> {
  return new Map(of).set(maker, list)
}

/** Without what the scheduler chose for the steps of these actions. */
function withoutSpans(of: Recording['of'], actions: readonly number[], spans: Recording['spans']): Recording['of'] {
  const list = of.get(makers.scheduler) ?? []
  const cut = actions.map((action) => spans.get(action)).filter((span) => span !== undefined)
  return withList(
    of,
    makers.scheduler,
    list.filter((_, i) => !cut.some(([from, to]) => i >= from && i < to)),
  )
}

function valueAt({ of }: Recording, [maker, index]: Place): number {
  return of.get(maker)?.[index] ?? 0
}

function changed({ of, without, spans }: Recording, at: readonly Place[], value: number): Recording {
  const next = new Map(of)
  for (const [maker, index] of at) next.set(maker, (next.get(maker) ?? []).with(index, value))
  return { of: next, without, spans }
}

/** Where choices are that are not plain. */
function places({ of }: Recording): Place[] {
  const found: Place[] = []
  for (const [maker, list] of of) for (const [index, value] of list.entries()) if (value !== 0) found.push([maker, index])
  return found
}

/** Without the plain choices at the end of each list, which replaying makes anyway. */
function trimmed({ of, without, spans }: Recording): Recording {
  const next = new Map<number, readonly number[]>()
  for (const [maker, list] of of) next.set(maker, list.slice(0, list.findLastIndex((v) => v !== 0) + 1))
  return { of: next, without, spans }
}

/** How far from plain: choices that are not 0 count most, then how large they are. */
function weightOf({ of }: Recording): number {
  let weight = 0
  for (const list of of.values()) for (const value of list) if (value !== 0) weight += 1 + Math.min(value, 1000) / 1e6
  return weight
}

/** How many choices of a run are not plain. */
export function unplain(recording: Recording): number {
  return places(recording).length
}
