import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import {
  type ActorRef,
  child,
  type ChildOptions,
  ChildRefused,
  RestartIntensityExceeded,
  supervisor,
  supervisorClient,
  type SupervisorMessage,
  type SupervisorOptions,
} from '@troupe/core'
import { type Journal, makeJournal, type Work, worker } from './worker.ts'

interface Scene {
  readonly kit: TestKit
  readonly journal: Journal
  readonly ref: ActorRef<SupervisorMessage>
  readonly client: ReturnType<typeof supervisorClient>
  readonly to: (name: string) => ActorRef<Work>
  readonly status: () => Promise<string>
}

async function scene(
  children: readonly (string | readonly [string, ChildOptions])[],
  options: Omit<Extract<SupervisorOptions, { children?: unknown }>, 'children'> = {},
): Promise<Scene> {
  const kit = createTestKit()
  const journal = makeJournal()
  const specs = children.map((c) => (typeof c === 'string' ? child(c, worker(c, journal)) : child(c[0], worker(c[0], journal), c[1])))
  const ref = kit.system.spawn(supervisor({ ...options, children: specs }), { name: 'sup', supervision: 'stop' })
  await kit.settle()
  const client = supervisorClient(ref)
  return {
    kit,
    journal,
    ref,
    client,
    to: (name) => kit.system.find(`/user/sup/${name}`) as ActorRef<Work>,
    status: async () => {
      const asked = client.children()
      await kit.settle()
      return (await asked).map((c) => `${c.name} ${c.status}`).join(', ')
    },
  }
}

async function refusedWith(kit: TestKit, promise: Promise<unknown>): Promise<string> {
  const caught = promise.then(
    () => 'accepted',
    (e: unknown) => (e instanceof ChildRefused ? e.reason : String(e)),
  )
  await kit.settle()
  return caught
}

