// The inside of a system: what cells see of it, and the state that its public face works on. Not exported to users.

import { runtimeOf } from './runtimes.ts'
import { printedLog, told } from './printed-log.ts'
import { Cell } from '../cell/turn/cell.ts'
import { change } from '../cell/life/phase-change.ts'
import type { Dispatcher } from '../cell/turn/dispatcher.ts'
import { Envelope, type Meta, senderOf } from '../cell/message/envelope.ts'
import type { CellHost } from '../cell/turn/host.ts'
import { CallContext, Context } from '../cell/context/context.ts'
import type { AskEdge } from '../cell/ask/deadlock.ts'
import { Ledger } from '../cell/message/ledger.ts'
import { cellIn, LocalRef } from '../cell/ref/local-ref.ts'
import { Storm } from '../cell/life/storm.ts'
import { type Tap, tapOf } from '../cell/turn/tap.ts'
import type { ThreadReporter } from '../cell/turn/thread-reporter.ts'
import type { Stirred } from '../cell/turn/stirred.ts'
import { YoungAsks } from '../cell/ask/young-asks.ts'
import { type CellOptions, defaultOptions, defaultsOf } from '../cell/context/options.ts'
import { on } from '../deciders/phase.ts'
import { type Decision, defaultPolicy } from '../deciders/supervision.ts'
import { TimerQueue } from '../queues/timers.ts'
import { BehaviorNode } from '../values/behavior.ts'
import type { DeadLetter, DeadLetterReason } from '../values/dead-letter.ts'
import { messageOf, typeOf } from '../values/errors.ts'
import type { Failure } from '../values/failure.ts'
import type { FlightRecorder } from '../values/flight.ts'
import { contained, type LevelledLogger, type Logger, silent } from '../values/logger.ts'
import { Measuring } from '../values/measuring.ts'
import type { Observation } from '../values/observation.ts'
import { endless, type SystemOptions } from '../values/options.ts'
import type { DropReason } from '../values/ledger.ts'
import type { SupervisionPolicy } from '../values/policy.ts'
import type { AnyRef, DeadlockMode } from '../values/ref.ts'
import type { ExecutionRuntime } from '../values/runtime.ts'
import type { SystemPhase, SystemView } from '../values/system.ts'
import { contain } from '../values/thenable.ts'
import { DispatcherTable } from './dispatchers.ts'
import { LocalEventStream } from './event-stream.ts'
import type { Elsewhere, OtherPlaces } from './other-places.ts'
import { Recent } from './recent.ts'

/** How long a shutdown may take is its own affair: the top passes no deadline down. */
const guardianOptions: CellOptions = { ...defaultOptions, stopTimeout: endless }

/** How many systems were made so far. */
let made = 0

export class SystemCore implements CellHost {
  /** Tells systems of one process apart, whatever their names; that of a thread is changed to that of its system. */
  declare id: number
  declare readonly name: string
  declare readonly view: SystemView
  readonly ledger: Ledger = new Ledger()
  declare readonly runtime: ExecutionRuntime
  declare readonly timers: TimerQueue
  declare readonly youngAsks: YoungAsks
  declare readonly logger: Logger
  declare readonly ownLogger: LevelledLogger
  /** Whether each change of a phase is logged. */
  declare readonly tellsPhases: boolean
  declare readonly policy: SupervisionPolicy
  declare readonly askTimeout: number
  declare readonly deadlock: DeadlockMode
  running: Dispatcher | undefined
  declare readonly defaults: CellOptions
  readonly kinds: Map<string, CellOptions> = new Map()
  declare readonly metricsEvery: number | undefined
  declare readonly flightRecorder: FlightRecorder | undefined
  declare readonly tap: Tap | undefined
  declare readonly reporter: ThreadReporter | undefined
  declare readonly onEscalation: 'shutdown' | 'stop'
  declare readonly deadLetters: Recent<DeadLetter>
  declare readonly failures: Recent<Failure>
  declare readonly events: LocalEventStream
  declare readonly dispatchers: DispatcherTable
  declare readonly guardian: Cell
  phase: SystemPhase = 'open'
  draining = false
  hurried = false
  pending = 0
  undelivered = 0
  active = 0
  terminated = 0
  restarts = 0
  limitsHit = 0
  fatalStops = 0
  failedEndSignals = 0
  /** Drops and dead letters by their reasons. */
  readonly drops: Partial<Record<DropReason, number>> = {}
  readonly burials: Partial<Record<DeadLetterReason, number>> = {}
  /** Observations that were not made because nobody listened. */
  unheard = 0
  /** Tells those on other threads who know the cell. */
  onPhase: ((cell: Cell) => void) | undefined = undefined
  /** Called whenever a dispatcher runs out of work; how a draining shutdown notices. */
  onIdle: (() => void) | undefined
  /** Ends the system because of a failure that climbed past the top. */
  onTopFailure: ((cause: unknown) => void) | undefined
  /** Called when an actor has ended; how a shutdown stops one after the other. */
  onEnded: (() => void) | undefined = undefined
  /** Called when the last actor has gone. */
  onEmpty: (() => void) | undefined
  onWait: ((edge: AskEdge) => void) | undefined
  /** Connects this system to those on other threads, if there are. */
  otherPlaces: OtherPlaces | undefined
  /** Who counts turns while somebody looks; told of those that end. */
  stirred: Stirred | undefined
  /** Adds what those do, and did while they were there. */
  elsewhere: Elsewhere | undefined
  /** The state of what joined it, by name, in the order in which it was opened. */
  readonly extensions: Map<string, { close?(): unknown }> = new Map()
  #uid = 0
  readonly #letterStorm: Storm
  /** Dead letters since the shutdown began: actors that end one after the other leave some, which are no news one by one. */
  #closingLetters = 0
  /** The dead letter that is being published. */
  #notice: object | undefined

