// What the event stream tells of itself: totals, and when a subscriber begins to lose.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorRef, buffered, type Observation, receive, same } from '@troupe/core'

class Priced {
  readonly n: number
  constructor(n: number) {
    this.n = n
  }
}

const sink = (kit: ReturnType<typeof createTestKit>): ActorRef<unknown> => kit.system.spawn<unknown>(receive(() => same))

test('totals say what was published, delivered, lost and waits, and keep what ended subscriptions had', async () => {
  const kit = createTestKit()
  const ref = sink(kit)
  await kit.settle()
  const events = (): unknown => kit.system.metrics().events
  expect(events()).toEqual({ published: 0, delivered: 0, dropped: 0, waiting: 0 })
  kit.system.events.publish(new Priced(0))
  const small = kit.system.events.subscribe(ref, Priced, { capacity: 4, overflow: 'drop-newest' })
  const heard: number[] = []
  kit.system.events.listen((e) => heard.push((e as Priced).n), Priced)
  for (let n = 1; n <= 10; n++) kit.system.events.publish(new Priced(n))
  // Of ten, two are in the mailbox, two wait in the buffer and six are lost; the listener had them all.
  expect(events()).toEqual({ published: 12, delivered: 12, dropped: 6, waiting: 4 })
  await kit.settle()
  expect(events()).toMatchObject({ delivered: 14, dropped: 6, waiting: 0 })
  small.cancel()
  expect(events()).toMatchObject({ delivered: 14, dropped: 6 })
  await kit.end()
})

test('a subscriber that begins to lose is told of once, and once more when half of what it may keep waiting is free again', async () => {
  const kit = createTestKit()
  const ref = sink(kit)
  await kit.settle()
  const told = buffered<Extract<Observation, { type: 'events.backpressured' }>>(100)
  told.attach(kit.system.events, 'events.backpressured')
  kit.system.events.subscribe(ref, Priced, { capacity: 4 })
  for (let n = 0; n < 4; n++) kit.system.events.publish(new Priced(n))
  expect(told.drain()).toEqual([])
  for (let n = 0; n < 4; n++) kit.system.events.publish(new Priced(n))
  expect(told.drain()).toEqual([{ type: 'events.backpressured', ref, level: 'high', waiting: 4, dropped: 1, at: 0 }])
  await kit.settle()
  expect(told.drain()).toEqual([{ type: 'events.backpressured', ref, level: 'low', waiting: 2, dropped: 4, at: 0 }])
  await kit.settle()
  for (let n = 0; n < 5; n++) kit.system.events.publish(new Priced(n))
  expect(told.drain().map((o) => o.level)).toEqual(['high'])
  await kit.end()
})

test('a subscriber of everything, with room for one event, is not kept busy by what is told of itself', async () => {
  const kit = createTestKit()
  let handled = 0
  const ref = kit.system.spawn<unknown>(
    receive(() => {
      handled++
      return same
    }),
  )
  await kit.settle()
  kit.system.events.subscribe(ref, () => true, { capacity: 1 })
  for (let n = 0; n < 100; n++) kit.system.events.publish(new Priced(n))
  await kit.settle()
  expect(handled).toBeLessThan(10)
  await kit.end()
})
