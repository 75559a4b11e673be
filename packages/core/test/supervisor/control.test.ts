import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import {
  Actor,
  ActorError,
  type ActorRef,
  type Behavior,
  child,
  delay,
  type ChildOptions,
  ChildRefused,
  ChildUnrecoverable,
  InvalidChildren,
  InvalidOption,
  NotABehavior,
  receive,
  RestartIntensityExceeded,
  same,
  setup,
  stopped,
  supervisor,
  supervisorClient,
  type SupervisorClient,
  template,
} from '@troupe/core'
import { makeJournal, type Work, worker } from './worker.ts'

async function done<T>(kit: TestKit, promise: Promise<T>): Promise<T> {
  const settled = promise.then(
    (value) => ({ value }),
    (cause: unknown) => ({ cause }),
  )
  await kit.settle()
  const result = await settled
  if ('cause' in result) throw result.cause
  return result.value
}

async function reasonOf(kit: TestKit, promise: Promise<unknown>): Promise<string> {
  try {
    await done(kit, promise)
    return 'accepted'
  } catch (cause) {
    return cause instanceof ChildRefused ? cause.reason : String(cause)
  }
}

const list = async (kit: TestKit, client: SupervisorClient): Promise<string> =>
  (await done(kit, client.children())).map((c) => `${c.name ?? '-'} ${c.status} ${c.restarts}`).join(', ')

test('startChild resolves with a typed ref once the child runs', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [] }), { name: 'sup' }))
  const ref: ActorRef<Work> = await done(kit, client.startChild(child('late', worker('late', journal))))
  expect(journal.take()).toEqual(['+late'])
  expect(ref.path).toBe('/user/sup/late')
  await kit.end()
})

test('startChild refuses a name that lives, a name on file, an unknown need, and a start that fails, which leaves nothing', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const spec = (name: string, options?: ChildOptions) => child(name, worker(name, journal), options)
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [spec('a')] })))
  expect(await reasonOf(kit, client.startChild(spec('a')))).toBe('already-started')
  await done(kit, client.stopChild('a'))
  expect(await reasonOf(kit, client.startChild(spec('a')))).toBe('already-present')
  expect(await reasonOf(kit, client.startChild(spec('b', { needs: ['ghost'] })))).toBe('invalid')
  journal.plans['c'] = { failStarts: 1 }
  expect(await reasonOf(kit, client.startChild(spec('c')))).toBe('start-failed')
  expect(await list(kit, client)).toBe('a stopped 0')
  expect(await reasonOf(kit, client.startChild(spec('c')))).toBe('accepted')
  await kit.end()
})

test('startChild of a child that waits for its restart is refused as present, not as started, and says what brings it back', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const a = child('a', worker('a', journal), { backoff: { min: 1000, max: 1000, jitter: 0 } })
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [a] }), { name: 'sup' }))
  const ref = await done(kit, client.refOf(a))
  ref.tell({ type: 'crash' })
  await kit.settle()
  expect(await list(kit, client)).toBe('a restarting 1')
  expect(await reasonOf(kit, client.startChild(a))).toBe('already-present')
  await expect(done(kit, client.startChild(a))).rejects.toThrow(/not running.*restartChild/)
  await kit.advance(1500)
  expect(await list(kit, client)).toBe('a running 1')
  expect(await reasonOf(kit, client.startChild(a))).toBe('already-started')
  await kit.end()
})

test('children() says of each how it is stopped, what it needs and how long its restarts wait, as it was declared', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const backoff = { min: 10, max: 100, factor: 2, jitter: 0 }
  const children = [
    child('a', worker('a', journal), { shutdown: 200, backoff }),
    child('b', worker('b', journal), { shutdown: 'kill', needs: ['a'] }),
    child('c', supervisor({ children: [] })),
  ]
  const client = supervisorClient(kit.system.spawn(supervisor({ children })))
  expect(await done(kit, client.children())).toMatchObject([
    { name: 'a', shutdown: 200, needs: [], backoff },
    { name: 'b', shutdown: 'kill', needs: ['a'], backoff: undefined },
    { name: 'c', shutdown: 'infinity', needs: [], backoff: undefined },
  ])
  await kit.end()
})

