// Traces that go on where a message does: to another node of a cluster, which has an observer of its own, and to a thread and back.

import { InMemorySpanExporter, BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Cluster, memory } from '@troupe/cluster'
import { type ActorRef, ActorSystem, receive, same } from '@troupe/core'
import { threads } from '@troupe/node'
import { expect, test } from 'vitest'
import { observe } from '../../src/attach/observe.ts'
import { openTelemetry, type OpenTelemetry } from '../../src/telemetry/opentelemetry.ts'
import { porter } from './porter.mjs'

type Order = { type: 'order'; replyTo: ActorRef<unknown> }

/** Traces of a system, kept in memory. */
function traced(system: ActorSystem): { readonly exporter: InMemorySpanExporter; readonly telemetry: OpenTelemetry } {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return { exporter, telemetry: openTelemetry(observe(system, { socket: false }), { tracer: provider.getTracer('test'), metrics: false }) }
}
const caller = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

test('a message to another node carries the trace along in its headers, and is followed on there', async () => {
  const engine = memory()
  const [a, b] = ['a', 'b'].map((node) => ActorSystem.create(node, { logger: false, askTimeout: 30_000 })) as [ActorSystem, ActorSystem]
  const [near] = await Promise.all([a, b].map((system) => Cluster.join(system, { name: 'shops', node: system.name, engine })))
  const [here, there] = [traced(a), traced(b)]
  const seen: unknown[] = []
  b.spawn(
    receive<Order>((ctx, m) => {
      seen.push(ctx.headers)
      m.replyTo.tell('packed')
      return same
    }),
    { name: 'packer' },
  )
  const far = (await near!.find('b', '/user/packer')) as ActorRef<Order>
  const shop = a.spawn(
    receive<Order>(async (ctx, m) => {
      m.replyTo.tell(await ctx.ask(far, { type: 'order' }, { headers: { user: '7' } }))
      return same
    }),
    { name: 'shop' },
  )
  expect(await here.telemetry.within(caller, () => shop.ask({ type: 'order' }))).toBe('packed')
  await Promise.all([a, b].map((system) => system.shutdown()))
  const handled = here.exporter.getFinishedSpans().find(({ name }) => name === 'process shop')!
  const asked = here.exporter.getFinishedSpans().find(({ parentSpanContext }) => parentSpanContext?.spanId === handled.spanContext().spanId)!
  const packed = there.exporter.getFinishedSpans().find(({ name }) => name === 'process packer')!
  expect([handled, asked, packed].map((span) => span.spanContext().traceId)).toEqual(Array(3).fill('a'.repeat(32)))
  expect(packed.parentSpanContext?.spanId).toBe(asked.spanContext().spanId)
  expect(seen).toEqual([{ user: '7', traceparent: `00-${'a'.repeat(32)}-${packed.spanContext().spanId}-01` }])
})

test('a handler on a thread sees the trace in its headers; what it passes them on with is followed when it comes back', async () => {
  const system = ActorSystem.create('mill', { logger: false })
  threads(system, { size: 2 })
  const { exporter, telemetry } = traced(system)
  let hear = (_headers: unknown): void => {}
  const heard = new Promise<unknown>((resolve) => (hear = resolve))
  const listener = system.spawn(
    receive<unknown>((_ctx, m) => {
      hear(m)
      return same
    }),
    { name: 'listener' },
  )
  const far = system.spawn(porter(), { name: 'porter', dispatcher: 'parallel', placement: { thread: 1 } })
  const gate = system.spawn(
    receive<string>(() => {
      far.tell({ type: 'carry', to: listener })
      return same
    }),
    { name: 'gate' },
  )
  telemetry.within(caller, () => gate.tell('open'))
  const carried = (await heard) as { readonly traceparent: string }
  await system.shutdown()
  const spans = exporter.getFinishedSpans()
  const [first, last] = ['process gate', 'process listener'].map((name) => spans.find((span) => span.name === name)!)
  expect(carried.traceparent).toBe(`00-${'a'.repeat(32)}-${first!.spanContext().spanId}-01`)
  expect(last!.parentSpanContext?.spanId).toBe(first!.spanContext().spanId)
  expect(last!.spanContext().traceId).toBe('a'.repeat(32))
})
