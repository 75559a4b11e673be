// What prom-client is told, as a real parser of Prometheus' text reads it.

import { type ActorRef, ActorSystem, type Behavior, delay, receive, same, supervise } from '@troupe/core'
import { createTestKit, type TestKit } from '@troupe/testkit'
import parse from 'parse-prometheus-text-format'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { observe } from '../../src/attach/observe.ts'
import { prometheusMetrics } from '../../src/telemetry/prometheus.ts'

interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value?: string
  readonly buckets?: Readonly<Record<string, string>>
}
interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly metrics: readonly Sample[]
}

const sink = (): Behavior<unknown> => receive(() => same)
type Job = { type: 'work' } | { type: 'fail' }
const worker = (): Behavior<Job> =>
  receive((_ctx, m) => {
    if (m.type === 'fail') throw new Error('asked to')
    return same
  })

/** Collects while virtual time goes on. */
async function collected(kit: TestKit, register: Registry): Promise<Map<string, Family>> {
  const text = register.metrics()
  await kit.advance(1)
  return new Map((parse(await text) as Family[]).map((family) => [family.name, family]))
}
function value(families: ReadonlyMap<string, Family>, name: string, labels: Readonly<Record<string, string>>): number | undefined {
  const found = families.get(name)?.metrics.find((sample) => Object.entries(labels).every(([label, text]) => sample.labels?.[label] === text))
  return found?.value === undefined ? undefined : Number(found.value)
}

test('figures are those of the system, by kind and never by path, and as Prometheus reads them', async () => {
  await using kit = createTestKit()
  const register = new Registry()
  const metrics = prometheusMetrics(observe(kit.system, { socket: false }), { register, timings: false })
  const workers = Array.from({ length: 3 }, (_, i) => kit.system.spawn(worker(), { name: `worker-${i}`, kind: 'worker' }))
  const gone = kit.system.spawn(sink(), { name: 'gone' })
  gone.stop()
  await kit.settle()
  for (const ref of workers) ref.tell({ type: 'work' })
  workers[0]!.tell({ type: 'fail' })
  gone.tell('nobody hears it')
  await kit.advance(1000)
  const families = await collected(kit, register)
  const { messages } = kit.system.metrics()
  expect(value(families, 'troupe_messages_total', { system: kit.system.name, outcome: 'handled' })).toBe(messages.handled)
  expect(value(families, 'troupe_messages_total', { outcome: 'sent' })).toBe(messages.sent)
  expect(value(families, 'troupe_messages_total', { outcome: 'failed' })).toBe(1)
  expect(value(families, 'troupe_messages_total', { outcome: 'dead_lettered' })).toBe(1)
  expect(value(families, 'troupe_actors', { kind: 'worker' })).toBe(3)
  expect(value(families, 'troupe_mailbox_depth', { kind: 'worker' })).toBe(0)
  expect(value(families, 'troupe_restarts_total', { kind: 'worker' })).toBe(1)
  expect(value(families, 'troupe_dead_letters_total', { reason: 'stopped' })).toBe(1)
  expect(value(families, 'troupe_loop_delay_seconds', { quantile: '0.99' })).toBeGreaterThanOrEqual(0)
  expect([...families.values()].map(({ type, help }) => [type, help === ''])).not.toContainEqual(['UNTYPED', true])
  for (const { metrics: samples } of families.values())
    for (const { labels = {} } of samples)
      for (const [label, text] of Object.entries(labels)) expect([label, text.includes('/')]).toEqual([label, false])
  metrics.close()
  expect((await collected(kit, register)).get('troupe_actors')?.metrics ?? []).toEqual([])
})

test('messages that wait are counted by kind, and nothing is armed between two collections', async () => {
  await using kit = createTestKit()
  const register = new Registry()
  prometheusMetrics(observe(kit.system, { socket: false }), { register, timings: false })
  const stuck = kit.system.spawn(
    receive<string>(() => new Promise<typeof same>(() => {})),
    { name: 'stuck', stopTimeout: 1 },
  )
  for (const text of ['a', 'b', 'c']) stuck.tell(text)
  await kit.settle()
  const families = await collected(kit, register)
  expect(value(families, 'troupe_mailbox_depth', { kind: 'stuck' })).toBe(2)
  expect(kit.system.metrics().subscriptions).toBe(0)
  stuck.stop()
  await kit.advance(10)
})

