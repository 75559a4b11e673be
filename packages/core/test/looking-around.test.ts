// Small things that users reach for: the top of the tree, the event stream from inside an actor, look-ups by path.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { Actor, type ActorRef, type ChildStopped, ignore, receive, same, setup, stopped } from '@troupe/core'

test('system.children are the actors at the top that have not ended, oldest first', async () => {
  const kit = createTestKit()
  expect(kit.system.children).toEqual([])
  const a = kit.system.spawn(ignore, { name: 'a' })
  const b = kit.system.spawn(ignore)
  const c = kit.system.spawn(ignore)
  expect(kit.system.children).toEqual([a, b, c])
  b.stop()
  await kit.settle()
  expect(kit.system.children).toEqual([a, c])
  await kit.end()
})

test('an actor publishes and subscribes through ctx.system.events', async () => {
  const kit = createTestKit()
  const heard: object[] = []
  kit.system.spawn(
    setup<object>((ctx) => {
      ctx.system.events.subscribe(ctx.self, 'order.placed')
      return receive((_c, e) => {
        heard.push(e)
        return same
      })
    }),
  )
  await kit.settle()
  kit.system
    .spawn(
      receive<number>((ctx, id) => {
        ctx.system.events.publish({ type: 'order.placed', id })
        return same
      }),
    )
    .tell(7)
  await kit.settle()
  expect(heard).toEqual([{ type: 'order.placed', id: 7 }])
  await kit.end()
})

test('a class hears of the end of a child in onChildStopped', async () => {
  const heard: ChildStopped[] = []
  class Parent extends Actor {
    grow(): string {
      const child = this.ctx.spawn(
        receive<string>(() => stopped),
        { name: 'child' },
      )
      child.tell('go')
      return child.path
    }
    override onChildStopped(signal: ChildStopped): void {
      heard.push(signal)
    }
  }
  const kit = createTestKit()
  const parent = kit.system.spawn(Parent, { name: 'parent' })
  const asked = parent.ask.grow()
  await kit.settle()
  expect(await asked).toBe('/user/parent/child')
  expect(heard).toMatchObject([{ type: 'ChildStopped', reason: 'normal' }])
  expect(heard[0]!.child.path).toBe('/user/parent/child')
  await kit.end()
})

test('actors without a name are found by their path while they live, those born and gone since the first look-up too', async () => {
  const kit = createTestKit()
  const refs: ActorRef<never>[] = []
  const parent = kit.system.spawn(
    receive<'more'>((ctx) => {
      for (let i = 0; i < 3; i++) refs.push(ctx.spawn(ignore))
      return same
    }),
    { name: 'p' },
  )
  parent.tell('more')
  await kit.settle()
  expect(refs.map((r) => kit.system.find(r.path))).toEqual(refs)
  parent.tell('more')
  refs[1]!.stop()
  await kit.settle()
  expect(kit.system.find(refs[1]!.path)).toBeUndefined()
  expect(refs.filter((_, i) => i !== 1).every((r) => kit.system.find(r.path) === r)).toBe(true)
  expect(kit.system.find('/user/p/$0')).toBeUndefined()
  await kit.end()
})
