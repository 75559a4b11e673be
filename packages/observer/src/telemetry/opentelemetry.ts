// Figures and traces of a system for OpenTelemetry, by its API alone: whoever runs an SDK gets them. Figures are read when they are collected; of messages only
// those become spans that the observer follows.

import { type Meter, metrics as metricsApi, trace, type Tracer } from '@opentelemetry/api'
import { checkBoolean, checkCan, checkFunction, readOptions, type Table } from '@troupe/core/internal'
import type { Observer } from '../attach/observe.ts'
import { checkObserver, Kinds, outcomeName } from './naming.ts'
import { Readings } from './readings.ts'
import { OtelSpans, readTraceparent } from './spans.ts'
import { bounds, Timings } from './timings.ts'

/** The version of the semantic conventions that names and attributes follow. */
const schemaUrl = 'https://opentelemetry.io/schemas/1.37.0'

/** Where figures and traces go, and which. */
export interface OpenTelemetryOptions {
  /** The global one's, if left out. */
  readonly meter?: Meter | undefined
  /** The global one's, if left out. */
  readonly tracer?: Tracer | undefined
  /** Whether counts and measurements are reported; true if left out. */
  readonly metrics?: boolean | undefined
  /** Whether messages are followed now and then, and become spans; true if left out. */
  readonly traces?: boolean | undefined
}

/** What `openTelemetry` gives. */
export interface OpenTelemetry {
  /**
   * Runs a task; what it tells or asks at once belongs to the trace of a W3C `traceparent`, which came with a request from elsewhere. Where that was not
   * sampled, or is none, the task just runs.
   *
   * @example
   * server.on('request', (request) => telemetry.within(request.headers.traceparent, () => orders.tell({ type: 'order' })))
   */
  within<T>(traceparent: unknown, task: () => T): T
  /** Tells nothing more, and ends the spans that are open. */
  close(): void
}

const table: Table<OpenTelemetryOptions> = {
  meter: (option, value) => {
    checkCan(option, value, ['a meter of OpenTelemetry', 'createObservableGauge'])
    return value
  },
  tracer: (option, value) => {
    checkCan(option, value, ['a tracer of OpenTelemetry', 'startSpan'])
    return value
  },
  metrics: checkBoolean,
  traces: checkBoolean,
}

/**
 * Tells OpenTelemetry of a system: its figures when they are collected, under the names that become those of `prometheusMetrics`; and the messages that the
 * observer follows, as spans `process <kind>` and `ask <kind>`.
 *
 * Guarantees: OpenTelemetry is called for no message that is not followed; no attribute is a path or a part of a message; handlers of followed messages see
 * `traceparent` in `ctx.headers`, others do not. Fails: with `InvalidOption`.
 *
 * @example
 * const telemetry = openTelemetry(observe(system))
 */
export function openTelemetry(observer: Observer, options: OpenTelemetryOptions = {}): OpenTelemetry {
  checkObserver(observer)
  const { metrics = true, traces = true, ...given } = readOptions('openTelemetry', options, table)
  const { source } = observer
  const { system } = source
  const ends: (() => void)[] = []
  if (metrics) {
    const meter = given.meter ?? metricsApi.getMeter('@troupe/observer', undefined, { schemaUrl })
    const kinds = new Kinds()
    const readings = new Readings(source, kinds)
    const stop = observed(meter, readings, system.name)
    const attributes = (kind: string): { readonly system: string; readonly kind: string } => ({ system: system.name, kind })
    const advice = { explicitBucketBoundaries: [...bounds] }
    const queue = meter.createHistogram('troupe.queue', { unit: 's', description: 'How long messages waited, of those that were followed.', advice })
    const handler = meter.createHistogram('troupe.handler', {
      unit: 's',
      description: 'How long messages were handled, of those that were followed.',
      advice,
    })
    ends.push(stop, () => readings.close())
    if (traces) {
      const timings = new Timings(
        kinds,
        (kind, seconds) => queue.record(seconds, attributes(kind)),
        (kind, seconds) => handler.record(seconds, attributes(kind)),
      )
      ends.push(source.subscribe(() => {}, { traces: true, spans: timings }))
    }
  }
  if (traces) {
    const spans = new OtelSpans(given.tracer ?? trace.getTracer('@troupe/observer'), system)
    ends.push(
      source.subscribe(() => spans.sweep(), { traces: true, spans }),
      () => spans.close(),
    )
  }
  const close = (): void => {
    for (const end of ends.splice(0)) end()
  }
  void system.terminated.then(close)
  return {
    within: (traceparent, task) => {
      checkFunction('task', task)
      const incoming = traces && ends.length > 0 ? readTraceparent(traceparent) : undefined
      return incoming === undefined ? task() : source.within(incoming, task)
    },
    close,
  }
}

/** One reading for each collection tells all of them. */
function observed(meter: Meter, readings: Readings, system: string): () => void {
  const messages = meter.createObservableCounter('troupe.messages', { description: 'Messages by what became of them; sent is all.' })
  const depth = meter.createObservableGauge('troupe.mailbox.depth', { description: 'Messages that wait in mailboxes, by kind of actor.' })
  const actors = meter.createObservableGauge('troupe.actors', { description: 'Actors that live, by kind.' })
  const restarts = meter.createObservableCounter('troupe.restarts', { description: 'Restarts, by kind of actor.' })
  const dead = meter.createObservableCounter('troupe.dead_letters', { description: 'Messages that nobody got, by reason.' })
  const delay = meter.createObservableGauge('troupe.loop_delay', { unit: 's', description: 'How late the event loop was since the last collection.' })
  const all = [messages, depth, actors, restarts, dead, delay]
  const tell = async (result: {
    observe: (metric: (typeof all)[number], value: number, attributes: Record<string, string>) => void
  }): Promise<void> => {
    const { metrics, kinds, loopDelay } = await readings.read()
    for (const [outcome, count] of Object.entries(metrics.messages)) result.observe(messages, count, { system, outcome: outcomeName(outcome) })
    for (const [reason, count] of Object.entries(metrics.deadLetterReasons)) result.observe(dead, count, { system, reason })
    for (const [kind, reading] of kinds) {
      result.observe(depth, reading.depth, { system, kind })
      result.observe(actors, reading.actors, { system, kind })
      result.observe(restarts, reading.restarts, { system, kind })
    }
    result.observe(delay, loopDelay.p99, { system, quantile: '0.99' })
    result.observe(delay, loopDelay.max, { system, quantile: '1' })
  }
  meter.addBatchObservableCallback(tell, all)
  return () => meter.removeBatchObservableCallback(tell, all)
}
