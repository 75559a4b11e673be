// From one persistent actor to another, for sure: P10. What is lost and doubled under load is the simulator's affair.

import { type ActorRef, entities } from '@troupe/core'
import { eventSourced, journalEvents, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { kitWith } from './counter.ts'

type Account =
  | { type: 'pay'; to: string; amount: number; replyTo: ActorRef<number> }
  | { type: 'take'; amount: number }
  | { type: 'get'; replyTo: ActorRef<number> }

const account: Kind<Account> = eventSourced('account', {
  initial: () => 100,
  events: { paid: (n, e: { amount: number }) => n - e.amount, taken: (n, e: { amount: number }) => n + e.amount },
  commands: {
    pay(ctx, m) {
      ctx.persist({ type: 'paid', amount: m.amount })
      ctx.deliver(account, m.to, { type: 'take', amount: m.amount })
      if (m.amount > 50) throw new Error('too much')
      ctx.tell(m.replyTo, ctx.state)
    },
    take: (ctx, m) => ctx.persist({ type: 'taken', amount: m.amount }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
  snapshotEvery: 2,
})

test('what was delivered while nobody was there arrives later, once, also after the sender began anew; nothing of a command that threw does', async () => {
  const refs = new Map<string, ActorRef<Account>>()
  const kit = kitWith(memory(), { find: (kind, key) => (kind === 'account' ? refs.get(key) : undefined), redeliverEvery: 100 })
  const get = async (key: string): Promise<number> => {
    const answer = refs.get(key)!.ask({ type: 'get' })
    await kit.settle()
    return answer
  }
  refs.set('a', kit.system.spawn(account('a')))
  const paid = [10, 60, 5].map((amount) =>
    refs
      .get('a')!
      .ask({ type: 'pay', to: 'b', amount })
      .catch(() => 'failed'),
  )
  await kit.advance(200)
  expect(await Promise.all(paid)).toEqual([90, 'failed', 85])
  kit.system.restart(refs.get('a')!)
  await kit.settle()
  refs.set('b', kit.system.spawn(account('b')))
  await kit.advance(1000)
  expect([await get('a'), await get('b')]).toEqual([85, 115])
  kit.system.restart(refs.get('a')!)
  kit.system.restart(refs.get('b')!)
  await kit.advance(5000)
  expect([await get('a'), await get('b')]).toEqual([85, 115])
  const seen: string[] = []
  for await (const { key, event } of journalEvents(kit.system, { once: true })) seen.push(`${key} ${event.type}`)
  expect(seen.sort()).toEqual(['a paid', 'a paid', 'b taken', 'b taken'])
  await kit.end()
})

test('without somebody to say where actors are, a delivery is refused', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(account('a'))
  const paid = ref.ask({ type: 'pay', to: 'b', amount: 1 }).catch((cause: { code: string; message: string }) => cause)
  await kit.advance(100)
  expect(await paid).toMatchObject({ code: 'not-allowed', message: expect.stringMatching(/persistence\(\{ find/) as string })
  await kit.end()
})

type Target = { type: 'take'; id: string; n: number } | { type: 'get'; id: string; replyTo: ActorRef<readonly number[]> }
type Sender = { type: 'send'; n: number; replyTo: ActorRef<string> }

test('P10: a delivery whose command throws is tried less and less often, its receiver is there for everybody else, and what waits behind it comes in order', async () => {
  let poisonous = true
  let tries = 0
  const target: Kind<Target> = eventSourced('target', {
    initial: (): readonly number[] => [],
    events: { taken: (all, e: { n: number }) => [...all, e.n] },
    commands: {
      take(ctx, m) {
        if (m.n === 13) {
          tries++
          if (poisonous) throw new Error('poison')
        }
        ctx.persist({ type: 'taken', n: m.n })
      },
      get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    },
  })
  const sender: Kind<Sender> = eventSourced('sender', {
    initial: () => 0,
    events: { sent: (n) => n + 1 },
    commands: {
      send(ctx, m) {
        ctx.persist({ type: 'sent' })
        ctx.deliver(target, 't', { type: 'take', id: 't', n: m.n })
        ctx.tell(m.replyTo, 'sent')
      },
    },
  })
  const refs = new Map<string, ActorRef<Target>>()
  const kit = kitWith(memory(), { find: () => refs.get('targets'), redeliverEvery: 1000 })
  refs.set('targets', kit.system.spawn(entities<Target>({ keyOf: (m) => m.id, create: (key) => target(key), idle: 600_000 })))
  const [a, b] = [kit.system.spawn(sender('a')), kit.system.spawn(sender('b'))]
  const send = async (from: ActorRef<Sender>, n: number): Promise<void> => {
    const sent = from.ask({ type: 'send', n })
    await kit.settle()
    await sent
  }
  for (const n of [1, 13, 2, 3]) await send(a, n)
  await send(b, 5)
  const got = async (): Promise<readonly number[]> => {
    const answer = refs.get('targets')!.ask({ type: 'get', id: 't' })
    await kit.settle()
    return Promise.race([answer, Promise.resolve(['not answered' as never])])
  }
  for (let second = 0; second < 120; second++) {
    expect(await got()).toEqual([1, 5])
    await kit.advance(1000)
  }
  expect(tries).toBeGreaterThan(5)
  expect(tries).toBeLessThan(12)
  poisonous = false
  await kit.advance(32_000)
  expect(await got()).toEqual([1, 5, 13, 2, 3])
  // Acknowledged, so that what comes next waits no longer than a round.
  await send(a, 4)
  expect(await got()).toEqual([1, 5, 13, 2, 3, 4])
  await kit.end()
})

test('copies of a delivery do not pile up in the mailbox of a receiver that cannot take them', async () => {
  const journal = memory()
  const refs = new Map<string, ActorRef<Account>>()
  const kit = kitWith(journal, { find: (_, key) => refs.get(key), redeliverEvery: 100 })
  refs.set('a', kit.system.spawn(account('a')))
  refs.set('b', kit.system.spawn(account('b')))
  await kit.settle()
  kit.system.suspend(refs.get('b')!, 'maintenance')
  const paid = [10, 5, 5].map((amount) => refs.get('a')!.ask({ type: 'pay', to: 'b', amount }))
  await kit.advance(120_000)
  await Promise.all(paid)
  // Three, all three again, and the first one every three seconds.
  expect((await kit.system.inspect(refs.get('b'))).queued).toBeLessThan(60)
  kit.system.resume(refs.get('b')!)
  await kit.advance(10_000)
  const answer = refs.get('b')!.ask({ type: 'get' })
  await kit.settle()
  expect(await answer).toBe(120)
  await kit.end()
})
