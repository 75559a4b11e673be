// One look at a whole system, whatever threads it runs on: the survey of this thread and those of the others, the questions that are
// under way between all of them, and the figures that the system has anyway.

import { ActorSystem, InvalidOption, type LedgerReport, type SystemMetrics } from '@troupe/core'
import {
  type ActorKinds,
  type ActorName,
  coreOf,
  type LookElsewhere,
  type PlacedSurvey,
  Surveyor,
  type SystemCore,
  type Wait,
} from '@troupe/core/internal'

/** What a look at all threads found. */
export interface Sight {
  /** Milliseconds of the system's clock. */
  readonly at: number
  /** One for each thread; place 0 is the one that made the system. */
  readonly parts: readonly PlacedSurvey[]
  /** Threads that did not answer in time: of their actors nothing new is known. */
  readonly silent: readonly number[]
  readonly waits: readonly Wait[]
  /** Questions beyond those. */
  readonly waitsLeftOut: number
  /** Milliseconds that it took, on all threads together. */
  readonly spent: number
}

/** The number of this thread in what is told of threads. */
export const here = -1

export class Look {
  readonly #core: SystemCore
  readonly #system: ActorSystem
  readonly #surveyor: Surveyor
  #epoch: number | undefined

  constructor(system: ActorSystem) {
    checkSystem(system)
    this.#system = system
    this.#core = coreOf(system)
    this.#surveyor = new Surveyor(this.#core, undefined, (ask) => this.#elsewhere?.markOf(ask))
  }

  get #elsewhere(): LookElsewhere | undefined {
    return this.#core.otherPlaces?.look
  }

  /** Whether there may be actors that are not of this thread. */
  get spansThreads(): boolean {
    return this.#elsewhere !== undefined
  }

  /** Begins to count turns, here at once, on other threads with their first survey. */
  begin(): void {
    this.#surveyor.arm()
    this.#epoch = undefined
  }
  end(): void {
    this.#surveyor.disarm()
    this.#elsewhere?.leave()
  }

  /** All, or what may have changed since the last one. */
  async sight(whole = false): Promise<Sight> {
    const [own, others] = await Promise.all([
      this.#surveyor.survey(whole ? undefined : this.#epoch),
      this.#elsewhere?.survey(whole) ?? { parts: [], silent: [] },
    ])
    this.#epoch = own.epoch
    const parts = [{ ...own, place: 0, thread: here }, ...others.parts]
    return {
      at: own.at,
      parts,
      silent: others.silent,
      waits: merged(parts.flatMap((part) => part.waits)),
      waitsLeftOut: parts.reduce((sum, part) => sum + part.waitsLeftOut, 0),
      spent: parts.reduce((sum, part) => sum + part.spent, 0),
    }
  }

  async waits(): Promise<readonly Wait[]> {
    const [own, others] = await Promise.all([this.#surveyor.waits(), this.#elsewhere?.waits() ?? []])
    return merged([...own, ...others])
  }

  /** One for each; what stands here for an actor of a thread knows its name as well as that one does. */
  async names(uids?: ReadonlySet<number>, above?: ReadonlySet<number>): Promise<readonly ActorName[]> {
    const own = await this.#surveyor.names(uids, above)
    const known = new Set(own.map((name) => name.uid))
    const left = uids === undefined ? undefined : [...uids].filter((uid) => !known.has(uid))
    if (this.#elsewhere === undefined || left?.length === 0) return own
    const others = await this.#elsewhere.names(left)
    return [...own, ...others.filter((name) => !known.has(name.uid))]
  }

  /** What sort of actor each of this thread is. */
  kinds(): Promise<ActorKinds> {
    return this.#surveyor.kinds()
  }

  metrics(): SystemMetrics {
    return this.#system.metrics()
  }
  ledger(): Promise<LedgerReport> {
    return this.#system.ledger()
  }
}

/** What two threads tell of one question is one wait: who asks is known on one side, where the question is on the other. */
function merged(waits: readonly Wait[]): readonly Wait[] {
  const marked = new Map<string, Wait>()
  const all: Wait[] = []
  for (const wait of waits) {
    const other = wait.mark === undefined ? undefined : marked.get(wait.mark)
    if (other === undefined) {
      if (wait.mark === undefined) all.push(wait)
      else marked.set(wait.mark, wait)
      continue
    }
    const [asked, has] = wait.state === 'away' ? [wait, other] : [other, wait]
    const { target, targetPath, state } = has
    marked.set(wait.mark!, { ...asked, target, targetPath, state, type: has.type ?? asked.type, binds: asked.binds && state !== 'handled' })
  }
  return [...all, ...marked.values()]
}

export function checkSystem(system: unknown): void {
  try {
    if (system instanceof ActorSystem) return
  } catch {}
  throw new InvalidOption('system', system, 'use an ActorSystem')
}
