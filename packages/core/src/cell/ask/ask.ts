// A question under way: the ref that takes the answer, the envelope that travels with the question, and the deadline,
// in one object. Its deadline is armed at once, or after the drain that may answer it (young-asks). Settles once; what comes later is a dead letter. Linked into its target, which ends it when it stops,
// and, where a handler asked it, into its asker. Kept small: it is most of what an ask costs.

import { isAborted, listenTo, reasonOf } from '../../ports/on-abort.ts'
import type { Deadline } from '../../queues/timers.ts'
import type { AbortSignalLike } from '../../values/abort.ts'
import { any, checkFinite, checkKnown, checkOneOf, checkSignal, type Table, unreadable } from '../../values/checks.ts'
import { AskRefused, AskRejected, AskTargetStopped, AskTimeout, Cancelled, rejectionIn } from '../../values/errors.ts'
import type { ActorRef, AskOptions, DeadlockMode, Headers } from '../../values/ref.ts'
import { isThenable, observed } from '../../values/thenable.ts'
import { explain } from './explanation.ts'
import type { Cell } from '../turn/cell.ts'
import type { Context } from '../context/context.ts'
import { AskEdge, deadlockModes, deadlockOf } from './deadlock.ts'
import { Envelope, type Meta } from '../message/envelope.ts'
import { fuse } from '../message/fuse.ts'
import type { CellHost } from '../turn/host.ts'

type Resolve = (answer: unknown) => void
type Reject = (cause: unknown) => void

export class PendingAsk extends Envelope implements ActorRef<unknown>, Deadline {
  /** Unset until somebody needs to know: a field that begins as a number is a box of its own in every ask. */
  at!: number
  order = 0
  declare target: Cell
  override readonly headers: Headers | undefined
  /** 0 once it has run out. */
  declare timeout: number
  declare resolve: Resolve | undefined
  declare reject: Reject | undefined
  previousAsk: PendingAsk | undefined
  nextAsk: PendingAsk | undefined
  /** Taken from the mailbox of the present target; `stashed` while it is in its stash, and until it is taken again. */
  opened: boolean | 'stashed' = false
  /** The asker's side, where a handler asked. */
  edge: AskEdge | undefined
  /** Called when it has been settled, however. */
  onSettled: (() => void) | undefined

  constructor(target: Cell, headers: Headers | undefined, timeout: number, resolve: Resolve, reject: Reject) {
    super()
    this.headers = headers
    this.target = target
    this.timeout = timeout
    this.resolve = resolve
    this.reject = reject
  }

  /** The answer address is who sent the question. */
  override from(): ActorRef<unknown> {
    return this
  }

  override asked(): PendingAsk {
    return this
  }

  override get deadline(): number {
    // Whoever has answered is free; whoever has let the time run out has none left.
    if (this.settled) return this.timeout === 0 ? -Infinity : Infinity
    return this.at ?? this.target.dispatcher.host.youngAsks.began + this.timeout
  }

  get uid(): number {
    return 0
  }

  get path(): string {
    return `/ask/${this.target.ref.path.slice(1)}`
  }

  get settled(): boolean {
    return this.resolve === undefined
  }

  /** Takes the answer. The first one counts; later ones are dead letters. */
  tell(answer: unknown): void {
    if (--fuse.left === 0 && fuse.burn(this, answer, undefined)) return
    const { host, ledger } = this.target.dispatcher
    ledger.sent++
    if (this.resolve === undefined) return host.bury(answer, undefined, this, 'late-reply')
    ledger.handled++
    this.settleUncounted(answer)
  }

  /** Takes an answer that was counted where it was given. */
  settleUncounted(answer: unknown): void {
    const resolve = this.resolve
    if (resolve === undefined) return
    const rejection = typeof answer === 'object' ? rejectionIn(answer) : undefined
    if (rejection !== undefined) return this.fail(new AskRejected(this.target.ref.path, rejection.cause))
    this.edge?.note(true, answer)
    this.close(this.target.dispatcher.host)
    resolve(answer)
  }

  ask(): Promise<never> {
    return Promise.reject(new AskRefused(this.path, 'an answer address takes no questions'))
  }

  offer(answer: unknown): Promise<void> {
    this.tell(answer)
    return Promise.resolve()
  }

  stop(): void {}

  /** An expired or aborted question is skipped when its turn comes. */
  override open(cell: Cell, message: unknown): unknown {
    if (this.resolve !== undefined) {
      this.opened = true
      return message
    }
    cell.dispatcher.host.drop(message, undefined, 'expired')
    return undefined
  }