test('autoShutdown counts instances of a template: the end of a significant one ends the supervisor, or that of the last', async () => {
  for (const [autoShutdown, after] of [
    ['any-significant', 1],
    ['all-significant', 2],
  ] as const) {
    const kit = createTestKit()
    const journal = makeJournal()
    const room = template((name: string) => worker(name, journal), { restart: 'temporary', significant: true })
    const sup = kit.system.spawn(supervisor({ strategy: 'simple-one-for-one', template: room, autoShutdown }))
    const client = supervisorClient(sup)
    const refs = await done(kit, Promise.all(['x', 'y'].map((n) => client.startChild(room.with(n)))))
    for (const [i, ref] of refs.entries()) {
      expect(kit.system.phaseOf(sup)).toBe(i < after ? 'running' : 'terminated')
      ref.tell({ type: 'end' })
      await kit.settle()
    }
    expect(kit.system.phaseOf(sup)).toBe('terminated')
    await kit.end()
  }
})

test('a refusal says what was tried, where, and what to do', async () => {
  const kit = createTestKit()
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [] }), { name: 'sup' }))
  await expect(done(kit, client.stopChild('ghost'))).rejects.toThrow(/\/user\/sup refused to stop "ghost": there is no such child/)
  await kit.end()
})

test('stop, restart and delete follow the status: running, stopped, gone', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const a = child('a', worker('a', journal))
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [a, child('b', worker('b', journal), { needs: ['a'] })] })))
  await kit.settle()
  const first = await done(kit, client.refOf(a))
  expect(await reasonOf(kit, client.restartChild('a'))).toBe('running')
  expect(await reasonOf(kit, client.deleteChild('a'))).toBe('running')
  expect(await reasonOf(kit, client.stopChild(a))).toBe('accepted')
  expect(await reasonOf(kit, client.stopChild('a'))).toBe('accepted')
  expect(await reasonOf(kit, client.refOf(a))).toBe('not-found')
  expect(await reasonOf(kit, client.deleteChild('a'))).toBe('needed')
  const second: ActorRef<Work> = await done(kit, client.restartChild(a))
  expect(second.uid).not.toBe(first.uid)
  for (const name of ['b', 'a']) {
    await done(kit, client.stopChild(name))
    await done(kit, client.deleteChild(name))
  }
  expect(await reasonOf(kit, client.restartChild('a'))).toBe('not-found')
  expect(await done(kit, client.count())).toEqual({ specs: 0, active: 0, supervisors: 0, workers: 0 })
  await kit.end()
})

test('restartChild of a child that does not come up leaves it stopped and on file', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [child('a', worker('a', journal))] })))
  await done(kit, client.stopChild('a'))
  journal.plans['a'] = { failStarts: 1 }
  expect(await reasonOf(kit, client.restartChild('a'))).toBe('start-failed')
  expect(await list(kit, client)).toBe('a stopped 0')
  expect(await reasonOf(kit, client.restartChild('a'))).toBe('accepted')
  await kit.end()
})

test('a stopped temporary child is off the books', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [child('a', worker('a', journal), { restart: 'temporary' })] })))
  await done(kit, client.stopChild('a'))
  expect(await list(kit, client)).toBe('')
  await kit.end()
})

test('a slow stop of one child does not keep others from being restarted', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(supervisor({ children: ['a', 'b'].map((n) => child(n, worker(n, journal), { shutdown: 1000 })) }), { name: 'sup' }),
  )
  await kit.settle()
  journal.plans['a']!.stopping = () => new Promise(() => {})
  const stopping = client.stopChild('a')
  await kit.advance(500)
  ;(kit.system.find('/user/sup/b') as ActorRef<Work>).tell({ type: 'crash' })
  await kit.settle()
  expect(await list(kit, client)).toBe('a stopping 0, b running 1')
  await kit.advance(500)
  await stopping
  expect(await list(kit, client)).toBe('a stopped 0, b running 1')
  await kit.end()
})

