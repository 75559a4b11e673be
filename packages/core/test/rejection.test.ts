// An answer that is an error: whoever asked is told, and the actor goes on as if it had answered anything else.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { Actor, type ActorRef, AskRejected, type Behavior, InvalidOption, receive, reject, Rejection, same, setup } from '@troupe/core'

type Account = { type: 'withdraw'; amount: number; replyTo: ActorRef<number> } | { type: 'odd'; replyTo: ActorRef<unknown> }

class Short extends Error {
  readonly code = 'short'
}

const account = (starts: { count: number } = { count: 0 }): Behavior<Account> =>
  setup(() => {
    starts.count++
    let balance = 10
    return receive((_ctx, m) => {
      if (m.type === 'odd') {
        m.replyTo.tell(new AskRejected('/elsewhere', 'passed on as a value'))
        return same
      }
      if (m.amount > balance) reject(m.replyTo, new Short(`short of ${m.amount - balance}`))
      else m.replyTo.tell((balance -= m.amount))
      return same
    })
  })

const causeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => ({ value }),
    (cause: unknown) => cause,
  )

describe('reject', () => {
  test('the question is rejected with AskRejected, which carries the error; the actor has not failed, and the ledger adds up', async () => {
    const kit = createTestKit()
    const starts = { count: 0 }
    const ref = kit.system.spawn(account(starts), { name: 'account' })
    const bad = causeOf(ref.ask({ type: 'withdraw', amount: 12 }))
    const good = ref.ask({ type: 'withdraw', amount: 3 })
    await kit.settle()
    const error = (await bad) as AskRejected
    expect(error).toBeInstanceOf(AskRejected)
    expect(error).toMatchObject({ code: 'ask-rejected', path: '/user/account', message: '/user/account rejected the question: short of 2' })
    expect(error.cause).toBeInstanceOf(Short)
    expect(error.cause).toMatchObject({ code: 'short' })
    expect(await good).toBe(7)
    expect(starts.count).toBe(1)
    expect(kit.system.failures.list()).toEqual([])
    expect(kit.system.deadLetters.list()).toEqual([])
    expect(await kit.checkLedger()).toMatchObject({ failed: 0, sent: 4, handled: 4 })
    await kit.end()
  })
  test('the first answer counts: a rejection after it, and an answer after a rejection, are dead letters', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<{ first: 'answer' | 'rejection'; replyTo: ActorRef<string> }>((_ctx, { first, replyTo }) => {
        if (first === 'answer') replyTo.tell('yes')
        reject(replyTo, new Error('no'))
        replyTo.tell('late')
        return same
      }),
    )
    const answered = ref.ask({ first: 'answer' })
    const rejected = causeOf(ref.ask({ first: 'rejection' }))
    await kit.settle()
    expect(await answered).toBe('yes')
    expect(await rejected).toMatchObject({ code: 'ask-rejected' })
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['late-reply', 'late-reply', 'late-reply'])
    await kit.end()
  })
  test('where the address is an actor or an adapter, nobody waits: a dead letter, and neither hears of it', async () => {
    const kit = createTestKit()
    const heard: unknown[] = []
    const ref = kit.system.spawn(account())
    const listener = kit.system.spawn(
      setup<unknown>((ctx) => {
        ref.tell({ type: 'withdraw', amount: 99, replyTo: ctx.self })
        ref.tell({ type: 'withdraw', amount: 99, replyTo: ctx.adapt((n: number) => n) })
        return receive<unknown>((_c, m) => void heard.push(m))
      }),
    )
    await kit.settle()
    expect(heard).toEqual([])
    expect(kit.system.deadLetters.list()).toMatchObject([
      { reason: 'no-recipient', recipient: listener, message: { code: 'rejection' } },
      { reason: 'no-recipient', message: { code: 'rejection' } },
    ])
    await kit.checkLedger()
    await kit.end()
  })
  test('an error that is told as a value stays one, also one that came from a rejection', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(account())
    const answer = ref.ask({ type: 'odd' })
    await kit.settle()
    expect(await answer).toBeInstanceOf(AskRejected)
    await kit.end()
  })
  test('a handler that does not catch the rejection of its own question fails of it, as of any other', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(account())
    const middle = kit.system.spawn(
      receive<{ replyTo: ActorRef<number> }>(async (ctx, { replyTo }) => {
        replyTo.tell(await ctx.ask(ref, { type: 'withdraw', amount: 99 }))
      }),
    )
    const outer = causeOf(middle.ask({}))
    await kit.settle()
    expect(await outer).toMatchObject({ code: 'ask-rejected', cause: { code: 'short' } })
    expect(kit.system.failures.list()).toHaveLength(1)
    await kit.end()
  })
  test('refuses what is no ref, and takes anything as its cause', async () => {
    const kit = createTestKit()
    expect(() => reject(5 as never, 'x')).toThrow(InvalidOption)
    const causes = [undefined, null, 'text', 7, { any: 'thing' }]
    const ref = kit.system.spawn(receive<{ n: number; replyTo: ActorRef<never> }>((_ctx, { n, replyTo }) => reject(replyTo, causes[n])))
    const got = Promise.all(causes.map((_, n) => causeOf(ref.ask({ n }))))
    await kit.settle()
    expect((await got).map((error) => (error as Error).cause)).toEqual(causes)
    await kit.end()
  })
})

describe('class actors', () => {
  class Safe extends Actor {
    balance = 10
    withdraw(amount: number): number {
      if (amount > this.balance) throw new Rejection(new Short('short'))
      return (this.balance -= amount)
    }
    async later(amount: number): Promise<number> {
      await Promise.resolve()
      return this.withdraw(amount)
    }
  }
  test('a method that throws a Rejection answers with an error and does not fail, at once or later', async () => {
    const kit = createTestKit()
    const safe = kit.system.spawn(Safe)
    const errors = Promise.all([causeOf(safe.ask.withdraw(99)), causeOf(safe.ask.later(99))])
    const good = safe.ask.withdraw(4)
    await kit.settle()
    for (const error of await errors) expect(error).toMatchObject({ code: 'ask-rejected', cause: { code: 'short' } })
    expect(await good).toBe(6)
    expect(kit.system.failures.list()).toEqual([])
    await kit.checkLedger()
    await kit.end()
  })
  test('where nobody asked, a Rejection is a failure as anything else that is thrown', async () => {
    const kit = createTestKit()
    const safe = kit.system.spawn(Safe)
    safe.tell.withdraw(99)
    await kit.settle()
    expect(kit.system.failures.list()).toMatchObject([{ cause: { code: 'rejection' } }])
    await kit.end()
  })
})
