// Fatal errors of supervised children are counted, whatever kind of child it is and whenever it fails.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { ActorError, type ActorRef, type Behavior, child, receive, same, setup, supervisor, supervisorClient } from '@troupe/core'
import { gate } from '../keeper.ts'

const fatal = (): ActorError => new ActorError('no disk', { kind: 'fatal' })

const fails: Behavior<unknown> = receive<unknown>((_c, cause) => {
  throw cause
})
const neverStarts: Behavior<unknown> = setup<unknown>(() => {
  throw fatal()
})

describe('fatalStops counts', () => {
  test.each(['permanent', 'transient', 'temporary'] as const)('a %s child, once', async (restart) => {
    const kit = createTestKit()
    kit.system.spawn(supervisor({ children: [child('a', fails, { restart }), child('b', fails)] }), { name: 'sup', supervision: 'stop' })
    await kit.settle()
    ;(kit.system.find('/user/sup/a') as ActorRef<unknown>).tell(fatal())
    await kit.advance(1000)
    expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 1, restarts: 0, limitsHit: 0 })
    expect(kit.system.find('/user/sup/a')).toBeUndefined()
    await kit.end()
  })

  test('a declared child whose first start fails so', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(supervisor({ children: [child('a', fails), child('b', neverStarts)] }), { supervision: 'stop' })
    await expect(kit.advance(100).then(() => kit.system.started(ref))).rejects.toMatchObject({ code: 'actor-initialization' })
    expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 1, restarts: 0 })
    await kit.end()
  })

  test('a child started at run time whose first start fails so', async () => {
    const kit = createTestKit()
    const client = supervisorClient(kit.system.spawn(supervisor({ children: [] })))
    const started = client.startChild(child('late', neverStarts)).catch((cause: unknown) => cause)
    await kit.advance(100)
    expect(await started).toMatchObject({ code: 'child-refused' })
    expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 1, restarts: 0 })
    await kit.end()
  })

  test('nothing that is not fatal', async () => {
    const kit = createTestKit()
    kit.system.spawn(supervisor({ children: [child('a', fails, { restart: 'temporary' })] }), { name: 'sup', supervision: 'stop' })
    await kit.settle()
    ;(kit.system.find('/user/sup/a') as ActorRef<unknown>).tell(new ActorError('x', { kind: 'permanent' }))
    await kit.advance(1000)
    expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 0, restarts: 0 })
    await kit.end()
  })
})

test('a child that fails so while the restart of another is to take it along is not restarted either', async () => {
  const kit = createTestKit()
  const held = gate()
  const slow = receive<string>(async () => {
    await held.promise
    throw fatal()
  })
  const stops = receive<string>(
    () => same,
    (_c, s) =>
      s.type === 'PreRestart' ? new Promise((resolve) => void kit.system.sendAfter({ tell: () => resolve(same) } as never, 50, 0 as never)) : same,
  )
  const ref = kit.system.spawn(supervisor({ strategy: 'all-for-one', children: [child('a', fails), child('slow', slow), child('stops', stops)] }), {
    name: 'sup',
    supervision: 'stop',
  })
  await kit.settle()
  ;(kit.system.find('/user/sup/slow') as ActorRef<string>).tell('go')
  await kit.settle()
  ;(kit.system.find('/user/sup/a') as ActorRef<unknown>).tell(new Error('plain'))
  await kit.settle()
  held.open()
  await kit.advance(1000)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect((await kit.system.whenTerminated(ref)).cause).toMatchObject({ code: 'child-unrecoverable' })
  expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 1 })
  await kit.end()
})