test('simple-one-for-one: instances are started from the template, addressed by ref, restarted alone, stopped all at once', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const room = template((name: string) => worker(name, journal), { restart: 'transient', shutdown: 100 })
  const sup = kit.system.spawn(supervisor({ strategy: 'simple-one-for-one', template: room }), { name: 'rooms' })
  const client = supervisorClient(sup)
  const [x, y, z] = await done(kit, Promise.all(['x', 'y', 'z'].map((n) => client.startChild(room.with(n)))))
  expect(journal.take()).toEqual(['+x', '+y', '+z'])
  y!.tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-y', '+y'])
  expect(await done(kit, client.count())).toEqual({ specs: 1, active: 3, supervisors: 0, workers: 3 })
  x!.tell({ type: 'end' })
  await kit.settle()
  expect(await list(kit, client)).toBe('- running 1, - running 0')
  await done(kit, client.stopChild(z!))
  expect(await list(kit, client)).toBe('- running 1')
  expect(await reasonOf(kit, client.restartChild(z!))).toBe('not-found')
  expect(await reasonOf(kit, client.startChild(child('w', worker('w', journal))))).toBe('invalid')
  for (const n of ['p', 'q']) {
    journal.plans[n] = { stopping: () => new Promise(() => {}) }
    await done(kit, client.startChild(room.with(n)))
  }
  journal.take()
  const end = kit.system.whenTerminated(sup)
  sup.stop()
  await kit.advance(100)
  expect(journal.take().sort()).toEqual(['-p', '-q', '-y'])
  expect((await end).reason).toBe('normal')
  await kit.end()
})

test('a supervisor under a supervisor that gives up is restarted in place, with its children anew', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const inner = supervisor({ intensity: 0, children: [child('x', worker('x', journal)), child('y', worker('y', journal))] })
  const top = kit.system.spawn(
    supervisor({
      strategy: 'rest-for-one',
      intensity: 1,
      children: [child('a', worker('a', journal)), child('inner', inner), child('z', worker('z', journal))],
    }),
    { name: 'top', supervision: 'stop' },
  )
  await kit.settle()
  expect(journal.take()).toEqual(['+a', '+x', '+y', '+z'])
  const crash = async (): Promise<void> => {
    ;(kit.system.find('/user/top/inner/x') as ActorRef<Work>).tell({ type: 'crash' })
    await kit.settle()
  }
  const before = kit.system.find('/user/top/inner')
  await crash()
  expect(journal.take()).toEqual(['-y', '-x', '-z', '+x', '+y', '+z'])
  expect(kit.system.find('/user/top/inner')).toBe(before)
  const end = kit.system.whenTerminated(top)
  await crash()
  expect(journal.take()).toEqual(['-y', '-x', '-z', '-a'])
  const { cause } = await end
  expect(cause).toBeInstanceOf(RestartIntensityExceeded)
  expect((cause as Error).message).toContain('inner needed a restart')
  expect((cause as Error).cause).toBeInstanceOf(RestartIntensityExceeded)
  await kit.end()
})

test('a nested supervisor has started when its last child has, and gets all the time it needs to stop', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  let up = (): void => {}
  journal.plans['x'] = { starting: () => new Promise((resolve) => (up = resolve)) }
  const inner = supervisor({ children: [child('x', worker('x', journal), { startTimeout: 60_000, shutdown: 60_000 })] })
  const top = kit.system.spawn(supervisor({ children: [child('inner', inner), child('z', worker('z', journal))] }))
  await kit.advance(30_000)
  expect(journal.take()).toEqual([])
  up()
  await kit.settle()
  expect(journal.take()).toEqual(['+x', '+z'])
  let down = (): void => {}
  journal.plans['x'].stopping = () => new Promise((resolve) => (down = resolve))
  top.stop()
  await kit.advance(30_000)
  expect(kit.system.phaseOf(top)).toBe('stopping')
  down()
  await kit.settle()
  expect(kit.system.phaseOf(top)).toBe('terminated')
  expect(journal.take()).toEqual(['-z', '-x'])
  await kit.end()
})

