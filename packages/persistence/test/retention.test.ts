// Deleting events: P13. What is gone was stood for by a snapshot that was compared; numbers go on.

import type { ActorRef } from '@troupe/core'
import { EventSourced, eventSourced, type Journal, type Kind, memory, takeSnapshot, trimEvents } from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { environment } from './contract/stage.ts'
import { kitWith } from './counter.ts'

type Counter = { type: 'add'; by: number; replyTo: ActorRef<number> } | { type: 'remind' } | { type: 'get'; replyTo: ActorRef<number> }

interface More {
  keepEvents?: number
  snapshotEvery?: number
  version?: number
  twist?: number
  upcastState?: (stored: { version: number; state: unknown }) => unknown
}
const counting = (more: More): Kind<Counter> =>
  eventSourced('counter', {
    initial: () => 0,
    events: { added: (n, e: { by: number }) => n + e.by * (more.twist ?? 1) },
    commands: {
      add(ctx, m) {
        ctx.persist({ type: 'added', by: m.by })
        ctx.tell(m.replyTo, ctx.state)
      },
      remind: (ctx) => ctx.timers.once('x', 1e6, { type: 'remind' }),
      get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    },
    snapshotEvery: more.snapshotEvery ?? 0,
    version: more.version,
    keepEvents: more.keepEvents,
    upcastState: more.upcastState,
  })

const settled = async <T>(kit: TestKit, promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined)
  await kit.settle()
  return promise
}
async function add(kit: TestKit, ref: ActorRef<Counter>, times: number): Promise<number> {
  let last = 0
  for (let i = 0; i < times; i++) last = await settled(kit, ref.ask({ type: 'add', by: 1 }))
  return last
}
const refused = (why: RegExp): object => ({ code: 'retention-refused', id: 'counter/a', message: expect.stringMatching(why) as string })

