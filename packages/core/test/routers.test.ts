import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorRef,
  addRoutee,
  type AnyRef,
  AskTimeout,
  type Behavior,
  broadcast,
  child,
  consistentHash,
  delay,
  group,
  ignore,
  InvalidOption,
  leastLoaded,
  listRoutees,
  pool,
  random,
  receive,
  receptionistOf,
  removeRoutee,
  resize,
  type RouterCommand,
  roundRobin,
  same,
  scatterGatherFirst,
  serviceKey,
  setup,
  stopped,
  supervise,
  supervisor,
  supervisorClient,
  Unhandled,
} from '@troupe/core'

/** What a promise rejects with; watched from the start, so that it may reject before it is looked at. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (cause: unknown) => cause,
  )

type Work = { type: 'work'; key: string } | { type: 'who'; replyTo: ActorRef<string> } | { type: 'boom' } | { type: 'leave' } | { type: 'sender' }

/** Writes down who handled what. */
const worker = (log: string[]): Behavior<Work> =>
  receive((ctx, m) => {
    const me = ctx.path.slice(ctx.path.lastIndexOf('/') + 1)
    switch (m.type) {
      case 'work':
        log.push(`${me}:${m.key}`)
        return same
      case 'who':
        m.replyTo.tell(me)
        return same
      case 'sender':
        log.push(`${me} from ${ctx.sender?.path} ${String(ctx.headers['trace'])}`)
        return same
      case 'boom':
        throw new Error('boom')
      case 'leave':
        return stopped
    }
  })

const routeesOf = async (kit: TestKit, router: ActorRef<Work | RouterCommand>): Promise<readonly AnyRef[]> => {
  const answer = router.ask<readonly AnyRef[]>(listRoutees)
  await kit.settle()
  return answer
}
const counts = (log: readonly string[]): number[] => {
  const by = new Map<string, number>()
  for (const line of log) by.set(line.split(':')[0]!, (by.get(line.split(':')[0]!) ?? 0) + 1)
  return [...by.values()]
}
const work = (key: number | string): Work => ({ type: 'work', key: String(key) })

