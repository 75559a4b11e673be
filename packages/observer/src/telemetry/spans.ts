// Messages that the observer follows, as spans of OpenTelemetry. Which ones those are was decided before: OpenTelemetry is not called for any other.
//
//   ask order   CLIENT    ├──────────────────────┤   from the question to its answer
//   process order CONSUMER        ├─────────┤        from when it was taken until its handler is done; what it sends is below it
//
// What comes of more than a hundred messages of one handler, or after more than a hundred hops begins a trace of its own, with a link; so does what a timer sends
// where it is known what set it.

import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { type Cell, coreOf, kindOfActor } from '@troupe/core/internal'
import type { ActorSystem } from '@troupe/core'
import type { Followed, SpanListener } from '../sampling/listener.ts'
import type { Span } from '../sampling/span.ts'

const mostChildren = 100
const mostHops = 100
/** Milliseconds after which a question without an answer is no longer waited for. */
const patience = 60_000

/** What is known of a message that is followed. */
interface Entry {
  /** What its handler's spans are below. */
  context: Context
  links: Link[]
  readonly hops: number
  children: number
  process: OtelSpan | undefined
}

interface Question {
  readonly span: OtelSpan
  readonly since: number
}

export class OtelSpans implements SpanListener {
  readonly #tracer: Tracer
  readonly #system: string
  readonly #now: () => number
  /** Milliseconds since 1970 when the system's clock was at 0. */
  readonly #origin: number
  readonly #entries = new WeakMap<Span, Entry>()
  readonly #questions = new Map<object, Question>()
  readonly #open = new Set<OtelSpan>()

  constructor(tracer: Tracer, system: ActorSystem) {
    const { runtime } = coreOf(system)
    this.#tracer = tracer
    this.#system = system.name
    this.#now = () => runtime.now()
    this.#origin = Date.now() - runtime.now()
  }

  sent(span: Span, { cell, parent, question, incoming }: Followed): void {
    const above = parent === undefined ? undefined : this.#entries.get(parent)
    if (above !== undefined) above.children++
    const apart = above !== undefined && (span.from === 'timers' || above.children > mostChildren || above.hops >= mostHops)
    const links = apart ? linkTo(above.context) : []
    const outside = typeof incoming === 'string' ? readTraceparent(incoming) : (incoming as SpanContext | undefined)
    let context = outside !== undefined ? trace.setSpanContext(ROOT_CONTEXT, outside) : apart ? ROOT_CONTEXT : (above?.context ?? ROOT_CONTEXT)
    const hops = apart || above === undefined ? 0 : above.hops + 1
    if (question !== undefined && span.how === 'ask') {
      const kind = kindOfActor(cell)
      const asked = this.#begin(`ask ${kind}`, SpanKind.CLIENT, span.sentAt, this.#attributes(span, cell, kind, 'ask', 'send'), links, context)
      this.#questions.set(question, { span: asked, since: this.#now() })
      context = trace.setSpan(context, asked)
      links.length = 0
    }
    this.#entries.set(span, { context, links, hops, children: 0, process: undefined })
  }

  taken(span: Span, cell: Cell): Readonly<Record<string, string>> | undefined {
    const entry = this.#entries.get(span)
    if (entry === undefined || span.takenAt === undefined) return undefined
    const kind = kindOfActor(cell)
    const attributes = {
      ...this.#attributes(span, cell, kind, 'process', 'process'),
      'troupe.queue.duration': (span.takenAt - span.sentAt) / 1000,
    }
    // One that was put aside and is taken again has its first span until now.
    this.#end(entry.process, span.takenAt)
    entry.process = this.#begin(`process ${kind}`, SpanKind.CONSUMER, span.takenAt, attributes, entry.links, entry.context)
    entry.context = trace.setSpan(entry.context, entry.process)
    return traceparentOf(entry.process.spanContext())
  }

  leaves(span: Span): Readonly<Record<string, string>> | undefined {
    const entry = this.#entries.get(span)
    const context = entry === undefined ? undefined : trace.getSpanContext(entry.context)
    return context === undefined ? undefined : traceparentOf(context)
  }

  done(span: Span, failure: { readonly cause: unknown } | undefined): void {
    const entry = this.#entries.get(span)
    if (entry?.process === undefined) return
    if (failure !== undefined) {
      const { cause } = failure
      const error = cause instanceof Error ? cause : new Error(String(cause))
      entry.process.recordException(error, this.#time(span.doneAt ?? this.#now()))
      entry.process.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
      entry.process.setAttribute('error.type', error.name)
    }
    this.#end(entry.process, span.doneAt ?? this.#now())
    entry.process = undefined
  }

  answered(question: object): void {
    const asked = this.#questions.get(question)
    if (asked === undefined) return
    this.#questions.delete(question)
    this.#end(asked.span, this.#now())
  }

  /** Ends the spans of questions that nobody answers. */
  sweep(): void {
    const now = this.#now()
    for (const [question, { span, since }] of this.#questions) {
      if (now - since < patience) break
      this.#questions.delete(question)
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'no answer was seen' })
      this.#end(span, now)
    }
  }
  close(): void {
    for (const span of this.#open) span.end(this.#time(this.#now()))
    this.#open.clear()
    this.#questions.clear()
  }

  #time(ms: number): number {
    return this.#origin + ms
  }
  #begin(name: string, kind: SpanKind, at: number, attributes: Record<string, string | number>, links: Link[], context: Context): OtelSpan {
    const span = this.#tracer.startSpan(name, { kind, startTime: this.#time(at), attributes, links: [...links] }, context)
    this.#open.add(span)
    return span
  }
  #end(span: OtelSpan | undefined, at: number): void {
    if (span !== undefined && this.#open.delete(span)) span.end(this.#time(at))
  }

  #attributes(span: Span, cell: Cell, kind: string, name: string, type: string): Record<string, string | number> {
    return {
      'messaging.system': 'troupe',
      'messaging.operation.name': name,
      'messaging.operation.type': type,
      'messaging.destination.template': kind,
      'troupe.system': this.#system,
      'troupe.message.type': span.type,
      'troupe.incarnation': cell.extras?.incarnation ?? 0,
    }
  }
}

function linkTo(context: Context): Link[] {
  const span = trace.getSpanContext(context)
  return span === undefined ? [] : [{ context: span }]
}

/** Only of what is sampled. */
function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): { readonly traceparent: string } | undefined {
  return (traceFlags & 1) === 1 ? { traceparent: `00-${traceId}-${spanId}-01` } : undefined
}

/** The sender of a W3C `traceparent`; undefined for what is none, and for one that was not sampled there. */
export function readTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    typeof text === 'string' ? (/^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/.exec(text) ?? []) : []
  if (traceId === '' || /^0+$/.test(traceId) || /^0+$/.test(spanId) || (Number.parseInt(flags, 16) & 1) === 0) return undefined
  return { traceId, spanId, traceFlags: 1, isRemote: true }
}
