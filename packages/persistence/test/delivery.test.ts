// From one persistent actor to another, for sure: P10. What is lost and doubled under load is the simulator's affair.

import type { ActorRef } from '@troupe/core'
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
