// Looks at one send of many: who sends what to whom. How many pass between two looks is drawn by chance, for a fixed number would meet
// the same actor of a ring each time, and follows the load, so that there are some thousand samples a second. Now and then one is
// followed to its end, with all that comes of it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { NotAllowed } from '@troupe/core'
import { type Cell, Envelope, headersOf, type Meta, PendingAsk, senderOf, type SystemCore, Told, typeOf } from '@troupe/core/internal'
import { FollowedTimers } from './followed-timers.ts'
import type { SpanListener } from './listener.ts'
import { type Flow, type Origin, type Span, type Trace } from './span.ts'
import type { Closeness } from './closeness.ts'
import { type SendLooker, sharedFuse } from './shared-fuse.ts'
import { Traced, type Follower } from './traced.ts'
import { type Elsewhere, Ways } from './ways.ts'

/** After how many samples it is looked anew how many pass between two. */
const lookEvery = 64
/** Milliseconds between two traces, how many are kept, and how many messages of each. */
const traceEvery = 100
const tracesKept = 200
const spansMost = 200
/** A W3C `traceparent` of what was sampled where it came from. */
const sampledThere = /^(?!ff)[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f][13579bdf]/
/** Sends that are looked at one by one while a handler that is followed is pending. */
const hotSends = 200

interface OpenTrace {
  readonly id: number
  readonly type: string
  readonly at: number
  readonly spans: Span[]
  leftOut: number
}

/** A pending request to trace the next message of a type. */
interface Wanted {
  readonly type: string
  readonly resolve: (trace: number) => void
  readonly reject: (cause: unknown) => void
}

export class SendSampler implements SendLooker, Follower {
  readonly #core: SystemCore
  readonly #running = new AsyncLocalStorage<Span>()
  #looked = 0
  #lookedAt: number
  /** The span whose handler runs now, in its synchronous part. */
  #current: Span | undefined
  #hot = 0
  readonly #ways = new Ways()
  /** Who handles what is followed. */
  readonly #handlers = new WeakMap<Span, Cell>()
  readonly #timers: FollowedTimers = new FollowedTimers(() => this.now)
  #traces = false
  #tracedAt = -Infinity
  #wanted: readonly Wanted[] = []
  #lastId = 0
  readonly #open = new Map<number, OpenTrace>()
  /** Those that somebody looks at closely, by uid. */
  readonly close: ReadonlyMap<number, Closeness>
  /** Who hears of messages that are followed. */
  listeners: readonly SpanListener[] = []
  /** Who caused, somewhere else, what is sent now. */
  #incoming: unknown
  /** What is sent now was held: by what it was caused then, in place of what runs now. */
  #held: { readonly span: Span | undefined } | undefined

  constructor(core: SystemCore, close: ReadonlyMap<number, Closeness> = new Map()) {
    this.#core = core
    this.close = close
    this.#lookedAt = core.runtime.now()
  }

