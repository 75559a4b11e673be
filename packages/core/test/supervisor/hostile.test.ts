// What a supervisor is told that makes no sense: it refuses, or counts it as not understood; its children never notice.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, child, receive, same, supervisor, supervisorClient } from '@troupe/core'

const idle = () => receive<string>(() => same)
const nobody = { tell: () => {} }
const thrower = {
  tell: () => {
    throw new Error('no such address')
  },
}

async function rig() {
  const kit = createTestKit()
  const sup = kit.system.spawn(supervisor({ children: [child('a', idle()), child('b', idle())] }), { name: 'sup' })
  await kit.settle()
  const b = kit.system.find('/user/sup/b') as ActorRef<string>
  const works = async (): Promise<void> => {
    await kit.advance(20_000)
    expect(kit.system.phaseOf(b)).toBe('running')
    const stopped = supervisorClient(sup)
      .stopChild('b')
      .then(() => 'stopped', String)
    await kit.advance(10_000)
    expect(await stopped).toBe('stopped')
    expect(kit.logs.filter((l) => l.message.includes('broke'))).toEqual([])
    await kit.end()
  }
  return { kit, sup, works }
}

const nonsense: Record<string, unknown> = {
  null: null,
  'a number': 0,
  'a symbol': Symbol('s'),
  'an empty object': {},
  'an unknown type': { type: 'bogus' },
}
describe('what is no request counts as unhandled', () => {
  for (const [name, message] of Object.entries(nonsense))
    test(name, async () => {
      const { kit, sup, works } = await rig()
      sup.tell(message as never)
      await kit.settle()
      expect((await kit.checkLedger()).unhandled).toBe(1)
      await works()
    })
})

describe('a request whose answer has no way to go is carried out all the same', () => {
  const addresses: Record<string, unknown> = { 'no replyTo': undefined, 'a null replyTo': null, 'a replyTo that throws': thrower }
  for (const [name, replyTo] of Object.entries(addresses)) {
    for (const type of ['stop-child', 'restart-child', 'delete-child', 'find-child', 'children', 'count'])
      test(`${type} with ${name}`, async () => {
        const { sup, works } = await rig()
        sup.tell({ type, child: 'a', replyTo } as never)
        await works()
      })
    test(`start-child with ${name}`, async () => {
      const { kit, sup, works } = await rig()
      sup.tell({ type: 'start-child', child: child('c', idle()), replyTo } as never)
      await kit.settle()
      expect(kit.system.find('/user/sup/c')).toBeDefined()
      if (replyTo === thrower) kit.expectLog('could not be delivered')
      else expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['no-recipient'])
      await works()
    })
  }
})

describe('a child that is none is refused', () => {
  for (const type of ['stop-child', 'restart-child', 'delete-child', 'find-child'])
    for (const key of [null, undefined, 7, true, {}, nobody])
      test(`${type} of ${JSON.stringify(key)}`, async () => {
        const { kit, sup, works } = await rig()
        const probe = kit.probe<{ ok: boolean; reason: string }>()
        sup.tell({ type, child: key, replyTo: probe.ref } as never)
        await kit.settle()
        expect(await probe.next()).toMatchObject({ ok: false, reason: 'not-found' })
        await works()
      })
  for (const spec of [null, undefined, 7, {}, { behavior: null }, { name: 'c', behavior: idle() }])
    test(`start-child of ${JSON.stringify(spec)}`, async () => {
      const { kit, sup, works } = await rig()
      const probe = kit.probe<{ ok: boolean; reason: string }>()
      sup.tell({ type: 'start-child', child: spec, replyTo: probe.ref } as never)
      await kit.settle()
      expect(await probe.next()).toMatchObject({ ok: false, reason: 'invalid' })
      await works()
    })
  test('declared', () => {
    expect(() => supervisor({ children: [{ name: 'c', behavior: idle() } as never] })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })
})

describe('a request that throws when it is read counts as unhandled', () => {
  const throwing = (): never => {
    throw new Error('do not look')
  }
  const illegible: Record<string, object> = {
    'its child': Object.defineProperty({}, 'child', { get: throwing }),
    'the name of its child': { child: Object.defineProperty({}, 'name', { get: throwing }) },
    'everything of its child': { child: new Proxy({}, { get: throwing, has: throwing }) },
    'the behavior of its child': { child: Object.defineProperty({ name: 'c', needs: [], spawn: {} }, 'behavior', { get: throwing }) },
    'its replyTo': Object.defineProperty({ child: 'a' }, 'replyTo', { get: throwing }),
  }
  for (const type of ['start-child', 'stop-child', 'restart-child', 'delete-child', 'find-child'])
    for (const [name, request] of Object.entries(illegible))
      test(`${type}, ${name}`, async () => {
        const { kit, sup, works } = await rig()
        sup.tell(Object.defineProperties({ type }, Object.getOwnPropertyDescriptors(request)) as never)
        await kit.settle()
        expect(await kit.checkLedger()).toMatchObject({ unhandled: 1, failed: 0 })
        await works()
      })
})
