// Entities that leave by themselves, or are asked to: what is in their mailbox then, and what comes meanwhile, is handled by the next one.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorRef,
  type Behavior,
  entities,
  type EntitiesOptions,
  ignore,
  InvalidOption,
  NotAllowed,
  passivate,
  passivateEntity,
  receive,
  same,
  setup,
  stopped,
} from '@troupe/core'

type M = { id: string; n: number; leave?: 'stopped' | 'ctx.stop' | 'self.stop' | 'queued' | 'kill'; wait?: Promise<void>; stash?: true }

/** Writes down who handled what: `<life><key><n>`. */
const writer =
  (log: string[], lives: { count: number }) =>
  (key: string): Behavior<M> =>
    setup<M>((ctx) => {
      const life = ++lives.count
      ctx.stash.unstashAll()
      return receive<M>(async (c, m) => {
        if (m.stash === true && life === 1) {
          c.stash.add(m)
          return same
        }
        log.push(`${life}${key}${m.n}`)
        if (m.leave === 'ctx.stop') c.stop()
        if (m.leave === 'self.stop') c.self.stop()
        if (m.leave === 'queued') c.self.stop({ after: 'queued' })
        if (m.wait !== undefined) await m.wait
        return m.leave === 'stopped' ? stopped : same
      })
    })
const setUp = (more: Partial<EntitiesOptions<M>> = {}) => {
  const kit = createTestKit()
  const log: string[] = []
  const lives = { count: 0 }
  const router = kit.system.spawn(entities<M>({ keyOf: (m) => m.id, create: writer(log, lives), idle: 1000, ...more }))
  let open!: () => void
  const gate = new Promise<void>((resolve) => (open = resolve))
  return { kit, log, router, gate, open }
}

describe('messages of an entity that leaves by itself wait for its successor, in order', () => {
  for (const leave of ['stopped', 'ctx.stop', 'self.stop', 'queued'] as const)
    test(`by ${leave}, while it is busy`, async () => {
      const { kit, log, router, gate, open } = setUp()
      router.tell({ id: 'a', n: 1, leave, wait: gate })
      await kit.settle()
      for (let n = 2; n <= 4; n++) router.tell({ id: 'a', n })
      router.tell({ id: 'b', n: 9 })
      await kit.settle()
      open()
      router.tell({ id: 'a', n: 5 })
      await kit.settle()
      const life = (n: number): string => `${leave === 'queued' && n < 2 ? 1 : 3}a${n}`
      expect(log).toEqual(['1a1', '2b9', ...[2, 3, 4, 5].map(life)])
      expect(kit.system.deadLetters.list()).toEqual([])
      await kit.checkLedger()
      await kit.end()
    })
  test('all of it was queued before: the rest of the mailbox and the stash move on, the stash first', async () => {
    const { kit, log, router } = setUp()
    router.tell({ id: 'a', n: 1, stash: true })
    router.tell({ id: 'a', n: 2, leave: 'stopped' })
    for (let n = 3; n <= 200; n++) router.tell({ id: 'a', n })
    await kit.settle()
    expect(log).toEqual(['1a2', '2a1', ...Array.from({ length: 198 }, (_, i) => `2a${i + 3}`)])
    await kit.checkLedger()
    await kit.end()
  })
  test('one life per message: each leaves the rest to the next', async () => {
    const { kit, log, router } = setUp()
    for (let n = 1; n <= 5; n++) router.tell({ id: 'a', n, leave: 'stopped' })
    await kit.settle()
    expect(log).toEqual(['1a1', '2a2', '3a3', '4a4', '5a5'])
    expect((await kit.system.inspect(router)).children).toEqual([])
    await kit.end()
  })
  test('a question that is left is answered by the successor', async () => {
    const kit = createTestKit()
    type Q = { type: 'leave' } | { type: 'who'; replyTo: ActorRef<number> }
    let lives = 0
    const create = (): Behavior<Q> =>
      setup(() => {
        const life = ++lives
        return receive((_ctx, m) => {
          if (m.type === 'leave') return stopped
          m.replyTo.tell(life)
          return same
        })
      })
    const router = kit.system.spawn(entities<Q>({ keyOf: () => 'k', create, idle: 1000 }))
    router.tell({ type: 'leave' })
    const answer = router.ask({ type: 'who' })
    await kit.settle()
    expect(await answer).toBe(2)
    await kit.end()
  })
  test('one that was killed, or failed for good, leaves what it has not begun to its successor', async () => {
    const { kit, log, router, gate } = setUp({ options: { supervision: 'stop' } })
    router.tell({ id: 'a', n: 1, wait: gate })
    await kit.settle()
    for (let n = 2; n <= 3; n++) router.tell({ id: 'a', n })
    await kit.settle()
    kit.system.kill(kit.system.find((await kit.system.inspect(router)).children[0]!.path)!)
    await kit.settle()
    expect(log).toEqual(['1a1', '2a2', '2a3'])
    router.tell({ id: 'a', n: 4, wait: Promise.reject(new Error('boom')) })
    router.tell({ id: 'a', n: 5 })
    await kit.settle()
    expect(log.slice(3)).toEqual(['2a4', '3a5'])
    await kit.end()
  })
  test('one that never comes up is not made again and again: its messages are dead letters', async () => {
    const kit = createTestKit()
    let made = 0
    const create = (): Behavior<M> =>
      setup<M>(() => {
        made++
        return stopped
      })
    const router = kit.system.spawn(entities<M>({ keyOf: (m) => m.id, create, idle: 1000 }))
    for (let n = 1; n <= 3; n++) router.tell({ id: 'a', n })
    await kit.settle()
    expect(made).toBe(1)
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['stopped', 'stopped', 'stopped'])
    await kit.end()
  })
  test('a successor that cannot be made costs the messages that were left, and nothing else', async () => {
    const { kit, log, router } = setUp()
    const lives = { count: 0 }
    const fails = kit.system.spawn(
      entities<M>({
        keyOf: (m) => m.id,
        create: (key) => {
          if (lives.count === 1) throw new Error('no more')
          return writer(log, lives)(key)
        },
        idle: 1000,
      }),
    )
    fails.tell({ id: 'a', n: 1, leave: 'stopped' })
    fails.tell({ id: 'a', n: 2 })
    router.tell({ id: 'z', n: 1 })
    await kit.settle()
    expect(log.toSorted()).toEqual(['1a1', '1z1'])
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: { n: 2 }, reason: 'stopped' }])
    expect(kit.logs.map((l) => l.message)).toContain('what an entity left is dead letters: no successor could be made')
    await kit.checkLedger()
    await kit.end()
  })
  test('whoever chose another drain has it, and what is left when the router stops is dead letters', async () => {
    const { kit, router } = setUp({ options: { drain: 'drop' } })
    router.tell({ id: 'a', n: 1, leave: 'stopped' })
    router.tell({ id: 'a', n: 2 })
    await kit.settle()
    expect(await kit.system.ledger()).toMatchObject({ dropped: 1 })
    const other = setUp()
    other.router.tell({ id: 'a', n: 1, wait: other.gate })
    other.router.tell({ id: 'a', n: 2 })
    await other.kit.settle()
    other.router.stop()
    other.open()
    await other.kit.settle()
    expect(other.kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['stopped'])
    await kit.end()
    await other.kit.end()
  })
})

