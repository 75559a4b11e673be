// What a system that closes, or has closed, still takes: nothing, and it says so. And what is told to the top itself.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, ActorSystem, ignore, receive, same, setup, SystemClosed } from '@troupe/core'
import { gate } from './keeper.ts'

describe('dispatchers', () => {
  test('are stopped once the system has ended, with actors on them or without, and however it ended', async () => {
    for (const deadline of [1000, 0]) {
      const kit = createTestKit({ dispatchers: { side: {}, idle: {} } })
      const { dispatchers } = kit.system
      kit.system.spawn(
        receive<string>(
          () => same,
          () => new Promise<void>(() => {}),
        ),
        { dispatcher: 'side', startTimeout: 10 },
      )
      kit.system.spawn(ignore)
      await kit.advance(5)
      expect(dispatchers.names.map((name) => dispatchers.stateOf(name))).toEqual(['running', 'running', 'running'])
      const ended = kit.system.shutdown({ deadline })
      await kit.advance(10_000)
      await ended
      expect(dispatchers.names.map((name) => dispatchers.stateOf(name))).toEqual(['stopped', 'stopped', 'stopped'])
    }
  })

  test('are not taken by a system that closes, nor by one that has', async () => {
    const kit = createTestKit()
    const held = gate()
    kit.system.spawn(
      receive<string>(
        () => same,
        (_c, s) => (s.type === 'PreStop' ? held.promise : same),
      ),
    )
    await kit.settle()
    const ended = kit.system.shutdown()
    await kit.settle()
    expect(kit.system.phase).toBe('closing')
    expect(() => kit.system.dispatchers.add('late')).toThrow(SystemClosed)
    held.open()
    await kit.settle()
    await ended
    expect(() => kit.system.dispatchers.add('late')).toThrow(/dispatcher "late"/)
    expect(kit.system.dispatchers.names).toEqual(['concurrent'])
  })
})

describe('sendAfter on a closed system', () => {
  test('is a dead letter system-closed at the call, and its cancel does nothing', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>(() => same))
    await kit.settle()
    await kit.system.shutdown()
    const cancel = kit.system.sendAfter(ref, 1000, 'too late')
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'too late', recipient: ref, reason: 'system-closed' }])
    cancel()
    await kit.checkLedger()
    expect(kit.system.deadLetters.count).toBe(1)
  })

  test('what is under way when the system closes was never sent: no message, no dead letter', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>(() => same))
    kit.system.sendAfter(ref, 1000, 'never')
    await kit.settle()
    await kit.system.shutdown()
    await kit.advance(2000)
    expect((await kit.checkLedger()).sent).toBe(0)
  })

  test('also of a system of the host, and to an actor of another system', async () => {
    const other = ActorSystem.create('other')
    const heard: string[] = []
    const ref = other.spawn(receive<string>((_c, m) => void heard.push(m)))
    const system = ActorSystem.create('first', { logger: false })
    await system.shutdown()
    system.sendAfter(ref, 0, 'x')
    expect(system.deadLetters.list()).toMatchObject([{ message: 'x', reason: 'system-closed' }])
    await other.shutdown({ drain: true })
    expect(heard).toEqual([])
    const { sent, deadLettered } = await system.ledger()
    expect([sent, deadLettered]).toEqual([1, 1])
  })
})

describe('the parent of a top-level actor', () => {
  test('takes no messages: each is a dead letter no-recipient, with its sender', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        ;(ctx.parent as ActorRef<string>).tell(m, ctx.self)
        return same
      }),
    )
    ref.tell('up')
    ref.tell('up again')
    await kit.settle()
    expect(kit.system.deadLetters.list()).toMatchObject([
      { message: 'up', sender: ref, reason: 'no-recipient', recipient: { path: '/user' } },
      { message: 'up again', sender: ref, reason: 'no-recipient' },
    ])
    expect(await kit.checkLedger()).toMatchObject({ sent: 4, handled: 2, deadLettered: 2 })
    await kit.end()
  })

  test('refuses questions at once; forwarded messages and offers are dead letters', async () => {
    const kit = createTestKit()
    const caught: unknown[] = []
    kit.system.spawn(
      setup<string>((ctx) => {
        const top = ctx.parent as ActorRef<{ replyTo: ActorRef<number> } | string>
        ctx.self.tell('forward')
        return receive<string>(async (c, m) => {
          if (m === 'forward') {
            c.forward(top)
            c.self.tell('ask')
          } else if (m === 'ask') {
            await c.ask(top, { x: 1 } as never).catch((cause: unknown) => caught.push(cause))
            await top.offer('offered')
          }
        })
      }),
    )
    await kit.settle()
    expect(caught).toMatchObject([{ code: 'ask-refused' }])
    expect(kit.system.deadLetters.list().map((l) => l.message)).toMatchObject(['forward', { x: 1 }, 'offered'])
    expect(kit.clock.now).toBe(0)
    await kit.end()
  })

  test('still ends the system when it is stopped, after what is queued as well', async () => {
    for (const after of ['current', 'queued'] as const) {
      const kit = createTestKit()
      kit.system.spawn(ignore)
      await kit.settle()
      kit.system.find('/user')!.stop({ after })
      await kit.settle()
      expect(kit.system.phase).toBe('closed')
    }
  })
})