  start(): void {
    sharedFuse.add(this)
  }
  stop(): void {
    for (const { type, reject } of this.#wanted)
      reject(new NotAllowed(`No message of type ${type} was traced: the last subscription with { traces: true } has ended.`))
    this.#wanted = []
    sharedFuse.remove(this)
    this.#timers.end()
    this.#running.disable()
    this.#ways.clear()
    this.#open.clear()
  }
  /** Whether messages are followed. */
  set traces(on: boolean) {
    this.#traces = on
  }
  /** One of so many sends is looked at. */
  get rate(): number {
    return sharedFuse.mean
  }
  get now(): number {
    return this.#core.runtime.now()
  }

  get hurried(): boolean {
    if (
      this.#held?.span !== undefined ||
      this.#current !== undefined ||
      this.#wanted.length > 0 ||
      this.#incoming !== undefined ||
      this.#timers.follows
    )
      return true
    if (this.#hot === 0) return false
    this.#hot--
    return true
  }
  looksAt(cell: Cell): boolean {
    return cell.host === this.#core
  }

  look(target: Cell | PendingAsk, cell: Cell, message: unknown, meta: Meta): boolean {
    const answer = target instanceof PendingAsk
    const type = answer ? 'answer' : typeOf(message)
    // The host waits for all timers at once, in the name of whoever set one last: what they send is of nobody's making now.
    const parent = this.#core.timers.firing ? undefined : this.followed
    const setBy = this.#core.timers.firing ? this.#timers.setterOf(meta) : undefined
    const sender = this.#sender(parent)
    const from = typeof sender === 'string' ? sender : sender.ref.uid
    const receiver = answer ? target.edge?.asker.cell : cell
    const to = receiver?.ref.uid ?? 0
    this.#ways.add(sender, receiver, type, this.#current === undefined && this.#hot === 0 ? sharedFuse.mean : 1)
    this.#adapt()
    if (answer) {
      if (parent !== undefined) this.#span(parent.trace, parent.id, from, to, type, 'answer')
      for (const listener of this.listeners) listener.answered(target)
      return false
    }
    const span = this.#follow(parent, setBy, from, to, type, meta)
    const closely = span === undefined ? this.close.get(to) : undefined
    if (span === undefined && closely === undefined) return false
    const question = meta instanceof PendingAsk ? meta : undefined
    if (span !== undefined)
      for (const listener of this.listeners)
        listener.sent(span, { cell, parent: parent ?? setBy, question, incoming: parent === undefined ? this.#incoming : undefined })
    if (!Traced.follows(cell)) return span !== undefined && this.#leaves(span, cell, message, meta)
    cell.dispatcher.ledger.sent++
    cell.accept(message, closely === undefined ? new Traced(meta, span!, this) : new Traced(meta, closely.begins(type, from), closely))
    return true
  }

  /** Goes where nobody here hears of it: its headers say what it belongs to. Whether it is sent. */
  #leaves(span: Span, cell: Cell, message: unknown, meta: Meta): boolean {
    const headers: Readonly<Record<string, string>> = Object.assign({}, ...this.listeners.map((listener) => listener.leaves?.(span)), headersOf(meta))
    if (headers['traceparent'] === undefined) return false
    if (meta instanceof PendingAsk) Object.assign(meta, { headers })
    // What is neither plain nor told, as a tick of a timer, knows itself what goes along with it.
    if (meta instanceof Envelope && !(meta instanceof Told)) return false
    cell.dispatcher.ledger.sent++
    cell.accept(message, new Told(senderOf(meta), headers, meta instanceof Told ? meta.priority : undefined))
    return true
  }

  /** One that was followed where it came from is followed on here. */
  arrived(cell: Cell, message: unknown, meta: Meta): Meta {
    const incoming = headersOf(meta)?.['traceparent']
    if (!this.#traces || typeof incoming !== 'string' || !sampledThere.test(incoming)) return meta
    const span = this.#begin(undefined, 'outside', cell.ref.uid, typeOf(message), meta instanceof PendingAsk ? 'ask' : 'tell')
    for (const listener of this.listeners) listener.sent(span, { cell, parent: undefined, question: undefined, incoming })
    return new Traced(meta, span, this)
  }

  /** Not always whose turn it is: while timers fire that is a bystander, and after an `await` it is nobody's. */
  #sender(parent: Span | undefined): Cell | Elsewhere {
    if (this.#core.timers.firing) return 'timers'
    return (parent === undefined ? this.#core.running?.current : this.#handlers.get(parent)) ?? 'outside'
  }

  /** So that there are as many samples a second as are wanted, whatever the load. */
  #adapt(): void {
    if (this.#current !== undefined || ++this.#looked < lookEvery) return
    this.#looked = 0
    const { now } = this
    sharedFuse.adapt(lookEvery, now - this.#lookedAt)
    this.#lookedAt = now
  }

  /** The span of a message that is to be followed; undefined of others. */
  #follow(parent: Span | undefined, setBy: Span | undefined, from: Origin, to: number, type: string, meta: Meta): Span | undefined {
    const how = meta instanceof PendingAsk ? 'ask' : 'tell'
    const isWanted = this.#wanted.length > 0 && this.#wanted.some((wanted) => wanted.type === type)
    if (parent !== undefined) {
      const span = this.#span(parent.trace, parent.id, from, to, type, how)
      // It is followed already, as a part of what it came of.
      if (span !== undefined && isWanted) this.#found(type, span.trace)
      return span
    }
    const asked = isWanted || this.#incoming !== undefined || (setBy !== undefined && this.#timers.follows)
    if (!asked && (!this.#traces || this.now - this.#tracedAt < traceEvery)) return undefined
    this.#tracedAt = this.now
    const span = this.#begin(setBy, from, to, type, how)
    if (isWanted) this.#found(type, span.trace)
    return span
  }

  #found(type: string, trace: number): void {
    const found = this.#wanted.filter((wanted) => wanted.type === type)
    this.#wanted = this.#wanted.filter((wanted) => wanted.type !== type)
    for (const { resolve } of found) resolve(trace)
  }

  /** The first of a new trace. */
  #begin(setBy: Span | undefined, from: Origin, to: number, type: string, how: Span['how']): Span {
    const id = ++this.#lastId
    this.#open.set(id, { id, type, at: this.now, spans: [], leftOut: 0 })
    if (this.#open.size > tracesKept) this.#open.delete(this.#open.keys().next().value!)
    return this.#span(id, undefined, from, to, type, how, setBy)!
  }

  #span(trace: number, parent: number | undefined, from: Origin, to: number, type: string, how: Span['how'], setBy?: Span): Span | undefined {
    const open = this.#open.get(trace)
    if (open === undefined) return undefined
    if (open.spans.length >= spansMost) {
      open.leftOut++
      return undefined
    }
    const { now } = this
    const answered = how === 'answer' ? now : undefined
    const span: Span = {
      trace,
      id: open.spans.length,
      parent,
      from,
      to,
      type,
      how,
      setBy: setBy && { trace: setBy.trace, id: setBy.id, type: setBy.type, at: setBy.takenAt ?? setBy.sentAt },
      sentAt: now,
      takenAt: answered,
      returnedAt: answered,
      doneAt: answered,
    }
    open.spans.push(span)
    return span
  }

  get followed(): Span | undefined {
    return this.#held === undefined ? (this.#current ?? this.#running.getStore()) : this.#held.span
  }
  follow(span: Span | undefined, send: () => void): void {
    const outer = this.#held
    this.#held = { span }
    if (span !== undefined) sharedFuse.hurry()
    try {
      send()
    } finally {
      this.#held = outer
      if (span !== undefined) sharedFuse.goOn()
    }
  }

  /** What the task sends at once is followed, and belongs to what caused it elsewhere. */
  within<T>(incoming: unknown, task: () => T): T {
    const outer = this.#incoming
    this.#incoming = incoming
    sharedFuse.hurry()
    try {
      return task()
    } finally {
      this.#incoming = outer
      sharedFuse.goOn()
    }
  }

  taken(span: Span, cell: Cell): Readonly<Record<string, string>> | undefined {
    const headers = this.listeners.map((listener) => listener.taken(span, cell)).filter((some) => some !== undefined)
    return headers.length === 0 ? undefined : Object.assign({}, ...headers)
  }
  #done(span: Span, failure?: { readonly cause: unknown }): void {
    span.doneAt = this.now
    for (const listener of this.listeners) listener.done(span, failure)
  }

  run(span: Span, cell: Cell, handler: () => unknown): unknown {
    const outer = this.#current
    this.#current = span
    this.#handlers.set(span, cell)
    const note = this.#timers.note(span, cell)
    sharedFuse.hurry()
    try {
      const returned = this.#running.run(span, handler)
      if (returned instanceof Promise) {
        this.#hot = hotSends
        returned.then(note, note)
        returned.then(
          () => this.#done(span),
          (cause: unknown) => this.#done(span, { cause }),
        )
      } else this.#done(span)
      return returned
    } catch (cause) {
      this.#done(span, { cause })
      throw cause
    } finally {
      span.returnedAt = this.now
      note()
      this.#current = outer
      sharedFuse.goOn()
    }
  }

  forwarded(span: Span, to: Cell): Span {
    const next = this.#span(span.trace, span.id, span.to, to.ref.uid, span.type, 'forward')
    if (next === undefined) return span
    for (const listener of this.listeners) listener.sent(next, { cell: to, parent: span, question: undefined, incoming: undefined })
    return next
  }

  /** What went where since the last time, about. */
  takeFlows(): readonly Flow[] {
    return this.#ways.take()
  }
  /** The traces that are kept, oldest first. */
  get all(): readonly Trace[] {
    return [...this.#open.values()]
  }
  trace(id: number): Trace | undefined {
    return this.#open.get(id)
  }
  /** Traces the next message of this type and resolves with its trace id. Rejects when sampling stops, or when `signal` is aborted. */
  next(type: string, signal: AbortSignal | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      const wanted: Wanted = { type, resolve, reject }
      this.#wanted = [...this.#wanted, wanted]
      signal?.addEventListener('abort', () => {
        this.#wanted = this.#wanted.filter((one) => one !== wanted)
        reject(signal.reason)
      })
      sharedFuse.hurry()
    })
  }
}