describe('strategies', () => {
  test('round-robin goes one after the other', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 3, strategy: roundRobin() }))
    for (let i = 0; i < 6; i++) router.tell(work(i))
    await kit.settle()
    expect(log.toSorted()).toEqual(['routee-1:0', 'routee-1:3', 'routee-2:1', 'routee-2:4', 'routee-3:2', 'routee-3:5'])
    await kit.end()
  })
  for (const [name, strategy] of [
    ['round-robin', roundRobin()],
    ['least-loaded', leastLoaded()],
  ] as const)
    test(`${name} skips nobody when a routee leaves that was served earlier, nor when the one that is next does`, async () => {
      const kit = createTestKit()
      const log: string[] = []
      const named = (routee: string): ActorRef<Work> =>
        kit.system.spawn(
          receive<Work>((_ctx, m) => {
            if (m.type === 'work') log.push(`${routee}:${m.key}`)
            return m.type === 'leave' ? stopped : same
          }),
        )
      const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')] as const
      const router = kit.system.spawn(group([a, b, c, d], { strategy }))
      const send = async (key: number): Promise<void> => {
        router.tell(work(key))
        await kit.settle()
      }
      await send(0)
      await send(1)
      a.tell({ type: 'leave' })
      await kit.settle()
      await send(2)
      expect(log).toEqual(['a:0', 'b:1', 'c:2'])
      d.tell({ type: 'leave' })
      await kit.settle()
      await send(3)
      await send(4)
      expect(log.slice(3)).toEqual(['b:3', 'c:4'])
      router.tell(addRoutee(named('e')))
      for (let i = 5; i < 8; i++) await send(i)
      expect(log.slice(5)).toEqual(['e:5', 'b:6', 'c:7'])
      await kit.end()
    })
  test('round-robin over a pool goes on behind a routee that was replaced', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 3, strategy: roundRobin(), replace: 'always' }))
    router.tell(work(0))
    router.tell({ type: 'leave' })
    await kit.settle()
    for (let i = 1; i < 4; i++) router.tell(work(i))
    await kit.settle()
    expect(log.toSorted()).toEqual(['routee-1:0', 'routee-1:2', 'routee-3:1', 'routee-4:3'])
    await kit.end()
  })
  test('broadcast of a pool or group says which messages go to all routees, whatever the strategy', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const isBroadcast = (m: Work): boolean => m.type === 'work' && m.key === 'all'
    const pooled = kit.system.spawn(pool(worker(log), { size: 3, broadcast: isBroadcast }))
    const routees = ['x', 'y'].map((name) => kit.system.spawn(worker(log), { name }))
    const grouped = kit.system.spawn(group(routees, { broadcast: isBroadcast }))
    for (const key of ['1', 'all', '2']) pooled.tell(work(key))
    await kit.settle()
    expect(log.toSorted()).toEqual(['routee-1:1', 'routee-1:all', 'routee-2:2', 'routee-2:all', 'routee-3:all'])
    log.length = 0
    for (const key of ['1', 'all', '2']) grouped.tell(work(key))
    await kit.settle()
    expect(log.toSorted()).toEqual(['x:1', 'x:all', 'y:2', 'y:all'])
    expect(() => pool(worker(log), { size: 1, broadcast: 'all' as never })).toThrow(InvalidOption)
    const odd = kit.system.spawn(group(routees, { broadcast: (async () => true) as never }))
    odd.tell(work('x'))
    await kit.settle()
    expect(kit.system.failures.list()).toMatchObject([{ cause: { code: 'not-allowed' } }])
    await kit.end()
  })
  test('random reaches everybody, about alike', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 4, strategy: random() }))
    for (let i = 0; i < 4000; i++) router.tell(work(i))
    await kit.settle()
    expect(counts(log)).toHaveLength(4)
    for (const count of counts(log)) expect(Math.abs(count - 1000)).toBeLessThan(150)
    await kit.end()
  })
  test('least-loaded avoids those that are busy', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const slow = (): Behavior<Work> =>
      receive(async (ctx, m) => {
        const me = ctx.path.slice(ctx.path.lastIndexOf('/') + 1)
        if (m.type !== 'work') return
        log.push(`${me}:${m.key}`)
        if (m.key === 'long') await new Promise<void>(() => {})
      })
    const router = kit.system.spawn(pool(slow(), { size: 3, strategy: leastLoaded() }))
    router.tell(work('long'))
    await kit.settle()
    for (let i = 0; i < 10; i++) {
      router.tell(work(i))
      await kit.settle()
    }
    expect(log.filter((l) => l.startsWith('routee-1'))).toEqual(['routee-1:long'])
    expect(log).toHaveLength(11)
    expect(log.filter((l) => l.startsWith('routee-2'))).toHaveLength(5)
    await kit.end()
  })
  test('consistent-hash sends a key to the same routee every time', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 5, strategy: consistentHash<Work>((m) => (m.type === 'work' ? m.key : '')) }))
    for (let round = 0; round < 3; round++) for (let i = 0; i < 200; i++) router.tell(work(i))
    await kit.settle()
    expect(new Set(log).size).toBe(200)
    expect(counts(log)).toHaveLength(5)
    await kit.end()
  })
  test('broadcast reaches everybody', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 3, strategy: broadcast() }))
    router.tell(work('all'))
    await kit.settle()
    expect(log.toSorted()).toEqual(['routee-1:all', 'routee-2:all', 'routee-3:all'])
    await kit.end()
  })
  test('sender and headers go with the message', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const probe = kit.probe('asker')
    const one = kit.system.spawn(pool(worker(log), { size: 1 }))
    const all = kit.system.spawn(pool(worker(log), { size: 1, strategy: broadcast() }))
    for (const router of [one, all]) router.tell({ type: 'sender' }, { sender: probe.ref, headers: { trace: 't1' } })
    await kit.settle()
    expect(log).toEqual(['routee-1 from /user/asker t1', 'routee-1 from /user/asker t1'])
    await kit.end()
  })
})