test('15: children start in order, each start completed before the next, and stop in reverse', async () => {
  const { kit, journal, ref } = await scene(['a', 'b', 'c'])
  expect(journal.take()).toEqual(['+a', '+b', '+c'])
  ref.stop()
  await kit.settle()
  expect(journal.take()).toEqual(['-c', '-b', '-a'])
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('15: a child does not start while the start of the one before it is pending', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  let up = (): void => {}
  journal.plans['a'] = { starting: () => new Promise((resolve) => (up = resolve)) }
  const ref = kit.system.spawn(supervisor({ children: [child('a', worker('a', journal)), child('b', worker('b', journal))] }))
  await kit.advance(1000)
  expect(journal.take()).toEqual([])
  expect(kit.system.phaseOf(ref)).toBe('starting')
  up()
  await kit.settle()
  expect(journal.take()).toEqual(['+a', '+b'])
  await kit.end()
})

test('15: needs go before the order of declaration', async () => {
  const { kit, journal } = await scene([['web', { needs: ['cache', 'db'] }], ['cache', { needs: ['db'] }], 'db'])
  expect(journal.take()).toEqual(['+db', '+cache', '+web'])
  await kit.end()
  expect(journal.take()).toEqual(['-web', '-cache', '-db'])
})

test('15: a start that fails stops those started before, in reverse, and fails the supervisor with the cause', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  journal.plans['c'] = { failStarts: 1 }
  const ref = kit.system.spawn(supervisor({ children: ['a', 'b', 'c', 'd'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' })
  const started = kit.system.started(ref).catch((e: unknown) => e)
  await kit.settle()
  expect(journal.take()).toEqual(['+a', '+b', '!c', '-b', '-a'])
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(String(await started)).toContain('c cannot start')
  await kit.end()
})

test('17: in a group restart temporary bystanders are stopped and not restarted', async () => {
  const { kit, journal, to, status } = await scene(['a', ['b', { restart: 'temporary' }], 'c'], { strategy: 'all-for-one' })
  journal.take()
  to('a').tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-a', '-c', '-b', '+a', '+c'])
  expect(await status()).toBe('a running, c running')
  await kit.end()
})

test('18: rest-for-one stops later siblings in reverse, restarts them in order, and leaves earlier ones untouched', async () => {
  const { kit, journal, to } = await scene(['a', 'b', 'c', 'd'], { strategy: 'rest-for-one' })
  journal.take()
  const uids = ['a', 'b', 'c', 'd'].map((n) => to(n).uid)
  to('b').tell({ type: 'crash' })
  to('c').tell({ type: 'note', text: 'kept?' })
  await kit.settle()
  expect(journal.take().filter((l) => !l.startsWith('c:'))).toEqual(['-b', '-d', '-c', '+b', '+c', '+d'])
  expect(['a', 'b', 'c', 'd'].map((n) => to(n).uid)).toEqual(uids)
  await kit.end()
})

test('a restarted child keeps its ref and the messages queued meanwhile, also as a bystander', async () => {
  const { kit, journal, to } = await scene(['a', 'b'], { strategy: 'all-for-one' })
  const [a, b] = [to('a'), to('b')]
  journal.take()
  a.tell({ type: 'crash' })
  a.tell({ type: 'note', text: '1' })
  b.tell({ type: 'note', text: '2' })
  a.tell({ type: 'note', text: '3' })
  await kit.settle()
  expect(journal.take().filter((l) => l.startsWith('a:'))).toEqual(['a: 1', 'a: 3'])
  expect([to('a').uid, to('b').uid]).toEqual([a.uid, b.uid])
  await kit.end()
})

test('19: with intensity 2 the third failure within the period stops the rest in reverse and fails the supervisor', async () => {
  const { kit, journal, to, ref } = await scene(['a', 'b', 'c'], { intensity: 2, period: 1000 })
  for (let i = 0; i < 2; i++) {
    to('b').tell({ type: 'crash' })
    await kit.advance(100)
  }
  journal.take()
  const end = kit.system.whenTerminated(ref)
  to('b').tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-c', '-b', '-a'])
  const { reason, cause } = await end
  expect(reason).toBe('failure')
  expect(cause).toBeInstanceOf(RestartIntensityExceeded)
  expect(cause).toMatchObject({
    child: 'b',
    failures: [
      { child: 'b', at: 0 },
      { child: 'b', at: 100 },
      { child: 'b', at: 200 },
    ],
  })
  await kit.end()
})

test('19: restarts further apart than the period are not counted together', async () => {
  const { kit, to, status } = await scene(['a'], { intensity: 1, period: 1000 })
  for (let i = 0; i < 5; i++) {
    to('a').tell({ type: 'crash' })
    await kit.advance(1001)
  }
  expect(await status()).toBe('a running')
  await kit.end()
})

test('19: a restart that fails counts', async () => {
  const { kit, journal, to, ref } = await scene(['a'], { intensity: 2 })
  journal.plans['a']!.failStarts = 5
  journal.take()
  to('a').tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-a', '!a', '!a'])
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('20: if another child fails to start during a group restart, those already restarted stop and the group retries, counted', async () => {
  const { kit, journal, to, ref } = await scene(['a', 'b', 'c'], { strategy: 'all-for-one', intensity: 2 })
  journal.plans['b']!.failStarts = 1
  journal.take()
  to('c').tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-c', '-b', '-a', '+a', '!b', '-a', '+a', '+b', '+c'])
  to('a').tell({ type: 'crash' })
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('21: while a child waits for its backoff others are served, restart and delete are refused, stop works', async () => {
  const { kit, journal, to, status, client } = await scene([['a', { backoff: { min: 1000, max: 1000, jitter: 0 } }], 'b'])
  to('a').tell({ type: 'crash' })
  await kit.settle()
  expect(await status()).toBe('a restarting, b running')
  expect(await refusedWith(kit, client.restartChild('a'))).toBe('restarting')
  expect(await refusedWith(kit, client.deleteChild('a'))).toBe('restarting')
  to('b').tell({ type: 'crash' })
  await kit.settle()
  expect(await status()).toBe('a restarting, b running')
  expect(await refusedWith(kit, client.stopChild('a'))).toBe('accepted')
  expect(await status()).toBe('a stopped, b running')
  journal.take()
  await kit.advance(5000)
  expect(journal.take()).toEqual([])
  await kit.end()
})

test('21: a child comes back when its backoff is over, and the supervisor can stop before that', async () => {
  const { kit, journal, to, status, ref } = await scene([['a', { backoff: { min: 1000, max: 8000, jitter: 0 } }]], { intensity: 10 })
  to('a').tell({ type: 'crash' })
  await kit.advance(999)
  expect(await status()).toBe('a restarting')
  await kit.advance(1)
  expect(await status()).toBe('a running')
  journal.take()
  to('a').tell({ type: 'crash' })
  await kit.advance(1500)
  expect(journal.take()).toEqual(['-a'])
  ref.stop()
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('22: a shutdown timeout kills only the slow child', async () => {
  const { kit, journal, to, ref } = await scene(['a', ['slow', { shutdown: 100 }], 'c'])
  journal.plans['slow']!.stopping = () => new Promise(() => {})
  const ends = Promise.all(['a', 'slow', 'c'].map((n) => kit.system.whenTerminated(to(n))))
  journal.take()
  ref.stop()
  await kit.advance(99)
  expect(journal.take()).toEqual(['-c'])
  await kit.advance(1)
  expect(journal.take()).toEqual(['-slow', '-a'])
  expect((await ends).map((e) => e.reason)).toEqual(['shutdown', 'killed', 'shutdown'])
  await kit.end()
})

test("22: shutdown 'kill' gives no time, 'infinity' gives all of it", async () => {
  const { kit, journal, to, ref } = await scene([
    ['patient', { shutdown: 'infinity' }],
    ['brisk', { shutdown: 'kill' }],
  ])
  let done = (): void => {}
  journal.plans['patient']!.stopping = () => new Promise((resolve) => (done = resolve))
  journal.plans['brisk']!.stopping = () => new Promise(() => {})
  const ends = Promise.all(['patient', 'brisk'].map((n) => kit.system.whenTerminated(to(n))))
  ref.stop()
  await kit.advance(1_000_000)
  expect(journal.take()).toEqual(['+patient', '+brisk', '-brisk'])
  done()
  await kit.settle()
  expect((await ends).map((e) => e.reason)).toEqual(['shutdown', 'killed'])
  await kit.end()
})

test("23: a significant child's normal end shuts the supervisor down, under auto-shutdown", async () => {
  const { kit, journal, to, ref } = await scene(['a', ['main', { restart: 'transient', significant: true }], 'c'], {
    autoShutdown: 'any-significant',
  })
  journal.take()
  const end = kit.system.whenTerminated(ref)
  to('main').tell({ type: 'end' })
  await kit.settle()
  expect(journal.take()).toEqual(['-main', '-c', '-a'])
  expect((await end).reason).toBe('shutdown')
  await kit.end()
})

test('23: with all-significant the last of them decides, and one that is restarted has not ended', async () => {
  const significant = { restart: 'transient', significant: true } as const
  const { kit, to, ref } = await scene([['x', significant], ['y', significant], 'z'], { autoShutdown: 'all-significant' })
  to('x').tell({ type: 'end' })
  await kit.settle()
  to('y').tell({ type: 'crash' })
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('running')
  to('y').tell({ type: 'end' })
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('24: dependents restarts exactly the transitive dependents of the failed child, in start order', async () => {
  const { kit, journal, to } = await scene(
    ['db', 'log', ['cache', { needs: ['db'] }], ['api', { needs: ['cache', 'log'] }], ['mail', { needs: ['log'] }]],
    { strategy: 'dependents' },
  )
  journal.take()
  to('db').tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-db', '-api', '-cache', '+db', '+cache', '+api'])
  to('mail').tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-mail', '+mail'])
  await kit.end()
})