describe('trimEvents', () => {
  test('deletes what a snapshot stands for, while the actor runs; the state and the numbers go on', async () => {
    const source = memory()
    const kit = kitWith(source)
    const kind = counting({})
    const ref = kit.system.spawn(kind('a'))
    await add(kit, ref, 5)
    ref.tell({ type: 'remind' })
    await kit.settle()
    expect(await settled(kit, takeSnapshot(kit.system, kind, 'a'))).toBe(6)
    await add(kit, ref, 4)
    expect(await settled(kit, trimEvents(kit.system, kind, 'a', { upTo: 6 }))).toBe(6)
    expect(source.eventsOf('counter/a')).toHaveLength(4)
    kit.system.restart(ref)
    expect(await add(kit, ref, 1)).toBe(10)
    const journal = await source.open(environment)
    expect((await journal.heads(['counter/a']))[0]).toMatchObject({ seq: 11, deleted: 6 })
    // All of it, and then on: the high-water mark is not that of the events that are there.
    expect(await settled(kit, takeSnapshot(kit.system, kind, 'a'))).toBe(11)
    expect(await settled(kit, trimEvents(kit.system, kind, 'a', { upTo: 11 }))).toBe(11)
    expect(source.eventsOf('counter/a')).toEqual([])
    kit.system.restart(ref)
    expect(await add(kit, ref, 1)).toBe(11)
    expect((await journal.heads(['counter/a']))[0]).toMatchObject({ seq: 12, deleted: 11 })
    expect(await journal.due(Number.MAX_VALUE, 5)).toHaveLength(1)
    await kit.end()
  })

  test('where events are gone, a higher version reads what a snapshot of before stands for, by upcastState; otherwise the error says that', async () => {
    const source = memory()
    const kit = kitWith(source)
    const first = counting({})
    const ref = kit.system.spawn(first('a'))
    await add(kit, ref, 5)
    await settled(kit, takeSnapshot(kit.system, first, 'a'))
    await settled(kit, trimEvents(kit.system, first, 'a', { upTo: 5 }))
    await add(kit, ref, 2)
    await kit.end()

    const start = async (kind: Kind<Counter>): Promise<unknown> => {
      const other = kitWith(source)
      const asked = other.system.spawn(kind('a')).ask({ type: 'get' })
      const said = await settled(other, asked).catch((cause: Error) => cause.message)
      await other.end()
      return said
    }
    expect(await start(counting({ version: 2 }))).toMatch(/there is one of version 1: say by upcastState/)
    const asked: unknown[] = []
    const upcastState = (stored: { version: number; state: unknown }): number => {
      asked.push(stored)
      return (stored.state as number) * 100
    }
    expect(await start(counting({ version: 2, upcastState }))).toBe(502)
    expect(asked).toEqual([{ version: 1, state: 5 }])
    expect(await start(counting({ version: 2, upcastState: () => Promise.resolve(5) }))).toMatch(/upcastState from version 1 failed/)
    expect(await start(counting({ version: 1 }))).toBe(7)

    // All events are there: they are replayed, and no snapshot of before is asked for.
    const whole = memory()
    const third = kitWith(whole)
    await add(third, third.system.spawn(counting({ snapshotEvery: 2 })('a')), 5)
    await third.end()
    const last = kitWith(whole)
    const got = last.system.spawn(counting({ version: 2, upcastState })('a')).ask({ type: 'get' })
    expect([await settled(last, got), asked]).toEqual([5, [{ version: 1, state: 5 }]])
    await last.end()
  })

  test('refuses without a snapshot, beyond it, and past one of another version', async () => {
    const source = memory()
    const kit = kitWith(source)
    const kind = counting({})
    const ref = kit.system.spawn(kind('a'))
    await add(kit, ref, 4)
    await expect(settled(kit, trimEvents(kit.system, kind, 'a', { upTo: 2 }))).rejects.toMatchObject(refused(/has no snapshot of version 1/))
    await settled(kit, takeSnapshot(kit.system, kind, 'a'))
    await add(kit, ref, 1)
    await expect(settled(kit, trimEvents(kit.system, kind, 'a', { upTo: 5 }))).rejects.toMatchObject(refused(/up to 4, and not up to 5/))
    await expect(settled(kit, trimEvents(kit.system, counting({ version: 2 }), 'a', { upTo: 4 }))).rejects.toMatchObject(
      refused(/has no snapshot of version 2/),
    )
    // Nothing to stand on but one snapshot: nothing is deleted unless that is asked for.
    expect(await settled(kit, trimEvents(kit.system, kind, 'a'))).toBe(0)
    expect(source.eventsOf('counter/a')).toHaveLength(5)
    await kit.end()
  })

  test('refuses past a snapshot that is not what the events make, cannot be read, or whose events cannot be', async () => {
    const owner = { scope: 'default', epoch: 1 }
    const trial = async (spoil: (journal: Journal) => Promise<unknown>, kind = counting({})): Promise<unknown> => {
      const source = memory()
      const kit = kitWith(source)
      const ref = kit.system.spawn(counting({})('a'))
      await add(kit, ref, 4)
      const journal = await source.open(environment)
      await settled(kit, takeSnapshot(kit.system, counting({}), 'a'))
      await spoil(journal)
      const failed = await settled(
        kit,
        trimEvents(kit.system, kind, 'a', { upTo: 3 }).catch((cause: unknown) => cause),
      )
      expect(source.eventsOf('counter/a')).toHaveLength(4)
      await kit.end()
      return failed
    }
    const snapshot = { id: 'counter/a', seq: 4, version: 1, time: 0, ...owner }
    expect(await trial((journal) => journal.saveSnapshot({ ...snapshot, data: '{"state":5}' }))).toMatchObject(refused(/is not what its events make/))
    expect(await trial((journal) => journal.saveSnapshot({ ...snapshot, data: '{' }))).toMatchObject(refused(/cannot be read/))
    expect(await trial(() => Promise.resolve(), counting({ twist: 2 }))).toMatchObject(refused(/is not what its events make/))
  })

  test('does it for classes, and refuses what is neither, and events with subjects', async () => {
    class Cart extends EventSourced<number, { type: 'added' }> {
      static readonly persistence = { kind: 'cart' }
      protected initial(): number {
        return 0
      }
      protected apply(n: number): number {
        return n + 1
      }
      add(): number {
        this.persist({ type: 'added' })
        return this.state
      }
    }
    const source = memory()
    const kit = kitWith(source)
    const cart = kit.system.spawn(Cart, { args: ['1'] })
    for (let i = 0; i < 3; i++) await settled(kit, cart.ask.add())
    expect(await settled(kit, takeSnapshot(kit.system, Cart as never, '1'))).toBe(3)
    expect(await settled(kit, trimEvents(kit.system, Cart as never, '1', { upTo: 3 }))).toBe(3)
    kit.system.restart(cart)
    expect(await settled(kit, cart.ask.add())).toBe(4)
    await expect(trimEvents(kit.system, (() => undefined) as never, '1')).rejects.toMatchObject({ code: 'invalid-option' })
    const personal: Kind<{ type: 'x' }> = eventSourced('personal', {
      initial: () => 0,
      events: { x: (n) => n + 1 },
      commands: { x: (ctx) => ctx.persist({ type: 'x' }) },
      subject: () => 'anna',
    })
    await expect(trimEvents(kit.system, personal as never, '1')).rejects.toMatchObject({ code: 'retention-refused' })
    expect(() => eventSourced('x', { initial: () => 0, events: {}, commands: {}, subject: () => 'a', keepEvents: 1 })).toThrow(/all kept/)
    await kit.end()
  })
})

test('keepEvents: events before the last snapshot but one go by themselves, once both were compared; some stay if that is said', async () => {
  const source = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(counting({ snapshotEvery: 5, keepEvents: 0 })('a'))
  await add(kit, ref, 9)
  expect(source.eventsOf('counter/a')).toHaveLength(9)
  await add(kit, ref, 4)
  const journal = await source.open(environment)
  expect((await journal.heads(['counter/a']))[0]).toMatchObject({ seq: 13, deleted: 5, snapshot: { seq: 10 } })
  kit.system.restart(ref)
  expect(await add(kit, ref, 10)).toBe(23)
  expect((await journal.heads(['counter/a']))[0]).toMatchObject({ seq: 23, deleted: 15, snapshot: { seq: 20 } })
  const other = kit.system.spawn(counting({ snapshotEvery: 5, keepEvents: 8 })('b'))
  await add(kit, other, 22)
  expect((await journal.heads(['counter/b']))[0]).toMatchObject({ deleted: 12, snapshot: { seq: 20 } })
  expect((await journal.verify()).damages).toEqual([])
  await kit.end()
})
