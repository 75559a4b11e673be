import { createTestKit } from '@troupe/testkit'
import { expect, expectTypeOf, test } from 'vitest'
import {
  type ActorRef,
  ActorSystem,
  child,
  NotABehavior,
  receive,
  RestartIntensityExceeded,
  RootKilled,
  stopped,
  supervise,
  supervisor,
  supervisorClient,
  type SupervisorMessage,
  withOptions,
} from '@troupe/core'
import { makeJournal, type Work, worker } from './worker.ts'

test('a supervisor that gives up over a child which did not fail says so', async () => {
  const kit = createTestKit({
    root: supervisor({
      intensity: 0,
      children: [
        child(
          'a',
          receive(() => stopped),
        ),
      ],
    }),
  })
  await kit.settle()
  ;(kit.system.find('/user/root/a') as ActorRef<string>).tell('go')
  await kit.settle()
  const { cause } = await kit.system.terminated
  expect((cause as Error).message).toMatch(/or raise intensity\. Last: a ended without a failure\.$/)
  await kit.end()
})

test('a root that gives up ends the system, and terminated resolves with its cause', async () => {
  const journal = makeJournal()
  const kit = createTestKit({ root: supervisor({ intensity: 0, children: [child('a', worker('a', journal)), child('b', worker('b', journal))] }) })
  const other = kit.system.spawn(worker('other', journal), { name: 'other' })
  await kit.settle()
  expect(kit.system.root?.path).toBe('/user/root')
  ;(kit.system.find('/user/root/a') as ActorRef<Work>).tell({ type: 'crash', cause: new Error('disk on fire') })
  await kit.settle()
  const { cause } = await kit.system.terminated
  expect(cause).toBeInstanceOf(RestartIntensityExceeded)
  expect((cause as Error).cause).toMatchObject({ message: 'disk on fire' })
  expect(kit.system.phaseOf(other)).toBe('terminated')
  expect(kit.system.phase).toBe('closed')
  await kit.end()
})

test('a root that ends by itself ends the system without a cause, one that was killed with RootKilled', async () => {
  const root = receive<'end'>(() => stopped)
  const kit = createTestKit({ root })
  ;(kit.system.root as ActorRef<'end'>).tell('end')
  await kit.settle()
  expect(await kit.system.terminated).not.toHaveProperty('cause')
  const second = createTestKit({ root })
  second.system.kill(second.system.root!)
  await second.settle()
  expect((await second.system.terminated).cause).toBeInstanceOf(RootKilled)
  await kit.end()
  await second.end()
})

test('a root whose start fails ends the system with that', async () => {
  const journal = makeJournal()
  journal.plans['a'] = { failStarts: 1 }
  const kit = createTestKit({ root: supervisor({ children: [child('a', worker('a', journal))] }) })
  await kit.settle()
  expect(String((await kit.system.terminated).cause)).toContain('a cannot start')
  await kit.end()
})

test('a root may ask for a policy of its own', async () => {
  const journal = makeJournal()
  const root = withOptions(supervisor({ intensity: 0, children: [child('a', worker('a', journal))] }), {
    supervision: supervise({ limit: { restarts: 1, within: 1000 } }),
  })
  const kit = createTestKit({ root })
  await kit.settle()
  const crash = async (): Promise<void> => {
    ;(kit.system.find('/user/root/a') as ActorRef<Work>).tell({ type: 'crash' })
    await kit.advance(20)
  }
  await crash()
  expect(journal.take()).toEqual(['+a', '-a', '+a'])
  expect(kit.system.phase).toBe('open')
  await crash()
  expect(kit.system.phase).toBe('closed')
  await kit.end()
})

test('the ref of the root is typed by what was given', async () => {
  const system = ActorSystem.create('typed', { root: supervisor({ children: [] }), keepAlive: false })
  expectTypeOf(system.root).toEqualTypeOf<ActorRef<SupervisorMessage> | undefined>()
  expectTypeOf(system).toExtend<ActorSystem>()
  expect(await supervisorClient(system.root!).count()).toEqual({ specs: 0, active: 0, supervisors: 0, workers: 0 })
  await system.shutdown()
})

test('shutdown ends a system with a root without naming a cause', async () => {
  const kit = createTestKit({ root: supervisor({ children: [] }) })
  await kit.settle()
  await kit.end()
  expect(await kit.system.terminated).not.toHaveProperty('cause')
})

test('a root that is no behavior is refused by create', () => {
  expect(() => ActorSystem.create('x', { root: 42 as never })).toThrow(NotABehavior)
})
