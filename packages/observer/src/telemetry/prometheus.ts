// Figures of a system for Prometheus, by prom-client: read when they are collected.

import { Counter, Gauge, Histogram, type Registry, register as ownRegister } from 'prom-client'
import { InvalidOption } from '@troupe/core'
import { checkBoolean, checkCan, readOptions, type Table } from '@troupe/core/internal'
import type { Observer } from '../attach/observe.ts'
import { checkObserver, Kinds, outcomeName } from './naming.ts'
import { type Reading, Readings } from './readings.ts'
import { bounds, Timings } from './timings.ts'

/** Where figures go, and which. */
export interface PrometheusOptions {
  /** The registry of prom-client; its own, if left out. */
  readonly register?: Registry | undefined
  /**
   * Whether messages are followed now and then, to know how long they wait and are handled; true if left out. Then the system is looked at as by
   * somebody who has the page open; without it only when figures are collected.
   */
  readonly timings?: boolean | undefined
}

/** What `prometheusMetrics` gives. */
export interface PrometheusMetrics {
  /** Takes the figures of this system out of the registry. */
  close(): void
}

const table: Table<PrometheusOptions> = {
  register: (option, value) => {
    checkCan(option, value, ['a registry of prom-client', 'registerMetric'])
    return value
  },
  timings: checkBoolean,
}

/** Systems that share a registry share its metrics, and differ by the label `system`. */
interface Family {
  readonly readers: Map<string, Readings>
  readonly queue: Histogram<'system' | 'kind'>
  readonly handler: Histogram<'system' | 'kind'>
}
const families = new WeakMap<Registry, Family>()

/**
 * Registers the figures of a system with prom-client: `troupe_messages_total{outcome}`, `troupe_mailbox_depth{kind}`, `troupe_actors{kind}`,
 * `troupe_restarts_total{kind}`, `troupe_dead_letters_total{reason}`, `troupe_loop_delay_seconds{quantile}`, and of messages that are followed `troupe_queue_seconds{kind}` and
 * `troupe_handler_seconds{kind}`; each with the label `system`.
 *
 * Guarantees: nothing is done per message; no label is a path; at most 200 kinds are told apart; the figures end with the system. Fails: with `InvalidOption`;
 * with prom-client's error where the registry has a metric of such a name from somebody else.
 *
 * @example
 * prometheusMetrics(observe(system))
 * createServer(async (_request, response) => response.end(await register.metrics())).listen(9464, '127.0.0.1')
 */
export function prometheusMetrics(observer: Observer, options: PrometheusOptions = {}): PrometheusMetrics {
  checkObserver(observer)
  const { register = ownRegister, timings = true } = readOptions('prometheusMetrics', options, table)
  const { source } = observer
  const system = source.system.name
  const family = families.get(register) ?? made(register)
  if (family.readers.has(system))
    throw new InvalidOption('observer', system, 'a system of that name has its figures in this registry already; close those first')
  const kinds = new Kinds()
  const readings = new Readings(source, kinds)
  family.readers.set(system, readings)
  const seen = new Timings(
    kinds,
    (kind, seconds) => family.queue.observe({ system, kind }, seconds),
    (kind, seconds) => family.handler.observe({ system, kind }, seconds),
  )
  const stop = timings ? source.subscribe(() => {}, { traces: true, spans: seen }) : () => {}
  let closed = false
  const close = (): void => {
    if (closed) return
    closed = true
    stop()
    readings.close()
    family.readers.delete(system)
    for (const kind of kinds.all) for (const metric of [family.queue, family.handler]) metric.remove({ system, kind })
  }
  void source.system.terminated.then(close)
  return { close }
}

function made(register: Registry): Family {
  const readers = new Map<string, Readings>()
  // One reading of each system serves all metrics of one collection.
  const each = async (act: (system: string, reading: Reading) => void): Promise<void> => {
    await Promise.all(Array.from(readers, async ([system, readings]) => act(system, await readings.read())))
  }
  const registers = [register]
  type Tell<L extends string, M> = readonly [
    name: string,
    help: string,
    labelNames: readonly L[],
    tell: (metric: M, system: string, reading: Reading) => void,
  ]
  /** What a gauge and a counter have in common: both are told anew at each collection. */
  const described = <L extends string, M extends { reset(): void }>(...[name, help, labelNames, tell]: Tell<L, M>) => ({
    name,
    help,
    labelNames: ['system' as const, ...labelNames],
    registers,
    async collect(this: M): Promise<void> {
      const told: (() => void)[] = []
      await each((system, reading) => told.push(() => tell(this, system, reading)))
      this.reset()
      for (const one of told) one()
    },
  })
  const gauge = <L extends string>(...of: Tell<L, Gauge<L | 'system'>>): Gauge<L | 'system'> => new Gauge<L | 'system'>(described(...of))
  const counter = <L extends string>(...of: Tell<L, Counter<L | 'system'>>): Counter<L | 'system'> => new Counter<L | 'system'>(described(...of))
  const histogram = (name: string, help: string): Histogram<'system' | 'kind'> =>
    new Histogram({ name, help, labelNames: ['system', 'kind'], buckets: [...bounds], registers })

  counter('troupe_messages_total', 'Messages by what became of them; sent is all.', ['outcome'], (metric, system, { metrics: { messages } }) => {
    for (const [outcome, count] of Object.entries(messages)) metric.inc({ system, outcome: outcomeName(outcome) }, count)
  })
  gauge('troupe_mailbox_depth', 'Messages that wait in mailboxes, by kind of actor.', ['kind'], (metric, system, { kinds }) => {
    for (const [kind, { depth }] of kinds) metric.set({ system, kind }, depth)
  })
  gauge('troupe_actors', 'Actors that live, by kind.', ['kind'], (metric, system, { kinds }) => {
    for (const [kind, { actors }] of kinds) metric.set({ system, kind }, actors)
  })
  counter('troupe_restarts_total', 'Restarts, by kind of actor.', ['kind'], (metric, system, { kinds }) => {
    for (const [kind, { restarts }] of kinds) metric.inc({ system, kind }, restarts)
  })
  counter('troupe_dead_letters_total', 'Messages that nobody got, by reason.', ['reason'], (metric, system, { metrics }) => {
    for (const [reason, count] of Object.entries(metrics.deadLetterReasons)) metric.inc({ system, reason }, count)
  })
  gauge('troupe_loop_delay_seconds', 'How late the event loop was since the last collection.', ['quantile'], (metric, system, { loopDelay }) => {
    metric.set({ system, quantile: '0.99' }, loopDelay.p99)
    metric.set({ system, quantile: '1' }, loopDelay.max)
  })
  const family: Family = {
    readers,
    queue: histogram('troupe_queue_seconds', 'How long messages waited in mailboxes, of those that were followed.'),
    handler: histogram('troupe_handler_seconds', 'How long messages were handled, of those that were followed.'),
  }
  families.set(register, family)
  return family
}