  override end(reason: 'failed' | 'unhandled' | 'refused' | 'stopped', cause: unknown): void {
    if (reason === 'stopped') this.fail(new AskTargetStopped(this.target.ref.path, cause))
    else if (reason === 'refused') this.fail(new AskRefused(this.target.ref.path, String(cause)))
    else this.fail(cause)
  }

  override moved(to: Cell): void {
    if (this.settled) return
    this.unlink()
    this.target = to
    this.opened = false
    this.link()
    // A question that is handed on can close a cycle as well as one that is asked.
    const { edge } = this
    if (edge === undefined || edge.asker.cell.extras?.pending === undefined || !edge.binds) return
    const error = deadlockOf(edge)
    if (error !== undefined) this.fail(error)
  }

  fire(): void {
    const { timeout, target } = this
    const { ref, host } = target
    const explanation = explain(this)
    const asker = this.edge?.asker.cell.ref
    if (host.listening) host.observe({ type: 'ask.timeout', ref, asker, ms: timeout, explanation, at: host.runtime.now() })
    this.timeout = 0
    this.fail(new AskTimeout(ref.path, timeout, explanation))
  }

  cancel(what: string, reason: unknown): void {
    this.fail(new Cancelled(what, reason))
  }

  fail(cause: unknown): void {
    const reject = this.reject
    if (reject === undefined) return
    this.edge?.note(false, cause)
    this.close(this.target.dispatcher.host)
    reject(cause)
  }

  listen(signal: AbortSignalLike): void {
    const unlisten = listenTo(signal, () => this.cancel(`The question to ${this.target.ref.path}`, reasonOf(signal)))
    // A signal that calls back at once has cancelled it already.
    if (this.settled) unlisten()
    else this.onSettled = unlisten
  }

  link(): void {
    // The dead answer nobody: the question ends as soon as it gets there, and must leave no list behind.
    const { target } = this
    if (target.phase !== 'running') {
      if (target.phase === 'terminated') return
      if (refusals.has(target)) return this.fail(refusals.get(target))
    }
    const extras = target.ensureExtras()
    const first = extras.asked
    if (first !== undefined) {
      this.nextAsk = first
      first.previousAsk = this
    }
    extras.asked = this
  }

  /** No longer ends with its target. */
  unlink(): void {
    const { previousAsk, nextAsk } = this
    if (previousAsk !== undefined) {
      previousAsk.nextAsk = nextAsk
      this.previousAsk = undefined
    } else {
      const extras = this.target.extras
      if (extras !== undefined && extras.asked === this) extras.asked = nextAsk
    }
    if (nextAsk !== undefined) {
      nextAsk.previousAsk = previousAsk
      this.nextAsk = undefined
    }
  }

  private close(host: CellHost): void {
    this.resolve = undefined
    this.reject = undefined
    host.timers.cancel(this)
    this.unlink()
    this.edge?.unlink()
    const { onSettled } = this
    if (onSettled !== undefined) {
      this.onSettled = undefined
      onSettled()
    }
  }

  override toString(): string {
    return `ActorRef(${this.path})`
  }
}

/** Why actors that cannot come up for now take no questions. */
const refusals = /* @__PURE__ */ new WeakMap<Cell, unknown>()

/** Fails the questions that wait for an actor to come up, and those that are asked until `takeAsks`. For packages whose actors need something outside to start. */
export function refuseAsks(cell: Cell, cause: unknown): void {
  refusals.set(cell, cause)
  const waiting: PendingAsk[] = []
  for (let ask = cell.extras?.asked; ask !== undefined; ask = ask.nextAsk) if (!ask.opened) waiting.push(ask)
  for (const ask of waiting) ask.fail(cause)
}
export function takeAsks(cell: Cell): void {
  refusals.delete(cell)
}

/** What `ask` knows, and what each may be. */
export const askTable: Table<AskOptions> = {
  timeout: [checkFinite, 'above'],
  signal: checkSignal,
  headers: any,
  deadlock: [checkOneOf, deadlockModes],
}

/** Stands for a time that was not read. */
const unread = -1

/** The context of the handler that runs now; undefined outside of turns. */
export function contextNow(host: CellHost): Context | undefined {
  const cell = host.running?.current
  return cell?.extras?.calling ?? cell?.ctx
}

// One executor for all asks: a closure less for each. It runs at once, inside `new Promise`.
let resolveLast: Resolve
let rejectLast: Reject
const capture = (resolve: Resolve, reject: Reject): void => {
  resolveLast = resolve
  rejectLast = reject
}

/** How a question is asked; one object for many questions. */
export interface AskManner {
  /** It ends with the incarnation that asks it. */
  readonly owned: boolean
  /** Puts another envelope around it, for adapters. */
  readonly wrap?: (ask: PendingAsk) => Meta
}
export const owned: AskManner = { owned: true }

