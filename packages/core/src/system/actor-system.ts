// The public face of a system. It holds no state of its own: everything is in the core behind it.

import { tellAny } from '../cell/message/telling.ts'
import type { DispatcherState } from '../cell/turn/dispatcher.ts'
import { spawnUnder } from '../cell/context/spawning.ts'
import { neverStarted } from '../cell/life/stopping.ts'
import { unwatch, watch } from '../cell/ref/watch.ts'
import type { Cell } from '../cell/turn/cell.ts'
import type { ThreadReporter } from '../cell/turn/thread-reporter.ts'
import type { ActorClass, ActorHooks } from '../values/actor-class.ts'
import type { Behavior } from '../values/behavior.ts'
import { checkFinite, checkRef } from '../values/checks.ts'
import type { Clock } from '../values/clock.ts'
import type { AsyncDisposing } from '../values/disposal.ts'
import type { EventStream } from '../values/event-stream.ts'
import { InvalidName, InvalidOption, NotAllowed } from '../values/errors.ts'
import type { SystemCounts, SystemMetrics } from '../values/metrics.ts'
import type { Phase } from '../values/phase.ts'
import type { ShutdownOptions, ShutdownReport, SpawnOptions, SystemOptions } from '../values/options.ts'
import type { LedgerReport } from '../values/ledger.ts'
import { segmentsOf } from '../values/path.ts'
import type { ActorRef, AnyRef } from '../values/ref.ts'
import type { ClassThatNeedsNoArgs, OptionsFor, Spawned } from '../values/spawnable.ts'
import type { TerminationReason } from '../values/signals.ts'
import type { SystemPhase, SystemView } from '../values/system.ts'
import { SystemClock } from './clock.ts'
import type { Dispatchers } from './dispatchers.ts'
import { type ActorSnapshot, ledgerOf, snapshotOf } from './inspection.ts'
import { checkOptions } from './options.ts'
import type { DeadLetters, Failures } from './recent.ts'
import { spawnRoot } from './root.ts'
import { countsOf, systemMetrics } from './metrics.ts'
import { shutDown } from './shutdown.ts'
import { pushEvery } from '../cell/message/pushing.ts'
import { SystemCore } from './core.ts'

export type { DispatcherState }

/** The state of what joined a system under that name. */
export function extensionOf(system: SystemView, name: string): unknown {
  return coreOf(system as ActorSystem).extensions.get(name)
}

/** The inside of a system, for sibling packages. The first system says how: a static block would keep the class in every bundle. */
export let coreOf: (system: ActorSystem) => SystemCore

/**
 * A tree of actors with one set of dispatchers, timers and dead letters.
 *
 * Guarantees: the promises of SEMANTICS.md; keeps the process alive until it ends, unless `keepAlive: false`.
 * Fails: `create` with `InvalidOption` or `InvalidName`; once closing, `spawn` with `SystemClosed`.
 *
 * @example
 * await using system = ActorSystem.create('shop')
 * const ref = system.spawn(counter(), { name: 'counter' })
 */
export class ActorSystem<in R = never> implements SystemView, AsyncDisposing {
  readonly #core: SystemCore
  readonly #release: () => void
  #ending: Promise<ShutdownReport> | undefined
  #clock: Clock | undefined
  #resolveTerminated!: (report: ShutdownReport) => void
  /** Resolves when the system has ended, with the same report that `shutdown` gives. Never rejects. */
  readonly terminated: Promise<ShutdownReport>
  /** The actor given as `root`, if one was. */
  readonly root: ActorRef<R> | undefined

