import { type ActorRef, delay, receive, same, setup, stopped } from '@troupe/core'
import { expect, test } from 'vitest'
import { createTestKit } from './test-kit.ts'

type Echo = { type: 'ping'; n: number; replyTo: ActorRef<{ type: 'pong'; n: number }> }
const echo = () =>
  receive<Echo>((_ctx, m) => {
    m.replyTo.tell({ type: 'pong', n: m.n })
    return same
  })

test('advance stops at every deadline on the way and runs promise chains there', async () => {
  const kit = createTestKit()
  const seen: [string, number][] = []
  const ref = kit.system.spawn(
    setup<'tick'>((ctx) => {
      ctx.timers.every('t', 10, 'tick')
      return receive(async () => {
        seen.push(['tick', kit.clock.now])
        await Promise.resolve().then(() => Promise.resolve())
        seen.push(['chain', kit.clock.now])
      })
    }),
  )
  await kit.advance(25)
  expect(seen).toEqual([
    ['tick', 10],
    ['chain', 10],
    ['tick', 20],
    ['chain', 20],
  ])
  ref.stop()
  await kit.end()
})

test('until moves time until a promise is settled, no further, and gives what it is fulfilled or rejected with', async () => {
  const kit = createTestKit()
  const slow = kit.system.spawn(
    receive<Echo>(async (ctx, m) => {
      await delay(30, { clock: ctx.system.clock })
      if (m.n < 0) throw new Error('negative')
      m.replyTo.tell({ type: 'pong', n: m.n })
    }),
  )
  expect(await kit.until(kit.system.spawn(echo()).ask({ type: 'ping', n: 1 }))).toEqual({ type: 'pong', n: 1 })
  expect(kit.clock.now).toBe(0)
  expect(await kit.until(slow.ask({ type: 'ping', n: 2 }))).toEqual({ type: 'pong', n: 2 })
  expect(kit.clock.now).toBe(30)
  await expect(kit.until(slow.ask({ type: 'ping', n: -1 }))).rejects.toThrow('negative')
  await expect(kit.until(new Promise(() => {}), 100)).rejects.toThrow('Not settled within 100 ms of virtual time')
  await expect(kit.until(5 as never)).rejects.toMatchObject({ code: 'invalid-option' })
  await kit.end()
})

test('a probe expects values, types, silence, and answers', async () => {
  const kit = createTestKit()
  const probe = kit.probe<Echo | { type: 'pong'; n: number }>()
  const ref = kit.system.spawn(echo())
  ref.tell({ type: 'ping', n: 1, replyTo: probe.ref })
  await kit.settle()
  probe.expect({ type: 'pong', n: 1 })
  probe.expectNone()
  expect(() => probe.expect({ type: 'pong', n: 1 })).toThrow('there is none')
  const asked = probe.ref.ask({ type: 'ping', n: 7 })
  await kit.settle()
  expect(probe.expectType('ping').n).toBe(7)
  probe.reply({ type: 'pong', n: 8 })
  expect(await asked).toEqual({ type: 'pong', n: 8 })
  probe.ref.tell({ type: 'pong', n: 3 })
  await kit.settle()
  expect(() => probe.expect({ type: 'pong', n: 4 })).toThrow('Expected {"type":"pong","n":4}, but got {"type":"pong","n":3}.')
  expect(() => probe.reply(1)).toThrow('Nobody waits')
  await kit.end()
})

test('expectNone of a span lets exactly that span pass and fails on what comes within it', async () => {
  const kit = createTestKit()
  const probe = kit.probe<string>()
  kit.system.sendAfter(probe.ref, 50, 'late')
  await probe.expectNone(49)
  expect(kit.clock.now).toBe(49)
  await expect(probe.expectNone(10)).rejects.toThrow('Expected nothing, but got "late"')
  expect(kit.clock.now).toBe(50)
  await kit.end()
})

test('fishing skips what is not wanted and gives up at its limit', async () => {
  const kit = createTestKit()
  const probe = kit.probe<{ type: string }>()
  for (const [ms, type] of [
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
    [9, 'd'],
  ] as const)
    kit.system.sendAfter(probe.ref, ms, { type })
  expect(await probe.fish((m) => m.type === 'c', 100)).toEqual({ type: 'c' })
  expect(kit.clock.now).toBe(3)
  await expect(probe.fish((m) => m.type === 'x', 20)).rejects.toThrow('but 1 others: {"type":"d"}')
  expect(await probe.next(0).catch((e: Error) => e.message)).toContain('there is none')
  await kit.end()
})

