import { createTestKit } from '@troupe/testkit'
import { expect, expectTypeOf, test } from 'vitest'
import {
  type ActorRef,
  ForeignRef,
  group,
  ignore,
  type Listing,
  receive,
  receptionistOf,
  same,
  serviceKey,
  setup,
  stopped,
  SystemClosed,
} from '@troupe/core'

type Ping = { type: 'ping' }
const key = serviceKey<Ping>('pingers')
const leaver = receive<Ping>(() => stopped)
const relays = serviceKey<never>('relays')

test('an actor is found by its key, typed, in order of registration', async () => {
  const kit = createTestKit()
  const desk = receptionistOf(kit.system)
  expect(desk.find(key)).toEqual([])
  const refs = [1, 2, 3].map(() => kit.system.spawn(leaver))
  for (const ref of refs) desk.register(key, ref)
  expect(desk.find(key)).toEqual(refs)
  expect(desk.find(serviceKey<Ping>('pingers'))).toEqual(refs)
  expectTypeOf(desk.find(key)).toEqualTypeOf<readonly ActorRef<Ping>[]>()
  // @ts-expect-error an actor of another protocol cannot stand under this key
  desk.register(key, kit.system.spawn(receive<number>(() => same)))
  await kit.end()
})

test('50. receptionist and event stream forget an actor that stopped before its watchers run', async () => {
  const kit = createTestKit()
  const desk = receptionistOf(kit.system)
  const ref = kit.system.spawn(leaver)
  desk.register(key, ref)
  const subscription = kit.system.events.subscribe(ref, 'x')
  let seen: unknown[] = []
  kit.system.spawn<never>(
    receive(
      () => same,
      (ctx, signal) => {
        if (signal.type === 'PreStart') ctx.watch(ref)
        if (signal.type === 'Terminated') seen = [desk.find(key).length, subscription.active]
        return same
      },
    ),
  )
  await kit.settle()
  ref.tell({ type: 'ping' })
  await kit.settle()
  expect(seen).toEqual([0, false])
  await kit.end()
})

test('a subscriber gets the listing at once and after every change, and none after it stopped', async () => {
  const kit = createTestKit()
  const desk = receptionistOf(kit.system)
  const probe = kit.probe<Listing<Ping>>()
  const [a, b] = [kit.system.spawn(leaver), kit.system.spawn(leaver)]
  const leave = desk.register(key, a)
  desk.subscribe(key, probe.ref)
  desk.register(key, b)
  leave()
  leave()
  await kit.settle()
  b.tell({ type: 'ping' })
  await kit.settle()
  expect(probe.messages.map((l) => l.refs)).toEqual([[a], [a, b], [b], []])
  probe.ref.stop()
  await kit.settle()
  desk.register(key, kit.system.spawn(leaver))
  await kit.settle()
  expect(kit.system.deadLetters.count).toBe(0)
  await kit.end()
})

test('registering twice is one registration; a dead actor is not registered', async () => {
  const kit = createTestKit()
  const desk = receptionistOf(kit.system)
  const ref = kit.system.spawn(leaver)
  desk.register(key, ref)
  desk.register(key, ref)
  expect(desk.find(key)).toHaveLength(1)
  ref.stop()
  await kit.settle()
  desk.register(key, ref)
  expect(desk.find(key)).toEqual([])
  await kit.end()
})

test('a foreign ref is refused, and so is everything on a closing system', async () => {
  const kit = createTestKit()
  const other = createTestKit()
  const desk = receptionistOf(kit.system)
  const foreign = other.system.spawn(ignore)
  expect(() => desk.register(key, foreign)).toThrow(ForeignRef)
  const ref = kit.system.spawn(ignore)
  await kit.end()
  expect(() => desk.register(key, ref)).toThrow(SystemClosed)
  expect(() => desk.subscribe(key, ref)).toThrow(SystemClosed)
  await other.end()
})

test('an adapter of an earlier incarnation is forgotten: a group that restarted gets one listing, and no dead letter', async () => {
  const kit = createTestKit()
  const desk = receptionistOf(kit.system)
  const router = kit.system.spawn(group(key))
  const adapted: ActorRef<never>[] = []
  const registrar = kit.system.spawn(
    setup((ctx) => {
      const mine = ctx.adapt((m: never) => m)
      adapted.push(mine)
      desk.register(relays, mine)
      return ignore
    }),
  )
  for (let i = 0; i < 3; i++) {
    await kit.settle()
    kit.system.restart(router)
    kit.system.restart(registrar)
  }
  await kit.advance(5000)
  desk.register(key, kit.system.spawn(leaver))
  await kit.settle()
  expect(kit.system.deadLetters.count).toBe(0)
  expect(desk.find(relays)).toEqual([adapted.at(-1)])
  await kit.end()
})
