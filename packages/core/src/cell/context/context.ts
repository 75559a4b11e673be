// What user code holds while its incarnation lives. It is alive as long as its cell says so: everything else is a
// getter or a call that checks first, so that a handler that was cut off cannot reach into what came after it.

import { unwatch, watch } from '../ref/watch.ts'
import { makeAbortSource } from '../../ports/host.ts'
import type { AbortSignalLike } from '../../values/abort.ts'
import type { ActorClass, ActorHooks } from '../../values/actor-class.ts'
import type { Behavior } from '../../values/behavior.ts'
import { checkBoolean, checkCan, checkFinite, checkFunction, checkMessage, checkString, checkWhole, readOptions } from '../../values/checks.ts'
import type { ActorContext, Stash, Timers } from '../../values/context.ts'
import { Cancelled, ContextEnded, NotAllowed, pathOf } from '../../values/errors.ts'
import { bound, contained, type Logger } from '../../values/logger.ts'
import type { SpawnOptions } from '../../values/options.ts'
import type { ActorRef, AnyRef, AskOptions, Headers } from '../../values/ref.ts'
import type { ClassThatNeedsNoArgs, OptionsFor, Spawned } from '../../values/spawnable.ts'
import type { SystemView } from '../../values/system.ts'
import { observed, settlementOf } from '../../values/thenable.ts'
import { Adapted, Adapter, adapterOf } from '../ref/adapter.ts'
import { askCell, owned } from '../ask/ask.ts'
import type { Cell } from '../turn/cell.ts'
import { checkEntered } from '../message/entering.ts'
import { fuse } from '../message/fuse.ts'
import { Envelope, headersOf, type Meta, onwardOf, senderOf } from '../message/envelope.ts'
import { KeyedTimers, ReceiveTimer } from './timers.ts'
import { cellIn, cellOf } from '../ref/local-ref.ts'
import { logFieldsOf } from '../life/failure-log.ts'
import { infoIn } from '../life/phase-info.ts'
import { spawnUnder } from './spawning.ts'
import { CellStash, checkStashed } from './stash.ts'
import { tellAny } from '../message/telling.ts'

const noHeaders: Headers = /* @__PURE__ */ Object.freeze({})

export class Context implements ActorContext<unknown> {
  readonly cell: Cell
  /** The message in progress; undefined before, after, and once it was moved on. */
  message: unknown
  meta: Meta
  constructor(cell: Cell) {
    this.cell = cell
  }

  /** A message is in progress from here on. */
  begin(message: unknown, meta: Meta): void {
    this.message = message
    this.meta = meta
  }
  /** It was handled; where it was moved on, that is for others to say. */
  finish(): void {
    if (this.message !== undefined) this.cell.dispatcher.ledger.handled++
    this.clear()
  }
  /** Its handler will not come to an end with it: it counts as failed, and whoever asked is told. */
  fail(reason: 'failed' | 'stopped', cause?: unknown): void {
    const { message, meta } = this
    this.clear()
    if (message === undefined) return
    this.cell.dispatcher.ledger.failed++
    if (meta instanceof Envelope) meta.end(reason, cause)
  }
  /** It goes on elsewhere, with its count; who sent it can still be read here. */
  move(): void {
    this.message = undefined
  }
  /** Nothing is in progress: whoever took it from here accounts for it. */
  clear(): void {
    this.message = undefined
    this.meta = undefined
  }

  get ended(): boolean {
    return this.cell.ctx !== this
  }
  /** The cell, as long as this incarnation lives. */
  protected live(what: string): Cell {
    if (this.ended) throw new ContextEnded(this.cell.ref.path, what)
    return this.cell
  }