test('a supervisor child that overruns its shutdown is killed with all below it', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const inner = supervisor({ children: [child('x', worker('x', journal), { shutdown: 'infinity' })] })
  const top = kit.system.spawn(supervisor({ children: [child('inner', inner, { shutdown: 100 })] }))
  await kit.settle()
  journal.plans['x']!.stopping = () => new Promise(() => {})
  top.stop()
  await kit.advance(99)
  expect(kit.system.phaseOf(top)).toBe('stopping')
  await kit.advance(1)
  expect(kit.system.phaseOf(top)).toBe('terminated')
  await kit.end()
})

test('a supervisor that is stopped while it starts stops what has started, in reverse', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  journal.plans['c'] = { starting: () => new Promise(() => {}) }
  const ref = kit.system.spawn(supervisor({ children: ['a', 'b', 'c'].map((n) => child(n, worker(n, journal), { shutdown: 50 })) }))
  await kit.settle()
  ref.stop()
  await kit.advance(50)
  expect(journal.take()).toEqual(['+a', '+b', '-b', '-a'])
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('killing a supervisor ends its children and restarts none', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const ref = kit.system.spawn(supervisor({ children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }))
  await kit.settle()
  journal.take()
  kit.system.kill(ref)
  await kit.settle()
  expect(journal.take().sort()).toEqual(['-a', '-b'])
  expect(kit.system.counts().active).toBe(0)
  expect(kit.logs).toEqual([])
  await kit.end()
})