describe('consistent hashing is stable', () => {
  const strategy = consistentHash<string>((key) => key)
  const keys = Array.from({ length: 10_000 }, (_, i) => `key-${i}`)
  /** Where each key goes among actors of these names. */
  const placed = async (names: readonly string[]): Promise<Map<string, string>> => {
    const kit = createTestKit()
    const at = new Map<string, string>()
    const refs = names.map((name) =>
      kit.system.spawn<string>(
        receive((_ctx, key) => void at.set(key, name)),
        { name },
      ),
    )
    const router = kit.system.spawn(group<string>(refs, { strategy }))
    for (const key of keys) router.tell(key)
    await kit.settle()
    await kit.end()
    return at
  }
  test.each([2, 4, 10])('adding one to %i routees moves at most 1/n of the keys, all of them to the new one', async (n) => {
    const names = Array.from({ length: n }, (_, i) => `node-${i}`)
    const before = await placed(names)
    const after = await placed([...names, 'newcomer'])
    const moved = keys.filter((k) => before.get(k) !== after.get(k))
    expect(moved.length / keys.length).toBeLessThanOrEqual(1 / n)
    expect(moved.length).toBeGreaterThan(0)
    expect(new Set(moved.map((k) => after.get(k)))).toEqual(new Set(['newcomer']))
  })
  test('removing one moves only its own keys', async () => {
    const before = await placed(['a', 'b', 'c', 'd', 'e'])
    const after = await placed(['a', 'b', 'd', 'e'])
    for (const key of keys) if (before.get(key) !== 'c') expect(after.get(key)).toBe(before.get(key))
  })
  test('a successor in a pool gets the keys of the one it replaces', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(
      pool(worker(log), { size: 4, strategy: consistentHash<Work>((m) => (m.type === 'work' ? m.key : '')), options: { supervision: 'stop' } }),
    )
    for (let i = 0; i < 100; i++) router.tell(work(i))
    await kit.settle()
    const first = log.splice(0)
    const [lost] = await routeesOf(kit, router)
    ;(lost as ActorRef<Work>).tell({ type: 'boom' })
    await kit.settle()
    for (let i = 0; i < 100; i++) router.tell(work(i))
    await kit.settle()
    expect(log.map((l) => l.replace('routee-5', 'routee-1')).toSorted()).toEqual(first.toSorted())
    await kit.end()
  })
})

describe('scatter-gather-first', () => {
  type Q = { type: 'q'; replyTo: ActorRef<string> } | { type: 'note' }
  const after = (ms: number, name: string, heard: string[]): Behavior<Q | { type: 'now'; to: ActorRef<string> }> =>
    receive((ctx, m) => {
      if (m.type === 'q') {
        heard.push(name)
        if (ms === 0) m.replyTo.tell(name)
        else ctx.timers.once(name, ms, { type: 'now', to: m.replyTo })
      } else if (m.type === 'now') m.to.tell(name)
      return same
    })
  test('the first answer is passed on, the others change nothing', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const refs = [after(50, 'slow', heard), after(10, 'quick', heard), after(30, 'middle', heard)].map((b) => kit.system.spawn(b))
    const router = kit.system.spawn(group<Q>(refs, { strategy: scatterGatherFirst({ timeout: 200 }) }))
    const answer = router.ask({ type: 'q' })
    await kit.advance(100)
    expect(await answer).toBe('quick')
    expect(heard).toEqual(['slow', 'quick', 'middle'])
    await kit.end()
  })
  test('when nobody answers in time the asker is told', async () => {
    const kit = createTestKit()
    const refs = [1000, 2000].map((ms) => kit.system.spawn(after(ms, String(ms), [])))
    const router = kit.system.spawn(group<Q>(refs, { strategy: scatterGatherFirst({ timeout: 200 }) }))
    const answer = failureOf(router.ask({ type: 'q' }))
    await kit.advance(200)
    expect(await answer).toBeInstanceOf(AskTimeout)
    await kit.end()
  })
  test('a routee that fails does not matter while another answers', async () => {
    const kit = createTestKit()
    const bad = kit.system.spawn<Q>(
      receive(() => {
        throw new Error('no')
      }),
    )
    const good = kit.system.spawn(after(20, 'good', []))
    const router = kit.system.spawn(group<Q>([bad, good], { strategy: scatterGatherFirst({ timeout: 200 }) }))
    const answer = router.ask({ type: 'q' })
    await kit.advance(50)
    expect(await answer).toBe('good')
    await kit.end()
  })
  test('a message without replyTo is unhandled', async () => {
    const kit = createTestKit()
    const router = kit.system.spawn(group<Q>([kit.system.spawn(after(0, 'a', []))], { strategy: scatterGatherFirst({ timeout: 200 }) }))
    const asked = failureOf(router.ask<never>(() => ({ type: 'note' })))
    await kit.settle()
    expect(await asked).toBeInstanceOf(Unhandled)
    await kit.end()
  })
})