  /** Of options that were checked. */
  constructor(name: string, options: SystemOptions, view: SystemView, reporter: ThreadReporter | undefined) {
    this.name = name
    this.view = view
    this.reporter = reporter
    this.runtime = runtimeOf(options)
    this.tap = tapOf(this.runtime)
    this.policy = (options.supervision as SupervisionPolicy | undefined) ?? defaultPolicy
    this.askTimeout = options.askTimeout ?? 5000
    this.deadlock = options.deadlock ?? 'reject'
    this.flightRecorder = options.flightRecorder
    const { metrics } = options
    const all = metrics instanceof Measuring || !metrics
    this.metricsEvery = all ? undefined : metrics.every
    this.defaults = defaultsOf(options.middleware ?? [], (all ? metrics : metrics.actors) || undefined, this.flightRecorder !== undefined)
    this.onEscalation = options.onEscalation ?? 'shutdown'
    this.deadLetters = new Recent(options.deadLetterCapacity ?? 10_000)
    this.failures = new Recent(options.failureCapacity ?? 1000)
    this.timers = new TimerQueue(
      this.runtime,
      () => this.runtime.enter(this.#fireDue),
      (cause) => this.logger.error({ cause }, 'a timer failed'),
    )
    const { logger } = options
    const own: LevelledLogger = logger === false ? silent : (logger ?? printedLog(name, this.timers))
    this.logger = contained(own)
    this.ownLogger = own
    this.tellsPhases = own !== silent && (own.isLevelEnabled?.('debug') ?? true)
    this.#letterStorm = new Storm(5, this.timers, (count) => this.logger.warn({}, `… and ${told(count)} more dead letters in the last second`))
    this.youngAsks = new YoungAsks(this.timers)
    this.events = new LocalEventStream(this)
    this.dispatchers = new DispatcherTable(this, options.dispatcher, options.dispatchers)
    this.guardian = this.#makeGuardian()
    this.id = ++made
    this.tap?.attach(this)
  }

  readonly #fireDue = (): void => void this.timers.fireDue(this.runtime.now())

  #makeGuardian(): Cell {
    const ref = new LocalRef(undefined, 'user', this.nextUid())
    const cell = new Cell(ref, this.dispatchers.fallback, guardianOptions, new BehaviorNode('receive', (ctx) => this.#refuse(ctx), undefined))
    cell.ctx = this.makeContext(cell)
    change(cell, on.start, undefined)
    change(cell, on.started, undefined)
    cell.turn(0)
    return cell
  }

  /** Nobody is at the top to handle a message. */
  #refuse(ctx: Context): void {
    const { message, meta } = ctx
    ctx.clear()
    this.bury(message, meta, ctx.cell.ref, 'no-recipient')
  }

  get listening(): boolean {
    if (this.events.size > 0 || this.tellsPhases || this.reporter?.listens === true) return true
    this.unheard++
    return false
  }
  makeContext(cell: Cell): Context {
    return new Context(cell)
  }
  makeCall(cell: Cell, main: Context): CallContext {
    return new CallContext(cell, main)
  }
  nextUid(): number {
    return ++this.#uid
  }
  /** Lets the uids of this system begin higher, so that those of several threads do not meet. */
  beginUids(after: number): void {
    this.#uid = Math.max(this.#uid, after)
  }
  dispatcher(name: string | undefined): Dispatcher {
    return name === undefined ? this.dispatchers.fallback : this.dispatchers.use(name)
  }
  observe(observation: Observation): void {
    this.events.publish(observation)
    this.reporter?.observed(observation)
    if (this.tellsPhases && observation.type === 'actor.phase')
      this.logger.debug({ actor: observation.ref.path, from: observation.from, to: observation.to }, 'the actor changed its phase')
  }
  count(decision: Pick<Decision, 'directive' | 'limitHit' | 'fatal'>): void {
    if (decision.directive === 'restart') this.restarts++
    if (decision.limitHit) this.limitsHit++
    if (decision.fatal) this.fatalStops++
  }

  bury(message: unknown, meta: Meta, recipient: AnyRef | undefined, reason: DeadLetterReason, cause?: unknown): void {
    this.ledger.deadLettered++
    this.tap?.ended(message, meta, 'dead', reason)
    this.burials[reason] = (this.burials[reason] ?? 0) + 1
    const at = this.runtime.now()
    const letter = { message, sender: senderOf(meta), recipient, reason, at }
    this.deadLetters.add(letter)
    this.reporter?.buried(letter)
    if (meta instanceof Envelope) {
      const stopped = reason === 'stopped' || reason === 'system-closed'
      meta.end(stopped ? 'stopped' : 'refused', stopped ? cause : cause === undefined ? reason : `${reason}: ${messageOf(cause)}`)
    }
    // The notice of a dead letter that reaches nobody is a dead letter, but no news: it would breed for ever.
    if (message !== undefined && message === this.#notice) return
    if (this.phase === 'closing') this.#closingLetters++
    else if (this.#letterStorm.takes()) this.logger.warn({ message: typeOf(message), to: recipient?.path, reason }, 'a dead letter')
    if (!this.listening) return
    const before = this.#notice
    const notice = { type: 'message.dead', letter, at } as const
    this.#notice = notice
    this.observe(notice)
    this.#notice = before
  }
  failed(failure: Failure): void {
    this.failures.add(failure)
    this.reporter?.failed(failure)
  }
  drop(message: unknown, meta: Meta, reason: DropReason): void {
    this.ledger.dropped++
    this.tap?.ended(message, meta, 'dropped', reason)
    this.drops[reason] = (this.drops[reason] ?? 0) + 1
    if (meta instanceof Envelope) meta.end('refused', reason)
  }

  born(cell: Cell): void {
    this.active++
    this.tap?.born(cell)
    if (this.listening) this.observe({ type: 'actor.spawned', ref: cell.ref, at: this.runtime.now() })
  }
  unregister(cell: Cell): void {
    if (this.events.size > 0) this.events.forget(cell.ref)
  }
  died(cell: Cell): void {
    if (cell === this.guardian) {
      // Without a shutdown under way somebody stopped the top itself, which ends the system.
      if (this.onEmpty === undefined) this.onTopFailure?.(undefined)
      else this.onEmpty()
      return
    }
    this.active--
    this.terminated++
    this.otherPlaces?.died(cell)
    this.stirred?.ended(cell)
    this.onEnded?.()
    if (!this.listening) return
    const { reason, cause } = cell.end!
    this.observe({ type: 'actor.terminated', ref: cell.ref, reason, cause, at: this.runtime.now() })
  }
  topFailed(child: Cell, cause: unknown): void {
    this.logger.error({ actor: child.ref.path, cause }, `${child.ref.path} escalated past the top`)
    if (this.onEscalation === 'stop') child.command({ verb: 'stop', reason: 'failure', cause })
    else this.onTopFailure?.(cause)
  }

  /** Says what was held back, while there is still time for it. */
  endLog(): void {
    this.#letterStorm.fire()
    const count = this.#closingLetters
    if (count > 0)
      this.logger.warn(
        {},
        `${told(count)} ${count === 1 ? 'message' : 'messages'} reached no actor while the system stopped; system.deadLetters has the last of them`,
      )
  }
  /** Tells the system's links that it has ended. */
  closeMiddleware(): void {
    for (const link of this.defaults.middleware) {
      const failed = (cause: unknown): void => this.logger.error({ cause, middleware: link.name }, 'a middleware failed to close')
      contain(() => link.close?.(undefined), failed)
    }
  }

  /** Lets what joined it go, the last first. */
  async closeExtensions(): Promise<void> {
    const failed = (cause: unknown): void => this.logger.error({ cause }, 'an extension failed to close')
    for (const state of [...this.extensions.values()].reverse())
      await Promise.resolve(state)
        .then((s) => s.close?.())
        .catch(failed)
  }

  /** The cell of a ref of this system. */
  mine(ref: AnyRef, what: string): Cell {
    return cellIn(this, ref, what)
  }
}