describe('passivateEntity', () => {
  test('an entity leaves now, after what it has queued, and no message is lost', async () => {
    const { kit, log, router, gate, open } = setUp()
    router.tell({ id: 'a', n: 1, wait: gate })
    router.tell({ id: 'a', n: 2 })
    router.tell(passivateEntity('a'))
    router.tell({ id: 'a', n: 3 })
    router.tell(passivateEntity('nobody'))
    await kit.settle()
    open()
    await kit.settle()
    expect(log).toEqual(['1a1', '1a2', '2a3'])
    router.tell(passivateEntity('a'))
    await kit.settle()
    expect((await kit.system.inspect(router)).children).toEqual([])
    await kit.checkLedger()
    await kit.end()
  })
  test('refuses a key that is no text', () => {
    expect(() => passivateEntity(7 as never)).toThrow(InvalidOption)
  })
})

describe('canPassivate', () => {
  test('an idle entity is asked before it is stopped, and stays as long as it says no', async () => {
    const listeners = new Set(['a'])
    const asked: string[] = []
    const { kit, router } = setUp({
      idle: 100,
      canPassivate: (key) => {
        asked.push(key)
        return !listeners.has(key)
      },
    })
    for (const id of ['a', 'b']) router.tell({ id, n: 1 })
    await kit.settle()
    const awake = async (): Promise<number> => (await kit.system.inspect(router)).children.length
    await kit.advance(250)
    expect(await awake()).toBe(1)
    await kit.advance(1000)
    expect(await awake()).toBe(1)
    expect(asked.filter((key) => key === 'a').length).toBeGreaterThan(5)
    listeners.clear()
    await kit.advance(250)
    expect(await awake()).toBe(0)
    expect(asked.filter((key) => key === 'b')).toEqual(['b'])
    await kit.end()
  })
  test('what it throws, or a promise, fails the entity; passivate takes it too', async () => {
    const kit = createTestKit()
    let answer: () => boolean = () => false
    const ref = kit.system.spawn(passivate(ignore, { after: 100, canPassivate: () => answer() }), { supervision: 'resume' })
    await kit.advance(150)
    expect(kit.system.phaseOf(ref)).toBe('running')
    answer = () => {
      throw new RangeError('odd')
    }
    await kit.advance(100)
    answer = (async () => true) as never
    await kit.advance(100)
    answer = () => true
    expect(kit.system.failures.list().map(({ cause }) => (cause as Error).constructor)).toEqual([RangeError, NotAllowed])
    await kit.advance(200)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(() => passivate(ignore, { after: 1, canPassivate: 1 as never })).toThrow(InvalidOption)
    await kit.end()
  })
})
