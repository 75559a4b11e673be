// The figures of a system with threads: counts, metrics, phases and the numbers of threads see all of them.

import { expect, test } from 'vitest'
import { measured, type ActorRef, type ActorSnapshot, buffered, type Observation, type SystemMetrics } from '@troupe/core'
import { relay } from '../dist-test/relay.js'
import { subject, type Subject } from '../dist-test/subject.js'
import { type Stage, stageDefaults, stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

/** An actor on a thread with as many children beside it, and their refs. */
async function family(s: Stage, children: number): Promise<{ readonly parent: ActorRef<Subject>; readonly kids: ActorRef<Subject>[] }> {
  const parent = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 0 }, script: { quiet: true } })
  for (let i = 0; i < children; i++) parent.tell({ type: 'spawn', name: `kid${i}` })
  await s.until('the children', () => s.reports.filter((r) => r.what === 'spawned').length === children)
  return { parent, kids: s.reports.filter((r) => r.what === 'spawned').map((r) => r.value as ActorRef<Subject>) }
}
const dispatcherOf = (metrics: SystemMetrics, name: string) => metrics.dispatchers.find((d) => d.name === name)!

test('counts see actors below an actor of a thread, as soon as that is heard of', async () => {
  const s = stage()
  const { parent, kids } = await family(s, 3)
  // The reporter, the actor, and its three.
  expect(s.system.counts()).toMatchObject({ active: 5, terminated: 0 })
  expect(s.system.metrics()).toMatchObject({ active: 5, terminated: 0 })
  kids[0]!.stop()
  await s.system.whenTerminated(kids[0]!)
  expect(s.system.counts()).toMatchObject({ active: 4, terminated: 1 })
  parent.stop()
  await s.system.whenTerminated(parent)
  expect(s.system.counts()).toMatchObject({ active: 1, terminated: 4 })
  await s.end()
  expect(s.system.counts()).toMatchObject({ active: 0, terminated: 5 })
})

test('an actor that an actor of a thread spawns on another is counted once', async () => {
  const s = stage()
  const { parent } = await family(s, 0)
  parent.tell({ type: 'spawn', name: 'far', dispatcher: 'pinned' })
  await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
  const far = s.reports.find((r) => r.what === 'spawned')!.value as ActorRef<Subject>
  await far.ask({ type: 'echo', value: 1 })
  expect(s.system.counts()).toMatchObject({ active: 3, terminated: 0 })
  await s.end()
  expect(s.system.counts()).toMatchObject({ active: 0, terminated: 3 })
})

test('restarts on threads are counted, and stay counted when the thread is lost', async () => {
  const s = stage()
  const { parent, kids } = await family(s, 2)
  kids[0]!.tell({ type: 'throw', message: 'once' })
  await s.until('the restart', () => s.system.counts().supervision.restarts === 1)
  expect(await kids[0]!.ask({ type: 'state' })).toMatchObject({ incarnation: 1 })
  const before = s.system.metrics()
  expect(before.supervision.restarts).toBe(1)
  s.threads.terminate(0)
  await s.until('its loss', () => s.system.counts().supervision.restarts === 2)
  await parent.ask({ type: 'echo', value: 1 })
  const after = s.system.metrics()
  // Both children are gone with their thread; the actor itself is back.
  expect(after).toMatchObject({ active: 2, terminated: 2, supervision: { restarts: 2 } })
  for (const key of ['sent', 'handled', 'failed'] as const) expect(after.messages[key]).toBeGreaterThanOrEqual(before.messages[key])
  await s.end()
})

test('messages and their reasons are those of the ledger of all threads', async () => {
  const s = stage()
  const { kids } = await family(s, 2)
  for (let i = 0; i < 100; i++) kids[0]!.tell({ type: 'note', value: i })
  await s.hears('note 99')
  kids[1]!.stop()
  await s.system.whenTerminated(kids[1]!)
  // To a child that is gone, by its sibling: a dead letter of the thread.
  kids[0]!.tell({ type: 'tell', ref: kids[1] as never, message: { type: 'note', value: 'late' } })
  await s.until('the dead letter', () => s.system.metrics().messages.deadLettered > 0)
  const { queued: _q, stashed: _s, inProgress: _i, unknown: _u, ...ledger } = await s.system.ledger()
  const metrics = s.system.metrics()
  expect(metrics.messages).toEqual(ledger)
  expect(metrics.messages.deadLettered).toBe(1)
  expect(metrics.deadLetterReasons).toEqual({ stopped: 1 })
  await s.end()
})

