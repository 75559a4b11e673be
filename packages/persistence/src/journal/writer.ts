// Writes in groups: a commit begins at once when none is under way, and what arrives meanwhile is the next one. One record per actor
// and group. It is here that a journal's trouble is met: a group that is refused as a whole is tried again or counts against the
// circuit; an outcome that is not known raises the epoch before anybody may read.

import { FenceLost, JournalUnavailable, SubjectErased } from '../values/errors.ts'
import type { Outcome, Ownership, Write } from '../values/stored.ts'
import type { JournalSurvey } from '../values/survey.ts'
import type { GroupLimits, Journal, JournalEnvironment } from './port.ts'
import { appendSealed, subjectsIn } from './sealed-group.ts'
import type { Tally } from './tally.ts'

/** What a writer sees of an actor. */
export interface Writing {
  readonly id: string
  /** Whether it is in the writer's list; taken out by `take`. */
  wanted: boolean
  /** How many events wait to be taken. */
  readonly queued: number
  /** What it has to write, if it still has. */
  take(owner: Ownership): Write | undefined
  /** How that ended. */
  outcome(write: Write, outcome: Outcome): void
}

/** What a writer asks of whoever has the journal. */
export interface WriterHost {
  readonly environment: JournalEnvironment
  readonly scope: string
  readonly name: string
  /** What to do while the journal refuses everything. */
  readonly whenAway: 'reject' | 'wait'
  /** The journal and the epoch, once it is open; rejects when it cannot be. */
  ready(): Promise<Opened>
  /** Another one has taken over. */
  lost(): void
  /** The journal says that the key of a subject is gone. */
  erased(subject: string): void
  readonly closing: boolean
  /** Monotonic milliseconds. */
  ticks(): number
  /** Lets all have a turn that can. */
  breathe(): Promise<void>
  readonly tally: Tally
}

interface Opened {
  readonly journal: Journal
  epoch: number
}

/** Writes that go to the journal together, and whose they are. */
class Group {
  readonly actors: Writing[] = []
  readonly writes: Write[] = []
  /** While the journal has it. */
  outcomes: Promise<readonly Outcome[]> | undefined = undefined
}

/** So many groups refused in a row open the circuit. */
const patience = 5
/** Then nothing is tried for so long, doubling. */
const shortest = 100
const longest = 10_000
/** A commit that takes so long is told of: whoever looks should not have to guess what everybody waits for. */
const slow = 10_000

export class Writer {
  readonly #host: WriterHost
  #list: Writing[] = []
  #running = false
  /** Ids that are being written. */
  readonly #under: Set<string> = new Set()
  /** Groups that were refused in a row. */
  #refused = 0
  /** By the clock that nobody sets: an hour that is put back must not be an hour's pause. */
  #closedUntil = 0
  /** When the group was given to the journal that it has now. */
  #began: number | undefined
  /** How many events the last group had. */
  #last = 0
  readonly #idle: (() => void)[] = []
  /** Ends the pause that it has now, or had last. */
  #wake: (() => void) | undefined
  /** Settles when the epoch has been raised after an outcome that is not known. */
  raising: Promise<void> | undefined

  constructor(host: WriterHost) {
    this.#host = host
  }