test('restarting a supervisor by hand stops its children in reverse and starts them anew', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const ref = kit.system.spawn(supervisor({ children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' })
  await kit.settle()
  kit.system.restart(ref)
  await kit.settle()
  expect(journal.take()).toEqual(['+a', '+b', '-b', '-a', '+a', '+b'])
  await kit.end()
})

test('restarting a child by hand is no business of its supervisor, unless the new start fails', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(supervisor({ strategy: 'all-for-one', children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' }),
  )
  await kit.settle()
  journal.take()
  kit.system.restart(kit.system.find('/user/sup/a')!)
  await kit.settle()
  expect(journal.take()).toEqual(['-a', '+a'])
  expect(await list(kit, client)).toBe('a running 0, b running 0')
  journal.plans['a']!.failStarts = 1
  kit.system.restart(kit.system.find('/user/sup/a')!)
  await kit.settle()
  expect(journal.take()).toEqual(['-a', '!a', '-b', '+a', '+b'])
  await kit.end()
})

test('a child that ends while its group is being restarted is restarted with it, once', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(supervisor({ strategy: 'all-for-one', children: ['a', 'b', 'c'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' }),
  )
  await kit.settle()
  const [a, b, c] = ['a', 'b', 'c'].map((n) => kit.system.find(`/user/sup/${n}`) as ActorRef<Work>)
  journal.take()
  a!.tell({ type: 'crash' })
  b!.tell({ type: 'crash' })
  kit.system.kill(c!)
  await kit.settle()
  expect(await list(kit, client)).toBe('a running 1, b running 1, c running 1')
  expect(journal.take().filter((l) => l.startsWith('+'))).toEqual(['+a', '+b', '+c'])
  await kit.end()
})

test('a child that fails while a later one of its group is starting is answered when the group is up', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(supervisor({ strategy: 'all-for-one', children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' }),
  )
  await kit.settle()
  const a = kit.system.find('/user/sup/a') as ActorRef<Work>
  let up = (): void => {}
  journal.plans['b']!.starting = () => new Promise((resolve) => (up = resolve))
  journal.take()
  a.tell({ type: 'crash' })
  await kit.settle()
  a.tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-a', '-b', '+a'])
  delete journal.plans['b']!.starting
  up()
  await kit.settle()
  expect(journal.take()).toEqual(['+b', '-a', '-b', '+a', '+b'])
  expect(await list(kit, client)).toBe('a running 2, b running 2')
  await kit.end()
})

test('groups that wait join: nobody waits shorter than its own backoff', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const slow = { backoff: { min: 1000, max: 1000, jitter: 0 } }
  const client = supervisorClient(
    kit.system.spawn(
      supervisor({
        strategy: 'rest-for-one',
        children: [child('a', worker('a', journal)), child('b', worker('b', journal), slow), child('c', worker('c', journal))],
      }),
      { name: 'sup' },
    ),
  )
  await kit.settle()
  const at = (n: string) => kit.system.find(`/user/sup/${n}`) as ActorRef<Work>
  at('b').tell({ type: 'crash' })
  await kit.advance(400)
  journal.take()
  at('a').tell({ type: 'crash' })
  await kit.advance(599)
  expect(journal.take()).toEqual(['-a'])
  expect(await list(kit, client)).toBe('a restarting 1, b restarting 2, c restarting 2')
  await kit.advance(1)
  expect(journal.take()).toEqual(['+a', '+b', '+c'])
  await kit.end()
})

test('a stop of one that waits in a group lets the others come back', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(
      supervisor({
        strategy: 'all-for-one',
        children: ['a', 'b'].map((n) => child(n, worker(n, journal), { backoff: { min: 100, max: 100, jitter: 0 } })),
      }),
      { name: 'sup' },
    ),
  )
  await kit.settle()
  ;(kit.system.find('/user/sup/a') as ActorRef<Work>).tell({ type: 'crash' })
  await kit.settle()
  await done(kit, client.stopChild('a'))
  await kit.advance(100)
  expect(await list(kit, client)).toBe('a stopped 1, b running 1')
  await kit.end()
})

test('dependents: one that fails to start does not hold back those that do not need it', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const slow = { needs: ['db'], backoff: { min: 1000, max: 1000, jitter: 0 } }
  const client = supervisorClient(
    kit.system.spawn(
      supervisor({
        strategy: 'dependents',
        children: [child('db', worker('db', journal)), child('x', worker('x', journal), slow), child('y', worker('y', journal), { needs: ['db'] })],
      }),
      { name: 'sup' },
    ),
  )
  await kit.settle()
  journal.plans['x']!.failStarts = 1
  journal.take()
  ;(kit.system.find('/user/sup/db') as ActorRef<Work>).tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['-db', '-y', '-x', '+db', '!x', '+y'])
  expect(await list(kit, client)).toBe('db running 1, x restarting 2, y running 1')
  await kit.advance(1000)
  expect(journal.take()).toEqual(['+x'])
  await kit.end()
})

test('a fatal error is never restarted: the supervisor gives up with it', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const ref = kit.system.spawn(supervisor({ children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup', supervision: 'stop' })
  await kit.settle()
  journal.take()
  const end = kit.system.whenTerminated(ref)
  ;(kit.system.find('/user/sup/a') as ActorRef<Work>).tell({ type: 'crash', cause: new ActorError('no disk', { kind: 'fatal' }) })
  await kit.settle()
  expect(journal.take()).toEqual(['-b', '-a'])
  expect((await end).cause).toBeInstanceOf(ChildUnrecoverable)
  expect(kit.system.counts().supervision).toMatchObject({ restarts: 0, limitsHit: 0, fatalStops: 1 })
  await kit.end()
})

test('a bystander that overruns its shutdown is cut off in place and keeps its ref', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const stuck = receive<string>(() => new Promise<void>(() => {}))
  kit.system.spawn(supervisor({ strategy: 'all-for-one', children: [child('a', worker('a', journal)), child('stuck', stuck, { shutdown: 100 })] }), {
    name: 'sup',
  })
  await kit.settle()
  const at = (n: string) => kit.system.find(`/user/sup/${n}`) as ActorRef<never>
  const { uid } = at('stuck')
  ;(at('stuck') as ActorRef<string>).tell('go')
  await kit.settle()
  ;(at('a') as ActorRef<Work>).tell({ type: 'crash' })
  await kit.advance(99)
  expect(kit.system.phaseOf(at('stuck'))).toBe('restarting')
  await kit.advance(1)
  expect([kit.system.phaseOf(at('stuck')), at('stuck').uid]).toEqual(['running', uid])
  await kit.end()
})

test('a spawn option that is wrong fails the start of the supervisor and names the option', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    supervisor({
      children: [
        child(
          'a',
          receive<string>(() => same),
          { dispatcher: 'ghost' },
        ),
      ],
    }),
  )
  const failed = kit.system.started(ref).catch((e: unknown) => String(e))
  await kit.settle()
  expect(await failed).toContain('ghost')
  await kit.end()
})

