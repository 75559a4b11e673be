// Restarts of a supervisor that meet: a child fails while another waits for its backoff, and the two become one restart.
// Nobody who waited is forgotten, nobody's wait gets shorter, and all come up in the order of their needs.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorRef, child, type ChildOptions, supervisor, supervisorClient, type SupervisorOptions } from '@troupe/core'
import { type Journal, makeJournal, type Work, worker } from './worker.ts'

type Strategy = Exclude<SupervisorOptions['strategy'], undefined>

interface Scene {
  readonly kit: TestKit
  readonly journal: Journal
  readonly fail: (name: string) => Promise<void>
  readonly status: () => Promise<string>
}

async function scene(strategy: Strategy, children: Readonly<Record<string, ChildOptions>>): Promise<Scene> {
  const kit = createTestKit()
  const journal = makeJournal()
  const specs = Object.entries(children).map(([name, options]) => child(name, worker(name, journal), options))
  const options = { strategy, intensity: 10, period: 10_000, children: specs } as SupervisorOptions
  const ref = kit.system.spawn(supervisor(options), { name: 'sup', supervision: 'stop' })
  await kit.settle()
  journal.take()
  const client = supervisorClient(ref)
  return {
    kit,
    journal,
    fail: async (name) => {
      ;(kit.system.find(`/user/sup/${name}`) as ActorRef<Work>).tell({ type: 'crash' })
      await kit.settle()
    },
    status: async () => {
      const asked = client.children()
      await kit.settle()
      return (await asked).map((c) => `${c.name} ${c.status}`).join(', ')
    },
  }
}

const wait = (ms: number): ChildOptions['backoff'] => ({ min: ms, max: ms, factor: 1, jitter: 0 })

test('dependents: who waits for its backoff is not forgotten when what depends on it is restarted with another', async () => {
  const s = await scene('dependents', { a: { backoff: wait(100) }, b: {}, s: { needs: ['a', 'b'] } })
  await s.fail('a')
  expect(s.journal.take()).toEqual(['-a', '-s'])
  await s.kit.advance(30)
  await s.fail('b')
  expect(s.journal.take()).toEqual(['-b'])
  await s.kit.advance(69)
  expect(s.journal.take()).toEqual([])
  await s.kit.advance(1)
  expect(await s.status()).toBe('a running, b running, s running')
  await s.kit.end()
})

test('dependents: two restarts that became one come up in the order of needs', async () => {
  const s = await scene('dependents', { a: { backoff: wait(100) }, b: {}, s: { needs: ['a', 'b'] } })
  await s.fail('a')
  await s.fail('b')
  s.journal.take()
  await s.kit.advance(100)
  expect(s.journal.take()).toEqual(['+a', '+b', '+s'])
  await s.kit.end()
})

test('rest-for-one: an elder that fails takes along those that wait for their backoff, and all come up in order', async () => {
  const s = await scene('rest-for-one', { a: {}, b: { backoff: wait(100) }, c: {} })
  await s.fail('b')
  expect(s.journal.take()).toEqual(['-b', '-c'])
  await s.kit.advance(30)
  await s.fail('a')
  expect(s.journal.take()).toEqual(['-a'])
  await s.kit.advance(70)
  expect(s.journal.take()).toEqual(['+a', '+b', '+c'])
  await s.kit.end()
})

test('the longer of two waits holds, whichever came first', async () => {
  const s = await scene('dependents', { a: { backoff: wait(50) }, b: { backoff: wait(100) }, s: { needs: ['a', 'b'] } })
  await s.fail('a')
  await s.kit.advance(20)
  await s.fail('b')
  s.journal.take()
  await s.kit.advance(99)
  expect(s.journal.take()).toEqual([])
  await s.kit.advance(1)
  expect(s.journal.take()).toEqual(['+a', '+b', '+s'])
  await s.kit.end()
})
