// Why actors begin anew: an incarnation after the first has a failure of the one before it, a request, or a lost thread to thank for it,
// and each of them counts once. Also which starts are to fail.

import type { Simulation } from '@troupe/testkit/internal'

export class Beginnings {
  readonly #sim: Simulation
  /** Starts that are to fail, by actor. */
  readonly #bad = new Map<number, number>()
  /** Failures of actors and requests that they begin anew. */
  readonly #reasons = new Map<number, number>()
  /** How often each has begun anew where it was. */
  readonly #again = new Map<number, number>()
  /** How often anybody had a reason so far: no two failures have the same number. */
  failures = 0
  constructor(sim: Simulation) {
    this.#sim = sim
  }

  /** An actor is asked to begin anew, or fails. */
  hasReason(uid: number): void {
    this.failures++
    this.#reasons.set(uid, (this.#reasons.get(uid) ?? 0) + 1)
  }
  /** So many of its next starts are to fail. */
  failNext(uid: number, starts: number): void {
    this.#bad.set(uid, starts)
  }
  /** Whether the start that is being made is one of those that are to fail. */
  fails(uid: number): boolean {
    const left = this.#bad.get(uid) ?? 0
    if (left === 0) return false
    this.#bad.set(uid, left - 1)
    this.hasReason(uid)
    return true
  }
  /** Each failure was told, decided about and counted once, wherever it was. */
  judge(): void {
    const seen = new Set<string>()
    for (const { cause, actor } of this.#sim.system.failures.list()) {
      const { no } = (cause as { readonly labels?: { readonly no?: string } }).labels ?? {}
      if (no === undefined) continue
      if (seen.has(no)) this.#sim.violate('C6', `one failure of ${actor.path} counts as two`)
      seen.add(no)
    }
  }
  /** An actor begins anew on the thread it was on: with a thread that is lost none of its reasons is used up. */
  again(uid: number, path: string): void {
    const times = (this.#again.get(uid) ?? 0) + 1
    this.#again.set(uid, times)
    const reasons = this.#reasons.get(uid) ?? 0
    if (times > reasons) this.#sim.violate('C6', `${path} has begun anew ${times} times where it was, for ${reasons} failures and requests`)
  }
}