test('a failure is logged with what the supervisor decided', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  kit.system.spawn(
    supervisor({ intensity: 1, children: [child('a', worker('a', journal)), child('t', worker('t', journal), { restart: 'temporary' })] }),
    { name: 'sup', supervision: 'stop' },
  )
  await kit.settle()
  for (const name of ['a', 't', 'a']) {
    ;(kit.system.find(`/user/sup/${name}`) as ActorRef<Work>).tell({ type: 'crash' })
    await kit.settle()
  }
  const lines = kit.logs.filter((l) => l.message === 'the actor failed').map((l) => `${String(l.fields['actor'])} ${String(l.fields['directive'])}`)
  expect(lines).toEqual(['/user/sup/a restart', '/user/sup/t stop', '/user/sup/a escalate', '/user/sup stop'])
  expect(kit.system.counts().supervision).toMatchObject({ restarts: 1, limitsHit: 1 })
  await kit.end()
})

test.each([
  [
    'two of a name',
    () =>
      supervisor({
        children: [
          child(
            'a',
            receive(() => same),
          ),
          child(
            'a',
            receive(() => same),
          ),
        ],
      }),
    InvalidChildren,
    /two children named "a"/,
  ],
  [
    'an unknown need',
    () =>
      supervisor({
        children: [
          child(
            'a',
            receive(() => same),
            { needs: ['b'] },
          ),
        ],
      }),
    InvalidChildren,
    /"a" needs "b"/,
  ],
  [
    'a cycle of needs',
    () =>
      supervisor({
        children: (['a:c', 'b:a', 'c:b', 'd:a'] as const).map((x) =>
          child(
            x[0]!,
            receive(() => same),
            { needs: [x[2]!] },
          ),
        ),
      }),
    InvalidChildren,
    /a → c → b → a/,
  ],
  [
    'a child that needs itself',
    () =>
      supervisor({
        children: [
          child(
            'a',
            receive(() => same),
            { needs: ['a'] },
          ),
        ],
      }),
    InvalidChildren,
    /a → a/,
  ],
  [
    'a significant permanent child',
    () =>
      child(
        'a',
        receive(() => same),
        { significant: true },
      ),
    InvalidOption,
    /permanent/,
  ],
  [
    'a significant child without auto-shutdown',
    () =>
      supervisor({
        children: [
          child(
            'a',
            receive(() => same),
            { restart: 'transient', significant: true },
          ),
        ],
      }),
    InvalidOption,
    /"a" is significant/,
  ],
  ['a strategy that is none', () => supervisor({ strategy: 'one_for_one' as never, children: [] }), InvalidOption, /strategy/],
  ['an intensity that is none', () => supervisor({ intensity: -1, children: [] }), InvalidOption, /intensity/],
  ['a period that is none', () => supervisor({ period: 0, children: [] }), InvalidOption, /period/],
  [
    'a restart type that is none',
    () =>
      child(
        'a',
        receive(() => same),
        { restart: 'always' as never },
      ),
    InvalidOption,
    /restart/,
  ],
  [
    'a shutdown that is none',
    () =>
      child(
        'a',
        receive(() => same),
        { shutdown: -1 },
      ),
    InvalidOption,
    /shutdown/,
  ],
  [
    'a policy of its own for a child',
    () =>
      child(
        'a',
        receive(() => same),
        { supervision: 'stop' } as never,
      ),
    InvalidOption,
    /supervision/,
  ],
  ['a simple-one-for-one without a template', () => supervisor({ strategy: 'simple-one-for-one' } as never), InvalidOption, /template/],
] as const)('%s is refused with its name', (_what, make, error, message) => {
  expect(make).toThrow(error)
  expect(make).toThrow(message)
})

