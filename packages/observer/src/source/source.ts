// Where everybody who looks on gets it from: a socket, a page, a test. One look a round serves all of them. As long as nobody looks
// nothing is counted, nothing is sampled and nobody listens.

import { type ActorSystem, type DeadLetter, type Failure, NotAllowed } from '@troupe/core'
import { type ActorKinds, type ActorName, coreOf, draftOf, requireCore, typeOf, type Wait, pathOf } from '@troupe/core/internal'
import { causeText } from '../findings/events.ts'
import { isMuted } from '../findings/finder.ts'
import type { Finding } from '../findings/finding.ts'
import { type Round, Rounds } from '../findings/rounds.ts'
import { Recording } from '../sampling/recording.ts'
import { Closeness } from '../sampling/closeness.ts'
import { SendSampler } from '../sampling/sampler.ts'
import type { Trace } from '../sampling/span.ts'
import type { Picture } from '../survey/picture.ts'
import { Contention } from './contention.ts'
import { type ActorDetail, detailElsewhere, detailOf } from './detail.ts'
import { snapshotAt } from './elsewhere.ts'
import { nearPaths } from './near.ts'
import type { Update, Wishes } from './update.ts'

/** How much longer than a survey took the next one waits, and for how long at most. */
const share = 50
const longestWait = 30_000

interface Onlooker {
  readonly listener: (update: Update) => void
  readonly wishes: Wishes
}

/** A dead letter in words. */
export interface SeenLetter {
  readonly at: number
  readonly message: string
  readonly sender: string | undefined
  readonly recipient: string | undefined
  readonly reason: string
}

/** A failure in words. */
export interface SeenFailure {
  readonly at: number
  readonly actor: string
  readonly message: string | undefined
  readonly cause: string
  readonly directive: string | undefined
}

/**
 * Watches one system for all who look at it.
 *
 * Guarantees: while nobody is subscribed nothing is counted, sampled or listened to. Fails: once the system has closed `subscribe` throws `NotAllowed`.
 */
export class ObservationSource {
  readonly system: ActorSystem
  readonly #rounds: Rounds
  readonly #every: number
  readonly #onlookers = new Set<Onlooker>()
  readonly #muted: Set<string>
  /** Those that somebody looks at closely. */
  readonly #close = new Map<number, Closeness>()
  #sampler: SendSampler | undefined
  #disarm: (() => void) | undefined
  #seq = 0
  #findings: readonly Finding[] = []
  #looking = false
  /** When single actors may be looked at again. */
  #surveyFrom = -Infinity
  /** Milliseconds that those who look on worked since the last look, beyond hearing of it. */
  #worked = 0
  #closed = false

  constructor(system: ActorSystem, options: { readonly every: number; readonly mute: readonly string[] }) {
    requireCore('@troupe/observer', 1)
    this.system = system
    // Turns by a clock that is not the host's take no time of the host.
    const contention = coreOf(system).runtime.pump === undefined ? new Contention() : undefined
    this.#rounds = new Rounds(system, () => contention?.take())
    this.#every = options.every
    this.#muted = new Set(options.mute)
  }