  get self(): ActorRef<unknown> {
    return this.cell.ref
  }
  get path(): string {
    return this.cell.ref.path
  }
  get parent(): AnyRef {
    return this.live('read parent').ref.parent ?? this.cell.ref
  }
  get children(): readonly AnyRef[] {
    return (
      this.live('read children')
        .children?.list()
        .map((c) => c.ref) ?? []
    )
  }
  get system(): SystemView {
    return this.live('read system').host.view
  }
  get sender(): AnyRef | undefined {
    this.live('read sender')
    return senderOf(this.meta)
  }
  get headers(): Headers {
    this.live('read headers')
    return headersOf(this.meta) ?? noHeaders
  }
  get incarnation(): number {
    return this.live('read incarnation').extras?.incarnation ?? 0
  }
  get handedOver(): unknown {
    return this.live('read handedOver').extras?.handedOver
  }
  get log(): Logger {
    const cell = this.live('log')
    const { path } = cell.ref
    const fields = logFieldsOf(cell, this.message)
    return fields === undefined ? contained(cell.host.logger, { actor: path }) : bound(cell.host.ownLogger, { actor: path, ...fields })
  }
  get signal(): AbortSignalLike {
    const { cell, ended } = this
    const known = ended ? undefined : cell.extras?.abort
    if (known !== undefined) return known.signal
    const source = makeAbortSource()
    if (!ended) cell.ensureExtras().abort = source
    if (ended || cell.phase === 'stopping' || cell.phase === 'restarting') source.abort(new Cancelled(`The incarnation of ${this.path}`))
    return source.signal
  }
  get timers(): Timers<unknown> {
    const cell = this.live('use timers')
    return (cell.ensureExtras().timers ??= new KeyedTimers(cell))
  }
  get stash(): Stash<unknown> {
    const cell = this.live('use the stash')
    const stash = (cell.ensureExtras().stash ??= new CellStash(cell))
    return {
      get size() {
        return stash.size
      },
      add: (message) => {
        this.live('stash')
        checkStashed(cell.ref.path, message, this.message)
        stash.add(this, message)
      },
      unstash: (count) => {
        this.live('unstash')
        stash.unstash(checkWhole('count', count, 0))
      },
      unstashAll: () => {
        this.live('unstash')
        stash.unstash(Infinity)
      },
      clear: () => {
        this.live('clear the stash')
        stash.clear()
      },
    }
  }

  spawn<C, T extends ActorHooks = never>(actor: Behavior<C> | ClassThatNeedsNoArgs<T>): Spawned<C, T>
  spawn<C, T extends ActorHooks = never, A extends readonly unknown[] = never>(
    actor: Behavior<C> | ActorClass<T, A>,
    options: OptionsFor<T, A>,
  ): Spawned<C, T>
  spawn(spawnable: Behavior<never> | ActorClass<ActorHooks, never>, options?: SpawnOptions): never {
    return spawnUnder(this.live('spawn'), spawnable, options) as never
  }
  stop(child?: AnyRef): void {
    const cell = this.live('stop')
    if (child === undefined) return cell.command({ verb: 'stop', reason: 'normal', cause: undefined })
    const target = cellOf(child)
    if (target !== cell && target?.ref.parent !== cell.ref)
      throw new NotAllowed(`${cell.ref.path} cannot stop ${pathOf(child)}: it is not its child. Use ref.stop().`)
    target.command({ verb: 'stop', reason: 'normal', cause: undefined })
  }
  watch(ref: AnyRef, options?: { readonly deathPact?: boolean | undefined }): void {
    const cell = this.live('watch')
    watch(cell, ref, undefined, options !== undefined && readOptions('watch', options, { deathPact: checkBoolean }).deathPact === true)
  }
  watchWith(ref: AnyRef, message: unknown): void {
    checkMessage(message)
    watch(this.live('watch'), ref, message, false)
  }
  unwatch(ref: AnyRef): void {
    unwatch(this.live('unwatch'), ref)
  }

  ask(ref: AnyRef, question: unknown, options?: AskOptions): Promise<never> {
    this.live('ask')
    checkCan('ref', ref, ['an ActorRef', 'tell', 'ask'])
    const target = cellOf(ref)
    const adapter = adapterOf(ref)
    // Observed here, so that a handler that ended without awaiting it leaves no unhandled rejection.
    if (target === undefined && adapter === undefined) {
      const asked = (ref as ActorRef<unknown>).ask(question as never, options)
      observed(asked, () => {})
      return asked
    }
    const asked = (
      target !== undefined ? askCell(target, question, options, this, owned) : adapter!.askAs(this, true, question, options)
    ) as Promise<never>
    asked.catch(() => {})
    return asked
  }
  reply(answer: unknown): void {
    this.live('reply')
    const { message, meta } = this
    const to = (message as { replyTo?: AnyRef } | undefined)?.replyTo ?? senderOf(meta)
    if (typeof to?.tell === 'function') tellAny(this.cell.host, to, answer)
    else {
      const { host, ledger } = this.cell.dispatcher
      ledger.sent++
      host.bury(answer, this.cell.ref, undefined, 'no-recipient')
    }
  }
  forward(ref: AnyRef): void {
    const cell = this.live('forward')
    const { message } = this
    if (message === undefined) throw new NotAllowed(`${cell.ref.path} has no message to forward: it was moved on already, or this is a signal.`)
    const adapter = adapterOf(ref)
    const target = cellIn(cell.host, adapter?.cell.ref ?? ref, 'forward to')
    checkEntered(this, 'forward')
    fuse.catcher?.refuse('forward')
    const meta = onwardOf(this.meta)
    this.move()
    if (meta instanceof Envelope) meta.moved(target)
    // Not a send: the message was counted when it came here.
    target.accept(message, adapter === undefined ? meta : new Adapted(adapter, meta))
  }