  private constructor(name: string, options: SystemOptions<R>, reporter?: ThreadReporter) {
    this.#core = new SystemCore(name, options, this, reporter)
    coreOf ??= (system) => system.#core
    this.terminated = new Promise((resolve) => (this.#resolveTerminated = resolve))
    const core = this.#core
    const { runtime, metricsEvery } = core
    runtime.start?.()
    try {
      for (const extension of options.extensions ?? []) core.extensions.set(extension.name, extension.open(this))
      // Before the hold: a root that is not a behavior must not leave a process that never ends.
      this.root = options.root === undefined ? undefined : spawnRoot(core, options.root, (cause) => void this.#end({}, cause))
    } catch (cause) {
      void core.closeExtensions()
      runtime.stop?.()
      throw cause
    }
    this.#release = options.keepAlive === false ? () => {} : runtime.hold()
    core.onTopFailure = (cause) => void this.#end({}, cause)
    if (metricsEvery === undefined) return
    pushEvery(core, metricsEvery, () => {
      const metrics = this.metrics()
      core.observe({ type: 'metrics.system', metrics, at: metrics.at })
    })
  }

  /** A new system. Its name stands in logs and errors. */
  static create<R = never>(name: string, options: SystemOptions<R> = {}): ActorSystem<R> {
    if (typeof name !== 'string' || name === '') throw new InvalidName(name, 'the system registry', 'it must be a non-empty string')
    return new ActorSystem(name, checkOptions(options))
  }

  get name(): string {
    return this.#core.name
  }
  /** Tells the systems of one process apart, whatever their names: 1 for the first, counted on from there. */
  get id(): number {
    return this.#core.id
  }
  /** `open` until `shutdown` is called, then `closing` until the last actor has ended, then `closed`. */
  get phase(): SystemPhase {
    return this.#core.phase
  }
  /** The actors at the top of the tree that have not ended, oldest first. */
  get children(): readonly AnyRef[] {
    return this.#core.guardian.children?.list().map((cell) => cell.ref) ?? []
  }
  get deadLetters(): DeadLetters {
    return this.#core.deadLetters
  }
  /** The last messages that failed, with cause, actor and directive; those of actors on other threads too. */
  get failures(): Failures {
    return this.#core.failures
  }
  get events(): EventStream {
    return this.#core.events
  }
  get dispatchers(): Dispatchers {
    return this.#core.dispatchers
  }

  /** Time as this system sees it, for `delay`, `timeout`, `retry` and the like. */
  get clock(): Clock {
    return (this.#clock ??= new SystemClock(this.#core, this.terminated))
  }

  /** A new actor at the top of the tree. Returns at once; the actor starts in its first turn. */
  spawn<M, T extends ActorHooks = never>(actor: Behavior<M> | ClassThatNeedsNoArgs<T>): Spawned<M, T>
  /** A class actor at the top of the tree; `args` go to its constructor, at each restart again. */
  spawn<M, T extends ActorHooks = never, A extends readonly unknown[] = never>(
    actor: Behavior<M> | ActorClass<T, A>,
    options: OptionsFor<T, A>,
  ): Spawned<M, T>
  spawn(spawnable: Behavior<never> | ActorClass<ActorHooks, never>, options?: SpawnOptions): never {
    return spawnUnder(this.#core.guardian, spawnable, options) as never
  }
  /** Stops an actor after its current message. */
  stop(ref: AnyRef): void {
    this.#core.mine(ref, 'stop').command({ verb: 'stop', reason: 'normal', cause: undefined })
  }
  /**
   * Ends an actor and all below it, without waiting for user code: no further message, no PreStop; pending handlers are cut off.
   * Each PostStop begins, children first.
   */
  kill(ref: AnyRef): void {
    this.#core.mine(ref, 'kill').command({ verb: 'kill' })
  }
  /** Lets messages queue until `resume`; signals are still handled. */
  suspend(ref: AnyRef, reason: string): void {
    if (typeof reason !== 'string' || reason === '') throw new InvalidOption('reason', reason, 'say why, for those who look at the tree')
    this.#core.mine(ref, 'suspend').command({ verb: 'suspend', reason })
  }
  resume(ref: AnyRef): void {
    this.#core.mine(ref, 'resume').command({ verb: 'resume' })
  }
  /** Replaces the incarnation, as a failure would, but uncounted and without backoff. */
  restart(ref: AnyRef, cause?: unknown): void {
    this.#core.mine(ref, 'restart').command({ verb: 'restart', cause, delay: 0 })
  }
  /** Makes `watcher` watch `ref`, as if it had called `ctx.watch`. */
  watch(ref: AnyRef, watcher: AnyRef): void {
    const cell = this.#core.mine(watcher, 'let watch')
    if (cell.end !== undefined) throw new NotAllowed(`${watcher.path} has stopped and cannot watch ${ref?.path}.`)
    watch(cell, ref, undefined, false)
  }
  unwatch(ref: AnyRef, watcher: AnyRef): void {
    unwatch(this.#core.mine(watcher, 'let unwatch'), ref)
  }

  /**
   * Where in its life an actor is; `terminated` for a dead one. Of an actor that another thread spawned it is what that thread told
   * last, before anything else that came from it since.
   */
  phaseOf(ref: AnyRef): Phase {
    return this.#core.mine(ref, 'inspect').phaseSeen
  }
  /** The living actor at an absolute path such as `/user/cart`, or undefined. */
  find(path: string): AnyRef | undefined {
    const segments = segmentsOf(path)
    if (segments?.[0] !== 'user') return undefined
    let cell: Cell | undefined = this.#core.guardian
    for (const segment of segments.slice(1)) {
      const children: Cell['children'] = cell?.children
      cell = children?.find(segment)
    }
    return cell?.ref
  }
  /** Resolves once the actor runs; rejects with `ActorInitializationError` if it never does. */
  started(ref: AnyRef): Promise<void> {
    const cell = this.#core.mine(ref, 'await the start of')
    const { end } = cell
    if (end?.unstarted === true) return Promise.reject(neverStarted(cell, end.cause))
    if (cell.phase === 'running' || cell.phase === 'suspended' || end !== undefined) return Promise.resolve()
    return new Promise((resolve, reject) => {
      ;(cell.ensureExtras().startWaiters ??= []).push((error, again) => (again ? undefined : error === undefined ? resolve() : reject(error)))
    })
  }
  /** Resolves when the actor has ended, with the reason and the cause. */
  whenTerminated(ref: AnyRef): Promise<{ readonly reason: TerminationReason; readonly cause: unknown }> {
    const cell = this.#core.mine(ref, 'await the end of')
    const end = cell.phase === 'terminated' ? cell.end : undefined
    if (end !== undefined) return Promise.resolve({ reason: end.reason, cause: end.cause })
    return new Promise((resolve) => {
      ;(cell.ensureExtras().endWaiters ??= []).push(resolve)
    })
  }
  /**
   * Sends a message after `ms`; returns what cancels it. A target that is gone by then makes it a dead letter. Once the system has
   * closed there is no time to wait for: it is a dead letter `system-closed` at once. What still waits when it closes was never sent.
   */
  sendAfter<M>(ref: ActorRef<M>, ms: number, message: M): () => void {
    checkRef('ref', ref)
    checkFinite('ms', ms, 'from')
    const { timers, phase, ledger } = this.#core
    if (phase === 'closed') {
      ledger.sent++
      this.#core.bury(message, undefined, ref, 'system-closed')
      return () => {}
    }
    const deadline = timers.after(ms, () => tellAny(this.#core, ref, message))
    return () => timers.cancel(deadline)
  }

  /** The tree as it is now, from `ref` or from the top. */
  inspect(ref?: AnyRef): Promise<ActorSnapshot> {
    const cell = ref === undefined ? this.#core.guardian : this.#core.mine(ref, 'inspect')
    const own = snapshotOf(cell)
    return this.#core.otherPlaces?.inspect(own) ?? Promise.resolve(own)
  }
  /** Where every message sent so far is; `sent` is the sum of the others. */
  ledger(): Promise<LedgerReport> {
    const own = (): LedgerReport => ledgerOf(this.#core.ledger, this.#core.guardian)
    return this.#core.otherPlaces?.ledger(own) ?? Promise.resolve(own())
  }
  /** How many actors live, how many have ended, and what supervision did; of other threads as `metrics` says. */
  counts(): SystemCounts {
    const own = countsOf(this.#core)
    return this.#core.elsewhere?.counts(own) ?? own
  }

  /**
   * What the system, its dispatchers and its supervision have done so far. Of this thread it is exact; of other threads it is what each
   * showed last, which is never older than what was heard from it: a thread shows its numbers before anything leaves it.
   */
  metrics(): SystemMetrics {
    const own = systemMetrics(this.#core)
    return this.#core.elsewhere?.metrics(own) ?? own
  }

  /** Runs everything due, on a runtime that does not run by itself. `awaiting`: handlers wait for promises. */
  pump(): 'idle' | 'awaiting' {
    const { runtime } = this.#core
    if (runtime.pump === undefined)
      throw new NotAllowed(`Runtime ${runtime.id} runs by itself. Create the system with { runtime: 'manual' } to pump it.`)
    runtime.pump()
    return this.#core.pending > 0 ? 'awaiting' : 'idle'
  }
  /**
   * Stops everything, from the top, and resolves with what was stopped, killed and left in mailboxes. Idempotent;
   * always resolves, at the latest shortly after the deadline.
   */
  shutdown(options: ShutdownOptions = {}): Promise<ShutdownReport> {
    return this.#end(options, undefined)
  }
  #end(options: ShutdownOptions, cause: unknown): Promise<ShutdownReport> {
    if (this.#ending !== undefined) return this.#ending
    const { otherPlaces } = this.#core
    const ended = shutDown(this.#core, options, cause)
    this.#ending = otherPlaces === undefined ? ended : ended.then((report) => otherPlaces.close().then(() => report))
    const release = this.#core.runtime.hold()
    void this.#ending.then((report) => {
      release()
      this.#release()
      this.#resolveTerminated(report)
    })
    return this.#ending
  }
  /** Drains mailboxes, then shuts down: what `await using` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown({ drain: true })
  }
}

/** A system on a thread of many, which tells the others what happens in it. */
export function createOnThread(name: string, options: SystemOptions, reporter: ThreadReporter): ActorSystem {
  return new (ActorSystem as unknown as new (...args: readonly unknown[]) => ActorSystem)(name, options, reporter)
}