test('30: 100,000 watched instances stop at once, and their watcher hears of each exactly once', async () => {
  const kit = createTestKit()
  const heard = new Set<number>()
  let twice = 0
  const one = template(() => receive<string>(() => same), { restart: 'temporary' })
  const sup = kit.system.spawn(supervisor({ strategy: 'simple-one-for-one', template: one }))
  for (let i = 0; i < 100_000; i++) sup.tell({ type: 'start-child', child: one.with(), replyTo: { tell: () => {} } as never })
  await kit.settle()
  const asked = supervisorClient(sup).children()
  await kit.settle()
  const refs = (await asked).map((c) => c.ref!)
  expect(refs).toHaveLength(100_000)
  const watcher = kit.system.spawn(
    receive<'watch'>(
      (ctx) => {
        for (const ref of refs) ctx.watch(ref)
        return same
      },
      (_ctx, signal) => {
        if (signal.type !== 'Terminated') return same
        if (heard.has(signal.ref.uid)) twice++
        heard.add(signal.ref.uid)
        return same
      },
    ),
  )
  watcher.tell('watch')
  await kit.settle()
  sup.stop()
  await kit.settle()
  expect([heard.size, twice]).toEqual([100_000, 0])
  await kit.end()
})

test('a child that stops itself while it starts is not there, and that is no failure', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const shy = (): Behavior<string> => setup<string>(() => stopped)
  const client = supervisorClient(
    kit.system.spawn(
      supervisor({ children: [child('shy', shy()), child('brief', shy(), { restart: 'temporary' }), child('a', worker('a', journal))] }),
    ),
  )
  await kit.settle()
  expect(await list(kit, client)).toBe('shy stopped 0, a running 0')
  await kit.end()
})

test('a suspended supervisor still restarts its children', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const ref = kit.system.spawn(supervisor({ children: [child('a', worker('a', journal))] }), { name: 'sup' })
  await kit.settle()
  kit.system.suspend(ref, 'looking')
  await kit.settle()
  ;(kit.system.find('/user/sup/a') as ActorRef<Work>).tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take()).toEqual(['+a', '-a', '+a'])
  await kit.end()
})

