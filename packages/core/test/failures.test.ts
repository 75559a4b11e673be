// What the system remembers of failed messages: `system.failures`.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { Actor, ActorInitializationError, child, receive, same, setup, supervise, supervisor } from '@troupe/core'

const brittle = receive<string | Error>((_ctx, m) => {
  if (m instanceof Error) throw m
  return same
})

describe('system.failures', () => {
  test('keeps the message that failed, with actor, cause, directive and time', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(brittle, { name: 'brittle' })
    await kit.advance(7)
    const bad = new Error('bad')
    ref.tell('fine')
    ref.tell(bad)
    await kit.settle()
    expect(kit.system.failures.count).toBe(1)
    expect(kit.system.failures.list()).toEqual([{ actor: ref, message: bad, cause: bad, directive: 'restart', at: 7 }])
    await kit.end()
  })

  test('has one entry for each failed message of the ledger, whatever was decided', async () => {
    const kit = createTestKit()
    for (const directive of ['resume', 'restart', 'stop'] as const)
      kit.system
        .spawn(brittle, { supervision: supervise({ decide: () => directive, limit: { restarts: 100, within: 1000 } }) })
        .tell(new Error(directive))
    const inner = receive<string>(() => {
      throw new Error('escalate')
    })
    kit.system.spawn(
      setup<never>((ctx) => {
        ctx.spawn(inner, { supervision: 'escalate' }).tell('go')
        return receive<never>(() => same)
      }),
      { supervision: 'stop' },
    )
    kit.system.spawn(
      supervisor({
        children: [
          child(
            'x',
            setup<string>((ctx) => (ctx.self.tell('go'), inner)),
          ),
        ],
        intensity: 0,
      }),
      { supervision: 'stop' },
    )
    await kit.advance(1000)
    const failed = kit.system.failures.list().filter((f) => f.message !== undefined)
    expect(failed.map((f) => `${(f.cause as Error).message} ${f.directive}`).toSorted()).toEqual(
      ['escalate escalate', 'escalate escalate', 'resume resume', 'restart restart', 'stop stop'].toSorted(),
    )
    expect(failed.length).toBe((await kit.system.ledger()).failed)
    await kit.end()
  })

  test('keeps failures without a message too: of starts, and of those to whom one escalated', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      setup<never>(() => {
        throw new Error('no')
      }),
    )
    await kit.settle()
    expect(kit.system.failures.list()).toMatchObject([{ actor: ref, message: undefined, directive: 'stop' }])
    expect(kit.system.failures.list()[0]!.cause).toBeInstanceOf(ActorInitializationError)
    await kit.end()
  })

  test('keeps a handler that fails while its actor ends: then nothing was left to decide', async () => {
    const kit = createTestKit()
    let fail = (): void => {}
    const ref = kit.system.spawn(receive<string>(() => new Promise((_resolve, reject) => (fail = () => reject(new Error('late'))))))
    ref.tell('slow')
    await kit.settle()
    ref.stop()
    await kit.settle()
    fail()
    await kit.settle()
    expect(kit.system.failures.list()).toMatchObject([{ actor: ref, message: 'slow', directive: undefined, cause: { message: 'late' } }])
    await kit.end()
  })

  test('keeps the call of a class actor', async () => {
    class Cart extends Actor {
      add(item: string): void {
        throw new Error(`no ${item}`)
      }
    }
    const kit = createTestKit()
    const cart = kit.system.spawn(Cart)
    cart.tell.add('milk')
    await kit.settle()
    expect(kit.system.failures.list()).toMatchObject([{ actor: cart, message: { type: 'add', args: ['milk'] } }])
    await kit.end()
  })

  test.each([0, 1, 3])('keeps the last %s where that is its bound, and counts all', async (failureCapacity) => {
    const kit = createTestKit({ failureCapacity })
    const ref = kit.system.spawn(brittle, { supervision: 'resume' })
    for (let i = 0; i < 5; i++) ref.tell(new Error(String(i)))
    await kit.settle()
    expect(kit.system.failures.count).toBe(5)
    expect(kit.system.failures.list().map((f) => (f.cause as Error).message)).toEqual(['0', '1', '2', '3', '4'].slice(5 - failureCapacity))
    await kit.end()
  })

  test('keeps 1,000 if nothing was said', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(brittle, { supervision: 'resume' })
    for (let i = 0; i < 1500; i++) ref.tell(new Error(String(i)))
    await kit.settle()
    expect([kit.system.failures.count, kit.system.failures.list().length]).toEqual([1500, 1000])
    await kit.end()
  })

  test('what failed can be sent again', async () => {
    const kit = createTestKit()
    let broken = true
    const done: string[] = []
    const ref = kit.system.spawn(
      receive<string>((_ctx, m) => {
        if (broken) throw new Error('down')
        done.push(m)
        return same
      }),
      { supervision: 'resume' },
    )
    for (const m of ['a', 'b']) ref.tell(m)
    await kit.settle()
    broken = false
    for (const { actor, message } of kit.system.failures.list()) actor.tell(message as never)
    await kit.settle()
    expect(done).toEqual(['a', 'b'])
    await kit.end()
  })

  test('its bound is checked', () => {
    for (const failureCapacity of [-1, 1.5, NaN, '3'])
      expect(() => createTestKit({ failureCapacity: failureCapacity as never })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })
})
