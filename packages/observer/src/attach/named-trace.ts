// A trace as somebody reads it: with what its actors are called.

import type { Span } from '../sampling/span.ts'
import type { ObservationSource } from '../source/source.ts'
import type { NamedSpan, NamedTrace } from './protocol.ts'

/** Undefined where there is none of that number any more. */
export async function namedTrace(source: ObservationSource, id: number): Promise<NamedTrace | undefined> {
  const trace = source.traces.find((one) => one.id === id)
  if (trace === undefined) return undefined
  const names = await source.names(new Set(trace.spans.flatMap(({ from, to }) => (typeof from === 'number' ? [from, to] : [to]))))
  const called = (who: Span['from']): string => (typeof who === 'string' ? who : who === 0 ? 'outside' : (names.get(who)?.path ?? `actor ${who}`))
  const named = (span: Span): NamedSpan => ({ ...span, fromName: called(span.from), toName: called(span.to) })
  return { ...trace, spans: trace.spans.map(named) }
}