describe('48. a pool survives the loss of a routee, replaces it by policy, and stops with the last', () => {
  test('survives the loss of a routee and replaces it by policy', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 2, options: { supervision: 'stop' } }))
    const [first] = await routeesOf(kit, router)
    ;(first as ActorRef<Work>).tell({ type: 'boom' })
    await kit.settle()
    const now = await routeesOf(kit, router)
    expect(now).toHaveLength(2)
    expect(now).not.toContain(first)
    for (let i = 0; i < 4; i++) router.tell(work(i))
    await kit.settle()
    expect(log).toHaveLength(4)
    await kit.end()
  })
  test('leaves a failing routee to its supervision: restarted, it keeps its place', async () => {
    const kit = createTestKit()
    const router = kit.system.spawn(pool(worker([]), { size: 2 }))
    const before = await routeesOf(kit, router)
    ;(before[0] as ActorRef<Work>).tell({ type: 'boom' })
    await kit.advance(100)
    expect(await routeesOf(kit, router)).toEqual(before)
    await kit.end()
  })
  test('shrinks by those that stop normally, and stops with the last', async () => {
    const kit = createTestKit()
    const router = kit.system.spawn(pool(worker([]), { size: 3 }))
    const routees = await routeesOf(kit, router)
    ;(routees[0] as ActorRef<Work>).tell({ type: 'leave' })
    await kit.settle()
    expect(await routeesOf(kit, router)).toHaveLength(2)
    for (const ref of routees.slice(1)) (ref as ActorRef<Work>).tell({ type: 'leave' })
    await kit.settle()
    expect(kit.system.phaseOf(router)).toBe('terminated')
    await kit.end()
  })
  test.each([
    ['never', 'boom', 1],
    ['always', 'leave', 2],
    ['on-failure', 'leave', 1],
    ['on-failure', 'boom', 2],
  ] as const)('with replace %s, a routee that ends by %s leaves %i', async (replace, how, left) => {
    const kit = createTestKit()
    const router = kit.system.spawn(pool(worker([]), { size: 2, replace, options: { supervision: 'stop' } }))
    const [first] = await routeesOf(kit, router)
    ;(first as ActorRef<Work>).tell({ type: how })
    await kit.settle()
    expect(await routeesOf(kit, router)).toHaveLength(left)
    await kit.end()
  })
  test('gives up replacing routees that cannot start, and stops', async () => {
    const kit = createTestKit()
    let starts = 0
    const hopeless = setup<Work>(() => {
      starts++
      throw new Error('cannot')
    })
    const router = kit.system.spawn(pool(hopeless, { size: 2, limit: { replacements: 5, within: 1000 } }))
    await kit.settle()
    expect(kit.system.phaseOf(router)).toBe('terminated')
    expect(starts).toBe(7)
    await kit.end()
  })
  test('is resized while it runs; those that go finish what they have', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const router = kit.system.spawn(pool(worker(log), { size: 4 }))
    for (let i = 0; i < 8; i++) router.tell(work(i))
    router.tell(resize(2))
    for (let i = 8; i < 12; i++) router.tell(work(i))
    await kit.settle()
    expect(log).toHaveLength(12)
    expect(kit.system.deadLetters.count).toBe(0)
    expect(await routeesOf(kit, router)).toHaveLength(2)
    router.tell(resize(6))
    expect(await routeesOf(kit, router)).toHaveLength(6)
    expect(() => resize(0)).toThrow(InvalidOption)
    await kit.end()
  })
  test('passes questions on, and they are answered by the routee', async () => {
    const kit = createTestKit()
    const router = kit.system.spawn(pool(worker([]), { size: 2 }))
    const answers = [router.ask({ type: 'who' }), router.ask({ type: 'who' })]
    await kit.settle()
    expect(await Promise.all(answers)).toEqual(['routee-1', 'routee-2'])
    await kit.end()
  })
})