  /** Tells of every round from now on; the first comes at once, or where others look already with the next round, which then looks at actors too. Returns what ends it. */
  subscribe(listener: (update: Update) => void, wishes: Wishes = {}): () => void {
    if (this.#closed || this.system.phase === 'closed')
      throw new NotAllowed(`System ${this.system.name} has closed: there is nothing to look at any more.`)
    const onlooker = { listener, wishes }
    this.#onlookers.add(onlooker)
    this.#adjust()
    if (!this.#rounds.going) {
      this.#rounds.begin()
      void this.#look()
    } else this.#surveyFrom = Math.min(this.#surveyFrom, coreOf(this.system).runtime.now())
    return () => {
      if (!this.#onlookers.delete(onlooker)) return
      this.#adjust()
      if (this.#onlookers.size === 0) this.#rest()
    }
  }
  /** Notes that somebody who looks on worked for so many milliseconds: the next look comes the later. */
  work(ms: number): void {
    this.#worked += ms
  }
  /** How many look on. */
  get onlookers(): number {
    return this.#onlookers.size
  }

  /** Samples as long as somebody wants that. */
  #adjust(): void {
    const all = [...this.#onlookers]
    const traces = all.some(({ wishes }) => wishes.traces === true)
    const samples = traces || all.some(({ wishes }) => wishes.flow === true)
    if (samples && this.#sampler === undefined) {
      this.#sampler = new SendSampler(coreOf(this.system), this.#close)
      this.#sampler.start()
    } else if (!samples) {
      this.#sampler?.stop()
      this.#sampler = undefined
    }
    if (this.#sampler === undefined) return
    this.#sampler.traces = traces
    this.#sampler.listeners = all.flatMap(({ wishes }) => wishes.spans ?? [])
  }

  #rest(): void {
    this.#disarm?.()
    this.#disarm = undefined
    this.#rounds.end()
    this.#surveyFrom = -Infinity
    this.#worked = 0
    this.#findings = []
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    const { timers, runtime } = coreOf(this.system)
    try {
      const survey = runtime.now() >= this.#surveyFrom
      const round = await this.#rounds.round(survey)
      const began = runtime.now()
      if (this.#onlookers.size > 0) this.#tell(round)
      this.#worked += round.spent + runtime.now() - began
      if (survey) this.#pace(runtime.now())
    } catch (cause) {
      coreOf(this.system).logger.error({ cause }, 'the observer failed to look')
    }
    this.#looking = false
    if (this.#onlookers.size === 0 || this.#closed) return
    // Armed only between two rounds: in none of them it is among the timers that are seen.
    const deadline = timers.after(this.#every, () => void this.#look())
    this.#disarm = () => timers.cancel(deadline)
  }

  /**
   * Where it takes long to look at all actors, the next look at them comes later: whoever looks takes a fiftieth of the time at most, as long as a survey in
   * half a minute is enough for that. What the system tells of itself is told all the same, and pages say how old the rest is. Only after the second of them
   * anybody knows how fast actors are: that one does not wait for what the first took.
   */
  #pace(now: number): void {
    const wait = this.#surveyFrom === -Infinity ? 0 : Math.min(longestWait, this.#worked * share)
    this.#surveyFrom = now + Math.max(0, wait - this.#every / 2)
    this.#worked = 0
  }

  #tell({ frame, findings, lost, spent, waitsLeftOut }: Round): void {
    this.#findings = findings.filter((finding) => !isMuted(finding, this.#muted))
    const update: Update = {
      ...frame,
      seq: ++this.#seq,
      findings: this.#findings,
      flow: this.#sampler?.takeFlows() ?? [],
      sampling: this.#sampler?.rate ?? 0,
      lost,
      waitsLeftOut,
      spent,
    }
    for (const { listener } of this.#onlookers) {
      try {
        listener(update)
      } catch (cause) {
        coreOf(this.system).logger.error({ cause }, 'somebody who looks on failed')
      }
    }
  }

  /** What is known of all actors, as of the last round; empty while nobody looks. */
  get picture(): Picture {
    return this.#rounds.picture
  }
  /** The restarts that had been decided when the survey behind `picture` began. */
  get restartsBefore(): number {
    return this.#rounds.restartsBefore
  }
  /** Those of the last round. */
  get findings(): readonly Finding[] {
    return this.#findings
  }
  /** Says nothing more of a rule, or of one finding by its id. */
  mute(idOrRule: string): void {
    this.#muted.add(idOrRule)
  }
  unmute(idOrRule: string): void {
    this.#muted.delete(idOrRule)
  }
  /** What actors are called, by number. */
  names(uids: Iterable<number>): Promise<ReadonlyMap<number, ActorName>> {
    return this.#rounds.names(uids)
  }
  /** What these say of themselves, or are known by to their parents; those that nobody calls anything are left out. */
  async labels(uids: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
    const names = await this.#rounds.look.names(uids)
    return new Map(names.flatMap(({ uid, label }) => (label === undefined ? [] : [[uid, label]])))
  }
  /** What sort of actor each is, under one index. */
  kinds(): Promise<ActorKinds> {
    return this.#rounds.kinds()
  }
  /** The questions that wait for an answer now. */
  waits(): Promise<readonly Wait[]> {
    return this.#rounds.look.waits()
  }
  get traces(): readonly Trace[] {
    return this.#sampler?.all ?? []
  }
  /** Follows the next message of that type; only while somebody wants traces. */
  traceNext(type: string, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<number> {
    if (this.#sampler === undefined) return Promise.reject(new NotAllowed('Nobody wants traces: subscribe with { traces: true } first.'))
    return this.#sampler.next(type, options.signal)
  }

  /** Follows what a task sends at once, as caused by something elsewhere; only while somebody wants traces, else the task just runs. */
  within<T>(incoming: unknown, task: () => T): T {
    return this.#sampler === undefined ? task() : this.#sampler.within(incoming, task)
  }

  deadLetters(): readonly SeenLetter[] {
    return this.system.deadLetters.list().map(seenLetter)
  }
  failures(): readonly SeenFailure[] {
    return this.system.failures.list().map(seenFailure)
  }

  /**
   * Writes down what happens to one actor from now on, until `stop` of it is called; the last `capacity` are kept. Undefined where there is no
   * such actor on this thread.
   */
  record(path: string, capacity = 1000): Recording | undefined {
    const ref = this.system.find(path)
    return ref === undefined ? undefined : new Recording(coreOf(this.system).mine(ref, 'record'), capacity)
  }

  /**
   * Looks closely at one actor from now on, until what it returns is called: who sends to it, how long its messages wait and take, sampled, and what it was
   * given last. Undefined where there is no such actor on this thread.
   */
  lookClosely(path: string): { readonly seen: Closeness; end(): void } | undefined {
    const ref = this.system.find(path)
    if (ref === undefined) return undefined
    const seen = new Closeness(coreOf(this.system).mine(ref, 'look closely'))
    let at = 0
    this.#close.set(seen.uid, seen)
    const leave = this.subscribe(
      (update) => {
        seen.take(update.flow, at === 0 ? 1 : Math.max(0.001, (update.at - at) / 1000))
        at = update.at
      },
      { flow: true },
    )
    return {
      seen,
      end: () => {
        leave()
        seen.end()
        if (this.#close.get(seen.uid) === seen) this.#close.delete(seen.uid)
      },
    }
  }

  /** One actor of this system, by its path, on whatever thread; undefined where there is none. */
  async inspect(path: string): Promise<ActorDetail | undefined> {
    const ref = path === '/user' ? undefined : this.system.find(path)
    if (ref === undefined && path !== '/user') return this.#inspectElsewhere(path)
    const core = coreOf(this.system)
    const cell = ref === undefined ? core.guardian : core.mine(ref, 'inspect')
    // What is below it is not walked through; what runs on another thread is asked there.
    const there = cell.endsElsewhere ? await snapshotAt(this.system, path) : undefined
    return detailOf(cell, there ?? draftOf(cell, path), await this.waits())
  }
  async #inspectElsewhere(path: string): Promise<ActorDetail | undefined> {
    if (!this.#rounds.look.spansThreads) return undefined
    const found = await snapshotAt(this.system, path)
    if (found === undefined) return undefined
    return detailElsewhere(found, (await this.names([found.uid])).get(found.uid), await this.waits())
  }
  /** Paths of actors that somebody may have meant who asked for one that is not there, the likeliest first. */
  async near(path: string): Promise<readonly string[]> {
    return nearPaths(path, await this.#rounds.look.names())
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#closed = true
    this.#onlookers.clear()
    this.#adjust()
    this.#rest()
  }
}

function seenLetter({ at, message, sender, recipient, reason }: DeadLetter): SeenLetter {
  const path = (ref: typeof sender): string | undefined => (ref === undefined ? undefined : pathOf(ref))
  return { at, message: typeOf(message), sender: path(sender), recipient: path(recipient), reason }
}

function seenFailure({ at, actor, message, cause, directive }: Failure): SeenFailure {
  return { at, actor: pathOf(actor), message: message === undefined ? undefined : typeOf(message), cause: causeText(cause), directive }
}