test('the dispatchers of threads tell what their threads do', async () => {
  const s = stage()
  const { kids } = await family(s, 3)
  for (let i = 0; i < 500; i++) for (const kid of kids) kid.tell({ type: 'note', value: i })
  await s.hears('note 499', 3)
  const pinned = s.subject({ dispatcher: 'pinned', script: { quiet: true } })
  await pinned.ask({ type: 'echo', value: 1 })
  // Asks every thread, so that all have shown all by then.
  await s.system.ledger()
  const metrics = s.system.metrics()
  expect(dispatcherOf(metrics, 'parallel')).toMatchObject({ state: 'running', actors: 4 })
  expect(dispatcherOf(metrics, 'parallel').messages).toBeGreaterThanOrEqual(1500)
  expect(dispatcherOf(metrics, 'parallel').turns).toBeGreaterThan(0)
  expect(dispatcherOf(metrics, 'parallel').messagesPerTurn).toBeGreaterThan(0)
  expect(dispatcherOf(metrics, 'parallel').fairness).toBeLessThan(1)
  expect(dispatcherOf(metrics, 'parallel').fairness).toBeGreaterThan(0.5)
  expect(dispatcherOf(metrics, 'pinned')).toMatchObject({ actors: 1 })
  const turns = dispatcherOf(metrics, 'pinned').turns
  expect(turns).toBeGreaterThan(0)
  pinned.stop()
  await s.until('its thread to go', () => s.threads.vitals().length === 2)
  expect(dispatcherOf(s.system.metrics(), 'pinned').turns).toBeGreaterThanOrEqual(turns)
  await s.end()
  expect(dispatcherOf(s.system.metrics(), 'parallel').messages).toBeGreaterThanOrEqual(1500)
})

test.skipIf(stageDefaults.sharedMemory === false)('active workers are threads that are at work, while they are', async () => {
  const s = stage()
  const workers = (): number => dispatcherOf(s.system.metrics(), 'parallel').activeWorkers
  const [a, b] = [0, 1].map((thread) => s.subject({ dispatcher: 'parallel', placement: { thread }, script: { quiet: true } }))
  await Promise.all([a!, b!].map((r) => r.ask({ type: 'echo', value: 1 })))
  await s.until('rest', () => workers() === 0)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  for (const r of [a!, b!]) r.tell({ type: 'hold', gate })
  await s.until('work', () => workers() === 2)
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  await Promise.all([a!, b!].map((r) => r.ask({ type: 'echo', value: 1 })))
  await s.until('rest', () => workers() === 0)
  await s.end()
})

test('the phase of an actor below an actor of a thread does not lag the tree', async () => {
  const s = stage()
  const { kids } = await family(s, 1)
  const [kid] = kids as [ActorRef<Subject>]
  const inTree = async (): Promise<string | undefined> => {
    const find = (at: ActorSnapshot): ActorSnapshot | undefined =>
      at.path === kid.path ? at : at.children.map((c) => find(c)).find((found) => found !== undefined)
    return find(await s.system.inspect())?.phase
  }
  const agree = async (phase: string): Promise<void> => {
    for (;;) {
      const seen = await inTree()
      // What was asked for later may have come about meanwhile; what the tree said, it has caught up with.
      if (seen === phase || (seen === undefined && phase === 'terminated')) break
    }
    expect(s.system.phaseOf(kid)).toBe(phase)
  }
  await agree('running')
  s.system.suspend(kid, 'to see')
  await agree('suspended')
  s.system.resume(kid)
  await agree('running')
  kid.stop()
  await agree('terminated')
  await s.end()
})

test('the phase of an actor that has not begun is known when its ref comes', async () => {
  const s = stage()
  const slow = s.subject({ name: 'slow', dispatcher: 'parallel', script: { quiet: true, slowStart: 200 } })
  slow.tell({ type: 'spawn', name: 'kid' })
  await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
  const kid = s.reports.find((r) => r.what === 'spawned')!.value as ActorRef<Subject>
  expect(['created', 'starting']).toContain(s.system.phaseOf(kid))
  await s.until('its start', () => s.system.phaseOf(kid) === 'running')
  await s.end()
})