  /** What waits for the next group, what the present one has and since when, how often the journal refused, and how long it has its pause. */
  get standing(): Pick<JournalSurvey, 'queued' | 'writing' | 'writingFor'> & Pick<JournalSurvey['circuit'], 'refused' | 'retryIn'> {
    const retryIn = Math.max(0, this.#closedUntil - this.#host.ticks())
    const writingFor = this.#began === undefined ? 0 : this.#host.ticks() - this.#began
    return { queued: this.#list.length, writing: this.#under.size, writingFor, refused: this.#refused, retryIn }
  }

  /** An actor has something to write. */
  wants(actor: Writing): void {
    if (actor.wanted) return
    actor.wanted = true
    this.#list.push(actor)
    if (this.#running) return
    this.#running = true
    // After the turn that it comes from, so that all of it is in one group.
    void Promise.resolve().then(() => this.#run())
  }

  isWriting(id: string): boolean {
    return this.#under.has(id)
  }
  /** Resolves when nothing is to be written. */
  async idle(): Promise<void> {
    if (this.#running) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #run(): Promise<void> {
    while (this.#list.length > 0) {
      let opened
      try {
        opened = await this.#host.ready()
      } catch (cause) {
        this.#refuseAll(cause)
        continue
      }
      if (this.#isSmall) await this.#host.breathe()
      let group: Group | undefined = new Group()
      while (group !== undefined) group = await this.#write(opened, group)
    }
    this.#running = false
    for (const wake of this.#idle.splice(0)) wake()
  }

  /**
   * Fewer wait than were just written. Who was answered by that is about to come back, as a rule: those who wait now would have a commit of
   * their own, and the others the next one, for ever. One turn of the loop brings them together; a lone command does not wait.
   */
  get #isSmall(): boolean {
    let waiting = 0
    for (const actor of this.#list) if ((waiting += actor.queued) >= this.#last) return false
    return true
  }

  /** Whether those who wait, and can be written, fill a group. */
  #isFull({ writes, events }: GroupLimits): boolean {
    let [actors, queued] = [0, 0]
    for (const actor of this.#list) if (!this.#under.has(actor.id) && (++actors >= writes || (queued += actor.queued) >= events)) return true
    return false
  }

  #refuseAll(cause: unknown): void {
    for (const actor of this.#list.splice(0)) {
      const write = actor.take({ scope: this.#host.scope, epoch: 0 })
      if (write !== undefined) actor.outcome(write, { is: 'failed', cause })
    }
  }

  /** Writes a group, and tells how that ended. Returns the next one where that is with the journal already. */
  async #write(opened: Opened, group: Group): Promise<Group | undefined> {
    const { whenAway } = this.#host
    for (;;) {
      if (group.outcomes === undefined) {
        this.#collect(opened, group)
        if (group.writes.length === 0 || (await this.#isShut(group))) return undefined
        void this.#begin(opened.journal, group)
      }
      const outcomes = await group.outcomes!
      group.outcomes = undefined
      // What it could not take at any time says nothing about the journal.
      const away = outcomes.every(({ is }) => is === 'failed') && outcomes.some((outcome) => outcome.is === 'failed' && outcome.unfit !== true)
      this.#note(away, outcomes[0])
      // Surely not stored, and nothing else was either: it is the journal, and the same can be tried again.
      if (away && whenAway === 'wait' && !this.#host.closing) continue
      const next = outcomes.every(({ is }) => is === 'stored') ? await this.#ahead(opened) : undefined
      if (outcomes.some(({ is }) => is === 'unknown')) this.#raise(opened)
      this.#tell(group, outcomes)
      for (const outcome of outcomes) if (outcome.is === 'failed' && outcome.cause instanceof SubjectErased) this.#host.erased(outcome.cause.subject)
      if (this.raising !== undefined) await this.raising
      if (outcomes.some(({ is }) => is === 'fenced')) this.#host.lost()
      return next
    }
  }

  /** Waits out the pause that a journal is given which refused the last groups; or refuses the group, where nobody is to wait. */
  async #isShut(group: Group): Promise<boolean> {
    const { name, whenAway } = this.#host
    const shut = this.#closedUntil - this.#host.ticks()
    if (shut > 0 && whenAway === 'reject' && this.#refused > patience) {
      const cause = new JournalUnavailable(name, 'it refused the last groups, and is given a pause')
      this.#tell(
        group,
        group.writes.map((): Outcome => ({ is: 'failed', cause })),
      )
      return true
    }
    if (shut > 0 && whenAway === 'wait') await this.#pause(shut)
    return false
  }

  /**
   * Gives the next group to the journal before the last one is told, where that needs this thread for a part of the time only: what everybody does
   * who is answered then goes on while the store writes. Only a full one: those who are answered would be part of any other. Resolves when the thread
   * is free.
   */
  async #ahead(opened: Opened): Promise<Group | undefined> {
    if (opened.journal.handsOver !== true || !this.#isFull(opened.journal.limits)) return undefined
    const group = new Group()
    this.#collect(opened, group)
    if (group.writes.length === 0) return undefined
    await this.#begin(opened.journal, group)
    return group
  }

  #collect(opened: Opened, { actors, writes }: Group): void {
    const { limits } = opened.journal
    const owner = { scope: this.#host.scope, epoch: opened.epoch }
    let events = 0
    let bytes = 0
    for (const write of writes) {
      events += eventsIn(write)
      bytes += sizeOf(write)
    }
    let taken = 0
    for (; taken < this.#list.length && writes.length < limits.writes && events < limits.events && bytes < limits.bytes; taken++) {
      const actor = this.#list[taken]!
      // One that waits to be tried again, or to be told, is not joined by what came after it.
      if (this.#under.has(actor.id)) continue
      const write = actor.take(owner)
      if (write === undefined) continue
      this.#under.add(actor.id)
      actors.push(actor)
      writes.push(write)
      events += eventsIn(write)
      bytes += sizeOf(write)
    }
    this.#last = events
    const skipped = this.#list.slice(0, taken).filter((actor) => actor.wanted)
    this.#list = [...skipped, ...this.#list.slice(taken)]
  }

  #tell({ actors, writes }: Group, outcomes: readonly Outcome[]): void {
    for (const write of writes) this.#under.delete(write.id)
    for (const [i, actor] of actors.entries()) actor.outcome(writes[i]!, outcomes[i]!)
  }

  /** Gives a group to the journal; resolves when it is there, and the rest needs no time of this thread. */
  #begin(journal: Journal, group: Group): Promise<void> {
    return new Promise((handed) => {
      group.outcomes = this.#commit(journal, group.writes, handed)
    })
  }
  async #commit(journal: Journal, writes: readonly Write[], handed: () => void): Promise<readonly Outcome[]> {
    const { environment, name } = this.#host
    const began = (this.#began = this.#host.ticks())
    const tell = environment.after(slow, () => {
      if (!this.#host.closing) environment.logger.warn({ journal: name, writes: writes.length }, 'a commit is under way for 10 s')
    })
    const subjects = subjectsIn(writes)
    const outcomes =
      subjects === undefined
        ? await append(journal, writes, handed)
        : await appendSealed(journal, name, writes, subjects, (readable) => append(journal, readable, handed))
    handed()
    tell()
    this.#began = undefined
    this.#count(began, writes, outcomes)
    return outcomes
  }
  #count(began: number, writes: readonly Write[], outcomes: readonly Outcome[]): void {
    let records = 0
    let events = 0
    let trouble: unknown
    for (const [i, write] of writes.entries()) {
      const outcome = outcomes[i]!
      if (outcome.is === 'stored') {
        records++
        events += eventsIn(write)
      } else trouble ??= 'cause' in outcome ? outcome.cause : outcome.is
    }
    this.#host.tally.committed(this.#host.ticks() - began, records, events, records === 0 ? trouble : undefined)
  }

  #note(away: boolean, outcome: Outcome | undefined): void {
    if (!away) {
      this.#refused = 0
      this.#closedUntil = 0
      return
    }
    const { environment, name } = this.#host
    this.#refused++
    const waits = this.#host.whenAway === 'wait' || this.#refused > patience
    const pause = Math.min(longest, shortest * 2 ** Math.min(this.#refused - 1, 10))
    if (waits) this.#closedUntil = this.#host.ticks() + pause
    const cause = outcome !== undefined && 'cause' in outcome ? outcome.cause : undefined
    if (this.#refused === patience) environment.logger.warn({ journal: name, cause }, 'the journal refuses everything')
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#host.environment.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
  /** The system ends: no pause is waited out. */
  hurry(): void {
    this.#wake?.()
  }

  /** Makes sure that what is under way cannot arrive any more; until then nobody reads. */
  #raise(opened: Opened): void {
    const { scope, environment } = this.#host
    const next = opened.epoch + 1
    const attempt = async (): Promise<void> => {
      for (let tries = 0; !this.#host.closing; tries++) {
        try {
          await opened.journal.raise(scope, next)
          opened.epoch = next
          return
        } catch (cause) {
          if (cause instanceof FenceLost) return this.#host.lost()
          if (tries === patience) environment.logger.warn({ cause }, 'the epoch could not be raised yet; nothing is read or written until then')
          await this.#pause(Math.min(longest, shortest * 2 ** Math.min(tries, 10)))
        }
      }
    }
    const raising = attempt().finally(() => {
      if (this.raising === raising) this.raising = undefined
    })
    this.raising = raising
  }
}

async function append(journal: Journal, group: readonly Write[], handed: () => void): Promise<readonly Outcome[]> {
  let told: unknown
  try {
    told = await journal.append(group, handed)
  } catch (cause) {
    // It promised not to, so nothing is known.
    return group.map(() => ({ is: 'unknown', cause }))
  }
  const outcomes = told as readonly (Outcome | undefined)[] | undefined
  return group.map((_, i) => {
    const outcome = outcomes?.[i]
    return outcome !== undefined && known.has(outcome.is) ? outcome : { is: 'unknown', cause: new Error('the journal did not say') }
  })
}
/** What may become of a write; a journal that says anything else has not said what became of it. */
const known: ReadonlySet<unknown> = new Set<Outcome['is']>(['stored', 'fenced', 'conflict', 'failed', 'unknown'])

function eventsIn(write: Write): number {
  return write.write === 'run' ? write.events.length : 1
}

function sizeOf(write: Write): number {
  if (write.write === 'state') return write.data?.length ?? 0
  let bytes = 0
  for (const { data } of write.events) bytes += data.length
  return bytes
}
