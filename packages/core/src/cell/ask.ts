// A question under way: the ref that takes the answer, the envelope that travels with the question, and the deadline,
// in one object. Settles once; what comes later is a dead letter. Linked into its target, which ends it when it stops.

import type { Deadline } from '../queues/timers.ts'
import type { Signal as AbortSignalLike } from '../values/abort.ts'
import { AskRefused, AskTargetStopped, AskTimeout, Cancelled, InvalidOption } from '../values/errors.ts'
import type { ActorRef, AskOptions, Headers } from '../values/ref.ts'
import type { Cell } from './cell.ts'
import { Envelope, type Meta } from './envelope.ts'
import type { CellHost } from './host.ts'

export class PendingAsk extends Envelope implements ActorRef<unknown>, Deadline {
  readonly uid: number = 0
  at = 0
  order = 0
  target: Cell
  readonly asker: Cell | undefined
  readonly timeout: number
  resolve: ((answer: unknown) => void) | undefined = undefined
  reject: ((cause: unknown) => void) | undefined = undefined
  previousAsk: PendingAsk | undefined = undefined
  nextAsk: PendingAsk | undefined = undefined
  #unlisten: (() => void) | undefined = undefined

  constructor(target: Cell, headers: Headers | undefined, timeout: number, asker: Cell | undefined) {
    super(undefined, headers, undefined)
    this.target = target
    this.timeout = timeout
    this.asker = asker
  }

  /** The answer address is who sent the question. */
  override from(): ActorRef<unknown> {
    return this
  }

  get path(): string {
    return `/ask/${this.target.ref.path.slice(1)}`
  }

  override get deadline(): number {
    return this.settled ? Infinity : this.at
  }

  get settled(): boolean {
    return this.resolve === undefined
  }

  /** Takes the answer. The first one counts; later ones are dead letters. */
  tell(answer: unknown): void {
    const { host, ledger } = this.target.dispatcher
    ledger.sent++
    const resolve = this.resolve
    if (resolve === undefined) {
      host.bury(answer, undefined, this, 'late-reply')
      return
    }
    ledger.handled++
    this.#close(host)
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
    if (this.resolve !== undefined) return message
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
    this.#unlink()
    this.target = to
    this.link()
  }

  fire(): void {
    const { target, timeout } = this
    this.fail(new AskTimeout(target.ref.path, timeout, explain(target)))
  }

  cancel(what: string, reason: unknown): void {
    this.fail(new Cancelled(what, reason))
  }

  fail(cause: unknown): void {
    const reject = this.reject
    if (reject === undefined) return
    this.#close(this.target.dispatcher.host)
    reject(cause)
  }

  listen(signal: AbortSignalLike): void {
    const abort = (): void => this.cancel(`The question to ${this.target.ref.path}`, signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#unlisten = () => signal.removeEventListener('abort', abort)
  }

  link(): void {
    const extras = this.target.more
    const first = extras.asked
    this.nextAsk = first
    if (first !== undefined) first.previousAsk = this
    extras.asked = this
  }

  #unlink(): void {
    const { previousAsk, nextAsk } = this
    const extras = this.target.extras
    if (previousAsk !== undefined) previousAsk.nextAsk = nextAsk
    else if (extras !== undefined && extras.asked === this) extras.asked = nextAsk
    if (nextAsk !== undefined) nextAsk.previousAsk = previousAsk
    this.previousAsk = undefined
    this.nextAsk = undefined
  }

  #close(host: CellHost): void {
    this.resolve = undefined
    this.reject = undefined
    host.timers.cancel(this)
    this.#unlink()
    this.asker?.extras?.asking?.delete(this)
    this.#unlisten?.()
    this.#unlisten = undefined
  }

  override toString(): string {
    return `ActorRef(${this.path})`
  }
}

/**
 * Asks a cell. `by` is the context of whose incarnation the question is a part, if it is; `wrap` puts another envelope
 * around the question, for adapters.
 */
export function askCell(
  target: Cell,
  question: unknown,
  options: AskOptions | undefined,
  by: { readonly cell: Cell; readonly meta: Meta } | undefined,
  wrap?: (ask: PendingAsk) => Meta,
): Promise<unknown> {
  const { host } = target.dispatcher
  const given = options?.timeout
  if (given !== undefined && !(given > 0 && Number.isFinite(given)))
    return Promise.reject(new InvalidOption('timeout', given, 'use finite milliseconds above 0'))
  const now = host.runtime.now()
  const asker = by?.cell
  const timeout = within(by?.meta, now, given ?? host.askTimeout)
  const signal = options?.signal
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    return Promise.reject(new InvalidOption('signal', signal, 'use an AbortSignal'))
  if (signal?.aborted === true) return Promise.reject(new Cancelled(`The question to ${target.ref.path}`, signal.reason))
  const ask = new PendingAsk(target, options?.headers, timeout, asker)
  const promise = new Promise<unknown>((resolve, reject) => {
    ask.resolve = resolve
    ask.reject = reject
  })
  let message: unknown
  try {
    message = typeof question === 'function' ? (question as (replyTo: unknown) => unknown)(ask) : { ...(question as object), replyTo: ask }
  } catch (cause) {
    ask.fail(cause)
    return promise
  }
  // A factory may have answered already; then there is nothing to wait for.
  if (!ask.settled) {
    ask.link()
    host.timers.set(ask, now + timeout)
    if (signal !== undefined) ask.listen(signal)
    if (asker !== undefined) (asker.more.asking ??= new Set()).add(ask)
  }
  target.send(message, wrap === undefined ? ask : wrap(ask))
  return promise
}

/** What is left of the question that the asker is answering bounds its own questions. */
function within(meta: Meta, now: number, timeout: number): number {
  return meta instanceof Envelope ? Math.min(timeout, Math.max(1, meta.deadline - now)) : timeout
}

function explain(target: Cell): string {
  const { phase, dispatcher } = target
  const pending = target.extras?.pending
  const doing = pending === undefined ? '' : `, ${pending.what} in progress for ${Math.round(dispatcher.host.runtime.now() - pending.since)} ms`
  return `it is ${phase} with ${target.queuedMessages} messages queued${doing}`
}