test('the phase of an actor whose ref came by a third thread is asked of its own, and then told', async () => {
  const s = stage()
  const by = s.system.spawn(relay(s.report), { dispatcher: 'parallel', placement: { thread: 1 } })
  const far = s.system.spawn(subject({ report: by, quiet: true }), { name: 'far', dispatcher: 'parallel', placement: { thread: 0 } })
  far.tell({ type: 'spawn', name: 'kid' })
  await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
  const kid = s.reports.find((r) => r.what === 'spawned')!.value as ActorRef<Subject>
  s.system.suspend(kid, 'to see')
  await s.until('the phase', () => s.system.phaseOf(kid) === 'suspended')
  s.system.kill(kid)
  await s.until('the end', () => s.system.phaseOf(kid) === 'terminated')
  await s.end()
})

test('inspect of an actor below an actor of a thread shows what it is there', async () => {
  const s = stage()
  const { kids } = await family(s, 1)
  const [kid] = kids as [ActorRef<Subject>]
  s.system.suspend(kid, 'to see')
  await s.until('suspended', () => s.system.phaseOf(kid) === 'suspended')
  kid.tell({ type: 'note', value: 1 })
  kid.tell({ type: 'note', value: 2 })
  let seen = await s.system.inspect(kid)
  while (seen.queued < 2) seen = await s.system.inspect(kid)
  expect(seen).toMatchObject({ path: kid.path, phase: 'suspended', thread: 0, waiting: { reason: 'to see' }, mailbox: { kind: 'unbounded' } })
  s.system.resume(kid)
  await s.hears('note 2')
  await s.end()
})

test('each thread has a number of its own, pinned ones too, and keeps it when it is replaced', async () => {
  const s = stage()
  const lost = buffered<Extract<Observation, { type: 'thread.lost' }>>(10)
  lost.attach(s.system.events, 'thread.lost')
  const [a, b] = ['a', 'b'].map((name) => s.subject({ name, dispatcher: 'pinned', script: { quiet: true } }))
  await Promise.all([a!, b!].map((r) => r.ask({ type: 'echo', value: 1 })))
  const numbers = (): number[] =>
    s.threads
      .vitals()
      .map((v) => v.thread)
      .toSorted((x, y) => x - y)
  expect(numbers()).toEqual([0, 1, 2, 3])
  const tree = await s.system.inspect()
  const placed = tree.children.filter((c) => c.name === 'a' || c.name === 'b').map((c) => c.thread!)
  expect(placed.toSorted((x, y) => x - y)).toEqual([2, 3])
  s.threads.terminate(3)
  await s.until('its loss', () => lost.size > 0)
  expect(lost.drain()).toMatchObject([{ thread: 3, why: 'terminated', cause: { thread: 3 } }])
  await Promise.all([a!, b!].map((r) => r.ask({ type: 'echo', value: 1 })))
  expect(numbers()).toEqual([0, 1, 2, 3])
  // A number is free once its thread is gone.
  a!.stop()
  await s.until('its thread to go', () => s.threads.vitals().length === 3)
  const c = s.subject({ name: 'c', dispatcher: 'pinned', script: { quiet: true } })
  await c.ask({ type: 'echo', value: 1 })
  expect(numbers()).toEqual([0, 1, 2, 3])
  expect(() => s.threads.terminate(9)).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  await s.end()
})

test('children in the tree are on the thread of their parent', async () => {
  const s = stage()
  await family(s, 1)
  const tree = await s.system.inspect()
  expect(tree.children.find((c) => c.name === 'a')?.children).toMatchObject([{ name: 'kid0', thread: 0 }])
  await s.end()
})

test('an actor of a thread pushes its metrics where asked, and knows the id of its system', async () => {
  const s = stage()
  const pushed = buffered<Extract<Observation, { type: 'metrics.actor' | 'metrics.system' }>>(1000)
  pushed.attach(s.system.events, 'metrics.actor')
  const ref = s.subject({ name: 'a', dispatcher: 'parallel', script: { quiet: true }, metrics: measured({ every: 5 }) })
  expect(await ref.ask({ type: 'system' })).toBe(s.system.id)
  // What was pushed before it answered.
  pushed.drain()
  await s.until('metrics', () => pushed.size >= 2)
  const [first, second] = pushed.drain()
  expect(first).toMatchObject({ ref: { path: '/user/a' }, metrics: { invoker: { processed: 1 } } })
  expect(second!.at).toBeGreaterThanOrEqual(first!.at)
  await s.end()
})