test("counts never go back: restarts of actors that have ended stay, and all restarts are somebody's", async () => {
  await using kit = createTestKit()
  const register = new Registry()
  prometheusMetrics(observe(kit.system, { socket: false }), { register, timings: false })
  const [seen, unseen] = [0, 1].map((i) => kit.system.spawn(worker(), { name: `w${i}`, kind: `kind${i}` })) as [ActorRef<Job>, ActorRef<Job>]
  seen.tell({ type: 'fail' })
  await kit.advance(1000)
  expect(value(await collected(kit, register), 'troupe_restarts_total', { kind: 'kind0' })).toBe(1)
  unseen.tell({ type: 'fail' })
  await kit.advance(1000)
  for (const ref of [seen, unseen]) ref.stop()
  await kit.advance(1000)
  const families = await collected(kit, register)
  expect(value(families, 'troupe_restarts_total', { kind: 'kind0' })).toBe(1)
  expect(value(families, 'troupe_restarts_total', { kind: 'ended' })).toBe(1)
  expect(value(families, 'troupe_actors', { kind: 'kind0' })).toBe(0)
})

test('a restart is counted once, also where it was decided before an old picture, or waits for its backoff', async () => {
  await using kit = createTestKit()
  const register = new Registry()
  const observer = observe(kit.system, { socket: false, every: 1000 })
  prometheusMetrics(observer, { register, timings: false })
  const supervision = supervise({ backoff: { min: 5000, max: 5000 } })
  const [quick, slow] = [undefined, supervision].map((policy, i) =>
    kit.system.spawn(worker(), { name: `w${i}`, kind: `kind${i}`, ...(policy === undefined ? {} : { supervision: policy }) }),
  ) as [ActorRef<Job>, ActorRef<Job>]
  const all = async (): Promise<number> =>
    (await collected(kit, register)).get('troupe_restarts_total')?.metrics.reduce((sum, sample) => sum + Number(sample.value), 0) ?? 0
  // Others look too, so that collections use the picture of the last round.
  const leave = observer.source.subscribe(() => {})
  await kit.advance(1000)
  quick.tell({ type: 'fail' })
  await kit.advance(100)
  expect(await all()).toBeLessThanOrEqual(1)
  await kit.advance(2000)
  expect(await all()).toBe(1)
  leave()
  slow.tell({ type: 'fail' })
  await kit.advance(100)
  expect(await all()).toBe(1)
  await kit.advance(6000)
  expect(await all()).toBe(2)
})

test('more than two hundred kinds are told together', async () => {
  await using kit = createTestKit()
  const register = new Registry()
  prometheusMetrics(observe(kit.system, { socket: false }), { register, timings: false })
  for (let i = 0; i < 300; i++) kit.system.spawn(sink(), { kind: `kind-of-${i}` })
  const { metrics } = (await collected(kit, register)).get('troupe_actors')!
  expect(metrics.length).toBeLessThanOrEqual(201)
  expect(metrics.reduce((sum, sample) => sum + Number(sample.value), 0)).toBeGreaterThanOrEqual(300)
})

test('how long messages wait and are handled is told of those that are followed, as histograms', async () => {
  await using kit = createTestKit()
  const register = new Registry()
  prometheusMetrics(observe(kit.system, { socket: false }), { register })
  const slow = kit.system.spawn(
    receive<string>((ctx) => delay(40, { clock: ctx.system.clock }).then(() => same)),
    { name: 'slow' },
  )
  for (let i = 0; i < 20; i++) slow.tell('x')
  await kit.advance(3000)
  const text = register.metrics()
  await kit.advance(1)
  const families = parse(await text) as Family[]
  const figure = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name}\\{system="[^"]*",kind="slow"\\} (.*)$`, 'm').exec(await text)?.[1])
  const count = await figure('troupe_handler_seconds_count')
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThanOrEqual(20)
  expect((await figure('troupe_handler_seconds_sum')) / count).toBeCloseTo(0.04)
  expect(await figure('troupe_queue_seconds_count')).toBe(count)
  const { type, metrics } = families.find(({ name }) => name === 'troupe_handler_seconds')!
  expect(type).toBe('HISTOGRAM')
  expect(Number(metrics[0]!.buckets!['0.1'])).toBe(count)
})

test('two systems share a registry, and one name is one system', async () => {
  const systems = ['one', 'two'].map((name) => ActorSystem.create(name, { logger: false }))
  const register = new Registry()
  const observers = systems.map((system) => observe(system, { socket: false }))
  const options = { register, timings: false }
  const first = prometheusMetrics(observers[0]!, options)
  prometheusMetrics(observers[1]!, options)
  const { metrics } = (parse(await register.metrics()) as Family[]).find(({ name }) => name === 'troupe_actors')!
  expect(new Set(metrics.map(({ labels }) => labels!['system']))).toEqual(new Set(['one', 'two']))
  expect(() => prometheusMetrics(observers[0]!, options)).toThrow(/already/)
  first.close()
  prometheusMetrics(observers[0]!, options)
  for (const system of systems) await system.shutdown()
})