test('expectTerminated and expectPhase wait in virtual time only', async () => {
  const kit = createTestKit()
  const probe = kit.probe()
  const ref = kit.system.spawn(
    setup<'end'>((ctx) => {
      ctx.timers.once('end', 100, 'end')
      return receive(() => stopped)
    }),
  )
  await kit.expectPhase(ref, 'running')
  await expect(probe.expectTerminated(ref, 50)).rejects.toThrow('but it lives')
  expect((await probe.expectTerminated(ref, 50)).reason).toBe('normal')
  await kit.expectPhase(ref, 'terminated')
  await expect(kit.expectPhase(ref, 'running', 10)).rejects.toThrow('but it is terminated')
  await kit.end()
})

test('logs are captured and can be expected by sentence or by field', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    receive<string>((ctx) => {
      ctx.log.info({ id: 7 }, 'got one')
      return same
    }),
    { name: 'a' },
  )
  ref.tell('x')
  await kit.settle()
  expect(kit.expectLog('got one').level).toBe('info')
  expect(() => kit.expectLog({ id: 7 })).toThrow('Expected a log line')
  await kit.end()
})

test('frozen messages make a later write throw in the actor that wrote', async () => {
  const kit = createTestKit({ messages: 'freeze', supervision: 'stop' })
  const message = { type: 'list', items: [{ n: 1 }], to: kit.probe().ref }
  const ref = kit.system.spawn(
    receive<typeof message>((_ctx, m) => {
      m.items[0]!.n = 2
      return same
    }),
  )
  ref.tell(message)
  await kit.expectPhase(ref, 'terminated')
  expect(message.items[0]!.n).toBe(1)
  expect(() => message.items.push({ n: 3 })).toThrow(TypeError)
  await kit.end()
})

test('cloned messages hide later writes, and keep refs, maps and cycles', async () => {
  const kit = createTestKit({ messages: 'clone' })
  type Node = { n: number; self?: Node; map: Map<string, { n: number }>; to: ActorRef<never> }
  const seen: Node[] = []
  const ref = kit.system.spawn(
    receive<Node>((_ctx, m) => {
      seen.push(m)
      return same
    }),
  )
  const message: Node = { n: 1, map: new Map([['a', { n: 1 }]]), to: ref }
  message.self = message
  ref.tell(message)
  message.n = 2
  message.map.get('a')!.n = 2
  await kit.settle()
  expect(seen[0]!.n).toBe(1)
  expect(seen[0]!.map.get('a')).toEqual({ n: 1 })
  expect(seen[0]!.self).toBe(seen[0])
  expect(seen[0]!.to).toBe(ref)
  await kit.end()
})

test('the end of a test fails on what an ended actor left behind', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(echo(), { name: 'echo' })
  const watcher = kit.probe()
  kit.system.watch(ref, watcher.ref)
  await kit.settle()
  kit.checkLeaks()
  // What a cell that forgets its watches would leave: the watcher is gone on its side only.
  const cell = (watcher.ref as unknown as { cell: { extras: { watching: Map<unknown, unknown> } } }).cell
  cell.extras.watching.clear()
  expect(() => kit.checkLeaks()).toThrow('keeps a watcher that gave the watch up')
  kit.system.stop(ref)
  await kit.end()
})

test('await using ends the kit', async () => {
  let phase = ''
  {
    await using kit = createTestKit()
    kit.probe()
    phase = kit.system.phase
    kit.system.terminated.then(
      () => (phase = 'ended'),
      () => {},
    )
  }
  expect(phase).toBe('ended')
})

test.each<[string, (again: () => void) => unknown]>([
  ['at once', (again) => again()],
  ['after a promise', (again) => Promise.resolve().then(again)],
  ['twice', (again) => [again(), again()]],
])('settle fails, and names the actor, where one tells itself again and again %s', async (_how, then) => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    receive<number>((ctx, n) => void then(() => ctx.self.tell(n + 1))),
    { name: 'restless' },
  )
  ref.tell(0)
  await expect(kit.settle()).rejects.toThrow(/Does not settle: ever more is due at 0 ms\. Busy: \/user\/restless\./)
  ref.stop()
  await kit.end()
})