  adapt<T>(fn: (message: T) => unknown, options?: { readonly key?: string | undefined }): ActorRef<T> {
    const cell = this.live('adapt')
    checkFunction('fn', fn)
    const { host } = cell
    const uid = host.nextUid()
    const key = options === undefined ? undefined : readOptions('adapt', options, { key: checkString }).key
    // Without a key nothing can replace it, so it is not kept: an actor may adapt for every message it handles.
    if (key === undefined) return new Adapter(cell, String(uid), uid, fn as (message: unknown) => unknown)
    const adapters = (cell.ensureExtras().adapters ??= new Map())
    const replaced = adapters.get(key)
    if (replaced !== undefined) {
      replaced.end()
      if (host.listening) host.observe({ type: 'adapter.replaced', ref: cell.ref, key, at: host.runtime.now() })
    }
    const adapter = new Adapter(cell, key, uid, fn as (message: unknown) => unknown)
    adapters.set(key, adapter)
    return adapter
  }
  pipeToSelf<T>(promise: PromiseLike<T>, ok: (value: T) => unknown, err: (cause: unknown) => unknown): void {
    // Before anything is refused: handed over, it is nobody else's to observe any more.
    const settling = settlementOf(promise)
    settling.catch(() => {})
    const cell = this.live('pipe to self')
    checkFunction('ok', ok)
    checkFunction('err', err)
    const ctx = cell.ctx
    const arrive = (outcome: object, make: () => unknown): void => {
      // Through an adapter, so that a throwing mapper is a failure of this actor, and in its turn.
      if (cell.ctx === ctx) new Adapter(cell, 'pipe', 0, make).tell({ type: 'piped', ...outcome })
    }
    settling.then(
      (value) => arrive({ value }, () => ok(value as T)),
      (cause: unknown) => arrive({ cause }, () => err(cause)),
    )
  }
  setReceiveTimeout(ms: number | null): void {
    const cell = this.live('set a receive timeout')
    if (ms !== null) checkFinite('ms', ms, 'above')
    cell.extras?.receiveTimer?.cancel()
    cell.ensureExtras().receiveTimer = ms === null ? undefined : new ReceiveTimer(cell, ms)
  }
  breathe(): Promise<void> {
    const { host } = this.live('breathe').dispatcher
    host.otherPlaces?.breathe()
    // Whose incarnation was cut off meanwhile learns it here: its work has no place to go to.
    const breath = new Promise<void>((drawn) => host.runtime.yield(drawn)).then(() => {
      const cell = this.live('breathe')
      host.otherPlaces?.breathe(cell)
    })
    breath.catch(() => {})
    return breath
  }
  label(text: string): void {
    this.live('be labelled').ensureExtras().label = checkString('text', text)
  }
  handOver(value: unknown): void {
    const cell = this.live('hand over')
    if (infoIn(cell, 'restarting')?.step !== 'pre-stop') throw new NotAllowed(`${cell.ref.path} can hand over only while it handles PreRestart.`)
    cell.ensureExtras().handingOver = value
  }
}

/** The context of one call of a reentrant actor. */
export class CallContext extends Context {
  readonly #main: Context
  readonly since: number
  #cut = false
  #awaits = false
  constructor(cell: Cell, main: Context) {
    super(cell)
    this.#main = main
    this.since = cell.dispatcher.now
  }
  override get ended(): boolean {
    return this.#cut || this.cell.ctx !== this.#main
  }
  /** Whether the call waits for a promise; the system counts those that do. */
  awaits(now: boolean): void {
    if (now === this.#awaits) return
    this.#awaits = now
    this.cell.host.pending += now ? 1 : -1
  }
  /** Ends the call from outside: its message counts as failed, whoever asked is told. */
  cutOff(): void {
    this.#cut = true
    this.awaits(false)
    this.fail('stopped')
  }
}