describe('a group', () => {
  test('49. without routees dead-letters with the reason, and an ask is refused', async () => {
    const kit = createTestKit()
    const router = kit.system.spawn(group<Work>([]), { name: 'empty' })
    router.tell(work(1))
    const asked = failureOf(router.ask({ type: 'who' }))
    await kit.settle()
    expect(String(await asked)).toContain('no-routees')
    expect(kit.system.deadLetters.list().map((l) => [l.reason, l.recipient?.path])).toEqual([
      ['no-routees', '/user/empty'],
      ['no-routees', '/user/empty'],
    ])
    await kit.end()
  })
  test('forgets a routee that ended, and takes new ones', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const [a, b] = ['a', 'b'].map((name) => kit.system.spawn(worker(log), { name }))
    const router = kit.system.spawn(group<Work>([a!]))
    a!.tell({ type: 'leave' })
    await kit.settle()
    expect(await routeesOf(kit, router)).toEqual([])
    router.tell(addRoutee(b!))
    router.tell(work(1))
    await kit.settle()
    expect(log).toEqual(['b:1'])
    router.tell(removeRoutee(b!))
    expect(await routeesOf(kit, router)).toEqual([])
    expect(kit.system.phaseOf(b!)).toBe('running')
    await kit.end()
  })
  test('follows a key of the receptionist', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const key = serviceKey<Work>('workers')
    const router = kit.system.spawn(group(key))
    const refs = ['a', 'b'].map((name) => kit.system.spawn(worker(log), { name }))
    await kit.settle()
    for (const ref of refs) receptionistOf(kit.system).register(key, ref)
    expect(await routeesOf(kit, router)).toEqual(refs)
    refs[0]!.tell({ type: 'leave' })
    await kit.settle()
    expect(await routeesOf(kit, router)).toEqual([refs[1]])
    await kit.end()
  })
})

describe('the start of a pool', () => {
  const slow = (ms: number, log: string[]): Behavior<string> =>
    setup<string>(async (ctx) => {
      await delay(ms, { clock: ctx.system.clock })
      log.push(ctx.path)
      return ignore
    })

  test('is over when its routees are up: startChild of a supervisor resolves then, and not before', async () => {
    const kit = createTestKit()
    const up: string[] = []
    const client = supervisorClient(kit.system.spawn(supervisor({ children: [] }), { name: 'sup' }))
    let started = false
    const starting = client.startChild(child('pool', pool(slow(100, up), { size: 3 }))).then(() => (started = true))
    await kit.advance(99)
    expect([started, up.length]).toEqual([false, 0])
    await kit.advance(1)
    expect([started, up.length]).toEqual([true, 3])
    await starting
    await kit.end()
  })

  test('has the time that its routees have, and not only its own', async () => {
    const kit = createTestKit()
    const up: string[] = []
    const ref = kit.system.spawn(pool(slow(20_000, up), { size: 2, options: { startTimeout: 30_000 } }))
    const started = kit.system.started(ref)
    await kit.advance(20_000)
    await started
    expect(up.length).toBe(2)
    await kit.end()
  })

  test('fails when none of its routees comes up, nor one of their successors, with the cause', async () => {
    const kit = createTestKit()
    const broken = setup<string>((ctx) => {
      throw new Error(`no disk for ${ctx.path.at(-1)}`)
    })
    const started = kit.system.started(kit.system.spawn(pool(broken, { size: 2 }), { name: 'pool' })).catch((e: unknown) => e)
    await kit.settle()
    expect(String(await started)).toMatch(/^ActorInitializationError: .user.pool failed to start: .user.pool.routee-\d+ failed to start: no disk/)
    await kit.end()
  })

  test('does not wait for a routee that is to try again: it is up with the others, and that one follows', async () => {
    const kit = createTestKit()
    let tries = 0
    const flaky = setup<string>((ctx) => {
      if (ctx.path.endsWith('1') && ++tries < 3) throw new Error('not yet')
      return ignore
    })
    const ref = kit.system.spawn(pool(flaky, { size: 2, options: { supervision: supervise({ retryStart: true, backoff: { min: 100, max: 100 } }) } }))
    const started = kit.system.started(ref)
    await kit.settle()
    await started
    expect(tries).toBe(1)
    await kit.advance(1000)
    expect(tries).toBe(3)
    await kit.end()
  })

  test('does not keep a stop waiting', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      pool(
        setup<string>(() => new Promise(() => {})),
        { size: 2, options: { stopTimeout: 10 } },
      ),
    )
    await kit.settle()
    ref.stop()
    await kit.advance(1100)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
})