/** Asks a cell. `asker` is the context whose handler asks, as far as that is known. */
export function askCell(
  target: Cell,
  question: unknown,
  options: AskOptions | undefined,
  asker: Context | undefined,
  manner?: AskManner,
): Promise<unknown> {
  if (typeof question !== 'function' && (typeof question !== 'object' || question === null))
    return Promise.reject(new AskRefused(target.ref.path, 'a question is an object, or a function that makes one of the address to answer'))
  const { host } = target.dispatcher
  let timeout = host.askTimeout
  let headers: Headers | undefined
  let signal: AbortSignalLike | undefined
  let { deadlock } = host
  if (options !== undefined) {
    try {
      checkKnown('ask', options, askTable)
      // Each looked at once: what was checked is what is used.
      const { timeout: ms, deadlock: mode } = options
      headers = options.headers
      signal = options.signal
      check(target, ms, signal, mode)
      timeout = ms ?? timeout
      deadlock = mode ?? deadlock
    } catch (cause) {
      return Promise.reject(unreadable('options', options, cause))
    }
  }
  // From outside, time begins with the drain that this leads to; inside of one it may be late, so the clock is read.
  const now = asker === undefined && host.running === undefined ? unread : host.runtime.now()
  let until = now === unread ? unread : now + timeout
  if (asker !== undefined) {
    const bound = boundOf(asker, host)
    // Use the outer deadline itself: recomputing it from the remaining time could round to an earlier one.
    if (bound < until) {
      until = Math.max(bound, now + 1)
      timeout = until - now
    }
  }
  const promise = new Promise<unknown>(capture)
  const ask = new PendingAsk(target, headers, timeout, resolveLast, rejectLast)
  let message: unknown
  try {
    message = typeof question === 'function' ? made(question as (replyTo: unknown) => unknown, ask) : withReplyTo(question, ask)
    if (asker !== undefined && !ask.settled) bindAsker(ask, asker, manner?.owned === true, deadlock)
    // A factory may have answered already; then there is nothing to wait for.
    if (!ask.settled) {
      ask.link()
      // Its target cannot come up for now, and takes no questions.
      if (ask.settled) return promise
      if (signal !== undefined) ask.listen(signal)
    }
  } catch (cause) {
    ask.fail(typeof question === 'function' ? cause : unreadable('question', question, cause))
    return promise
  }
  target.send(message, manner?.wrap?.(ask) ?? ask)
  if (ask.resolve !== undefined) startClock(ask, until)
  return promise
}

/** Arms the deadline: after the drain that may answer it, or now where no drain is on its way. */
function startClock(ask: PendingAsk, until: number): void {
  const { dispatcher } = ask.target
  const { host } = dispatcher
  if (!dispatcher.awake) return host.timers.set(ask, until === unread ? host.runtime.now() + ask.timeout : until)
  if (until !== unread) ask.at = until
  host.youngAsks.add(ask)
}

/** The question that a factory makes. */
function made(factory: (replyTo: unknown) => unknown, ask: PendingAsk): unknown {
  const message = factory(ask)
  if (!isThenable(message)) return message
  observed(message, () => {})
  throw new AskRefused(ask.target.ref.path, 'the function that makes it returned a promise; await first, and then ask')
}

/** The question as a message. A name first and the spread after it: the other way round costs a microsecond more. */
function withReplyTo(question: object, ask: PendingAsk): object {
  const message: { replyTo: unknown } = { replyTo: ask, ...question }
  if (message.replyTo !== ask) message.replyTo = ask
  return message
}

/** What is wrong with the options is thrown before anything was sent. */
function check(target: Cell, timeout: number | undefined, signal: AbortSignalLike | undefined, deadlock: DeadlockMode | undefined): void {
  if (timeout !== undefined) checkFinite('timeout', timeout, 'above')
  if (isAborted(signal)) throw new Cancelled(`The question to ${target.ref.path}`, reasonOf(signal!))
  if (deadlock !== undefined) checkOneOf('deadlock', deadlock, deadlockModes)
}

/** Notes who asks. A handler that is already pending waits from now on; one that is not may still return without waiting. */
function bindAsker(ask: PendingAsk, asker: Context, isOwned: boolean, mode: AskEdge['mode']): void {
  const edge = new AskEdge(ask, asker, isOwned, mode)
  const error = asker.cell.extras?.pending === undefined ? undefined : deadlockOf(edge)
  if (error !== undefined) throw error
  ask.edge = edge
  edge.link()
}

/** What is left of the question that the asker is answering bounds its own questions. */
function boundOf(asker: Context, host: CellHost): number {
  const { meta } = asker
  // Another system may count its time from elsewhere.
  return meta instanceof Envelope && asker.cell.dispatcher.host === host ? meta.deadline : Infinity
}