test('a restart by hand under way joins a group restart', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(supervisor({ strategy: 'all-for-one', children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' }),
  )
  await kit.settle()
  const [a, b] = ['a', 'b'].map((n) => kit.system.find(`/user/sup/${n}`) as ActorRef<Work>)
  for (const order of [0, 1]) {
    journal.take()
    if (order === 0) kit.system.restart(b!)
    a!.tell({ type: 'crash' })
    if (order === 1) kit.system.restart(b!)
    await kit.settle()
    expect(await list(kit, client)).toBe(`a running ${order + 1}, b running ${order + 1}`)
    expect(journal.take().filter((l) => l === '+a')).toEqual(['+a'])
  }
  await kit.end()
})

test('a group restart while a child is starting again by hand waits for it and ends with everybody running', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  const client = supervisorClient(
    kit.system.spawn(supervisor({ strategy: 'all-for-one', children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' }),
  )
  await kit.settle()
  const [a, b] = ['a', 'b'].map((n) => kit.system.find(`/user/sup/${n}`) as ActorRef<Work>)
  for (const [fails, slowAgain] of [
    [0, false],
    [1, false],
    [1, true],
  ] as const) {
    let up = (): void => {}
    journal.plans['b']!.starting = () => new Promise((resolve) => (up = resolve))
    kit.system.restart(b!)
    await kit.settle()
    a!.tell({ type: 'crash' })
    await kit.settle()
    if (!slowAgain) delete journal.plans['b']!.starting
    journal.plans['b']!.failStarts = fails
    up()
    await kit.settle()
    if (slowAgain) up()
    await kit.settle()
    expect((await done(kit, client.children())).map((c) => c.status)).toEqual(['running', 'running'])
    a!.tell({ type: 'note', text: 'here' })
    b!.tell({ type: 'note', text: 'here' })
    await kit.settle()
    expect(journal.take().filter((l) => l.includes('here'))).toEqual(['a: here', 'b: here'])
  }
  await kit.end()
})

test('while the system closes no child is brought back', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  kit.system.spawn(supervisor({ children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' })
  await kit.settle()
  const [a, b] = ['a', 'b'].map((n) => kit.system.find(`/user/sup/${n}`) as ActorRef<Work>)
  journal.take()
  kit.system.kill(a!)
  b!.tell({ type: 'crash' })
  const ended = kit.system.shutdown()
  await kit.settle()
  await ended
  expect(journal.take().filter((l) => l.startsWith('+'))).toEqual([])
  await kit.end()
})

class Till extends Actor {
  #sum = 0
  readonly #name: string
  constructor(name: string) {
    super()
    this.#name = name
  }
  add(cents: number): string {
    if (cents < 0) throw new Error('no refunds')
    this.#sum += cents
    return `${this.#name} ${this.#sum}`
  }
}

test('a child may be a class: its handle survives restarts, its state does not', async () => {
  const kit = createTestKit()
  const till = child('till', Till, { args: ['left'] })
  const client = supervisorClient(kit.system.spawn(supervisor({ children: [till] })))
  const handle = await done(kit, client.refOf(till))
  expect(await done(kit, handle.ask.add(5))).toBe('left 5')
  await expect(done(kit, handle.ask.add(-1))).rejects.toThrow('no refunds')
  expect(await done(kit, handle.ask.add(7))).toBe('left 7')
  expect(() => child('x', class {} as never)).toThrow(NotABehavior)
  await kit.end()
})

test('a suspended child stays suspended when it is restarted, as a bystander too', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  kit.system.spawn(supervisor({ strategy: 'all-for-one', children: ['a', 'b'].map((n) => child(n, worker(n, journal))) }), { name: 'sup' })
  await kit.settle()
  const [a, b] = ['a', 'b'].map((n) => kit.system.find(`/user/sup/${n}`) as ActorRef<Work>)
  kit.system.suspend(b!, 'audit')
  a!.tell({ type: 'crash' })
  await kit.settle()
  expect([kit.system.phaseOf(a!), kit.system.phaseOf(b!)]).toEqual(['running', 'suspended'])
  kit.system.resume(b!)
  await kit.settle()
  expect(kit.system.phaseOf(b!)).toBe('running')
  await kit.end()
})

test('siblings that had come to rest for a restart come up again when the child that failed is stopped before its end was answered', async () => {
  const kit = createTestKit()
  const journal = makeJournal()
  journal.plans['b'] = { starting: () => delay(30, { clock: kit.system.clock }) }
  const specs = [child('a', worker('a', journal), { shutdown: 5 }), child('b', worker('b', journal), { shutdown: 5 })]
  const sup = kit.system.spawn(supervisor({ strategy: 'rest-for-one', intensity: 2, children: specs }), { name: 'sup' })
  const client = supervisorClient(sup)
  await kit.settle()
  ;(kit.system.find('/user/sup/a') as ActorRef<Work>).tell({ type: 'crash' })
  const asked = [client.startChild(child('d', worker('d', journal))), client.stopChild('a')]
  journal.plans['a'] = { failStarts: 1 }
  await kit.advance(2000)
  await Promise.all(asked)
  const children = client.children()
  await kit.settle()
  expect((await children).map((c) => [c.name, c.status])).toEqual([
    ['a', 'stopped'],
    ['b', 'running'],
    ['d', 'running'],
  ])
  await kit.end()
})
