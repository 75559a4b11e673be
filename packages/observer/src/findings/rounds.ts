// Looks at a system round by round, and says what it finds. Whoever drives it says when: a timer, or a test on virtual time. It spawns no
// actor, asks no question and sets no timer of the system, so that nothing of it is in what it sees.

import { type ActorSystem, type BufferedChannel, buffered, type LedgerReport } from '@troupe/core'
import { type ActorKinds, type ActorName, coreOf } from '@troupe/core/internal'
import { journalsOf } from '../survey/journals.ts'
import { Look, type Sight } from '../survey/look.ts'
import type { Picture } from '../survey/picture.ts'
import { seenEvent } from './events.ts'
import { Finder } from './finder.ts'
import type { Finding } from './finding.ts'
import type { Frame, ProcessorTime, SeenEvent } from './frame.ts'

/** Observations that may come between two rounds; more are lost, and counted. */
const eventsKept = 10_000
/** In every so many rounds the ledger is counted: it takes a walk over all actors. */
const ledgerEvery = 5

/** What one round found. */
export interface Round {
  readonly frame: Frame
  readonly findings: readonly Finding[]
  /** Observations that were lost since the round before, because there were too many. */
  readonly lost: number
  /** Milliseconds that the surveys took, and thinking about them. */
  readonly spent: number
  readonly waitsLeftOut: number
}

/**
 * Looks at a system whenever it is told to.
 *
 * Guarantees: between `begin` and `end` turns are counted and observations heard, otherwise nothing is; nothing of it is in what it sees.
 *
 * @example
 * const rounds = new Rounds(system)
 * rounds.begin()
 * const { findings } = await rounds.round()
 * rounds.end()
 */
export class Rounds {
  readonly look: Look
  readonly #system: ActorSystem
  #finder = new Finder()
  #channel: BufferedChannel | undefined
  readonly #names = new Map<number, ActorName>()
  /** Those that were asked for and are not there any more. */
  readonly #nameless = new Set<number>()
  #round = 0
  #lost = 0
  #waits: Kept = { waits: [], waitsLeftOut: 0, silent: [] }
  #counting = false
  #restartsBefore = 0
  readonly #processor: () => ProcessorTime | undefined
  /** The ledger that was counted since the last round. */
  #counted: LedgerReport | undefined

  /** `processor`: how the thread spent its busy time since the last call. */
  constructor(system: ActorSystem, processor: () => ProcessorTime | undefined = () => undefined) {
    this.#system = system
    this.#processor = processor
    this.look = new Look(system)
  }

  get picture(): Picture {
    return this.#finder.picture
  }
  /** The restarts that had been decided when the survey behind `picture` began: each is in it, or of an actor that has ended. */
  get restartsBefore(): number {
    return this.#restartsBefore
  }
  get going(): boolean {
    return this.#channel !== undefined
  }

  begin(): void {
    if (this.#channel !== undefined) return
    this.#finder = new Finder()
    this.#round = 0
    this.#counted = undefined
    this.look.begin()
    this.#processor()
    this.#channel = buffered(eventsKept)
    this.#channel.attach(this.#system.events)
  }
  end(): void {
    this.#channel?.close()
    this.#channel = undefined
    this.#names.clear()
    this.#nameless.clear()
    this.#counted = undefined
    this.look.end()
  }

  /** One round; without a survey nothing new is known of single actors, only of the system. */
  async round(survey = true): Promise<Round> {
    const { runtime } = coreOf(this.#system)
    const { restarts } = this.look.metrics().supervision
    const { parts, silent, waits, waitsLeftOut, spent, at } = survey ? await this.look.sight() : unseen(runtime.now(), this.#waits)
    if (survey) {
      this.#waits = { waits, waitsLeftOut, silent }
      this.#restartsBefore = restarts
    }
    let began = runtime.now()
    const counted = survey && this.#round++ % ledgerEvery === 0 ? this.#count() : undefined
    const counting = runtime.now() - began
    await counted
    const ledger = this.#counted
    this.#counted = undefined
    const channel = this.#channel
    const events = (channel?.drain() ?? []).map(seenEvent).filter((e): e is SeenEvent => e !== undefined)
    const lost = (channel?.dropped ?? 0) - this.#lost
    this.#lost = channel?.dropped ?? 0
    for (const part of parts) for (const uid of part.gone) this.#names.delete(uid)
    const frame: Frame = {
      at,
      surveyed: survey,
      parts,
      silent,
      waits,
      metrics: this.look.metrics(),
      ledger,
      events,
      processor: this.#processor(),
      journals: journalsOf(coreOf(this.#system)),
    }
    began = runtime.now()
    const noticed = this.#finder.look(frame)
    const thought = runtime.now() - began
    await this.names(noticed.uids)
    const names = { of: (uid: number) => this.#names.get(uid)?.path ?? `actor ${uid}`, kindOf: (uid: number) => this.#names.get(uid)?.kind }
    return { frame, findings: noticed.tell(names), lost, spent: spent + counting + thought, waitsLeftOut }
  }

  /** Counts the ledger. With threads it does not wait for the count, which ends only when all of them have answered: one may hang. */
  async #count(): Promise<void> {
    if (this.#counting) return
    this.#counting = true
    const counted = this.look
      .ledger()
      .then((report) => void (this.#counted = report))
      .finally(() => (this.#counting = false))
    if (!this.look.spansThreads) return counted
    // The system may end before all have answered.
    counted.catch(() => {})
  }

  /** What these are called; asked once for each. */
  async names(uids: Iterable<number>): Promise<ReadonlyMap<number, ActorName>> {
    const wanted = [...uids]
    const unknown = wanted.filter((uid) => !this.#names.has(uid) && !this.#nameless.has(uid))
    if (unknown.length > 0) {
      for (const name of await this.look.names(new Set(unknown), this.#above(unknown))) this.#names.set(name.uid, name)
      // Who has ended had a name that nobody asked for in time; a number is never used again. A thread that does not answer now may later.
      if (!this.look.spansThreads) for (const uid of unknown) if (!this.#names.has(uid)) this.#nameless.add(uid)
    }
    const found = new Map<number, ActorName>()
    for (const uid of wanted) {
      const name = this.#names.get(uid)
      if (name !== undefined) found.set(uid, name)
    }
    return found
  }

  /** Those that are above one of these, so that not everybody is gone through for a few; undefined where one is not known yet. */
  #above(uids: readonly number[]): ReadonlySet<number> | undefined {
    const { picture } = this
    const above = new Set<number>()
    for (const uid of uids) {
      if (!picture.has(uid)) return undefined
      for (let parent = picture.get(uid, 'parent'); parent !== 0 && !above.has(parent); parent = picture.get(parent, 'parent')) {
        if (!picture.has(parent)) return undefined
        above.add(parent)
      }
    }
    return above
  }

  /** What sort of actor each is of those that are known. */
  async kinds(): Promise<ActorKinds> {
    const own = await this.look.kinds()
    if (!this.look.spansThreads) return own
    const here = new Set(own.uids)
    const others = [...(await this.names([...this.picture.uids].filter((uid) => !here.has(uid)))).values()]
    return { ...own, uids: [...own.uids, ...others.map(({ uid }) => uid)], kinds: [...own.kinds, ...others.map(({ kind }) => kind)] }
  }
}

/** What of the last survey holds until the next. */
type Kept = Pick<Sight, 'waits' | 'waitsLeftOut' | 'silent'>

function unseen(at: number, kept: Kept): Sight {
  return { at, parts: [], spent: 0, ...kept }
}
