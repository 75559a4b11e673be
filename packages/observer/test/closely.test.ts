// One actor looked at closely: who sends to it, how long its messages wait and take, what it was given; how old the oldest is.

import { type ActorRef, delay, receive, same } from '@troupe/core'
import { coreOf, fuse } from '@troupe/core/internal'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { Ages } from '../src/server/ages.ts'
import { ObservationSource } from '../src/source/source.ts'
import type { SeenActor } from '../src/survey/picture.ts'

const sourceOf = (kit: TestKit): ObservationSource => new ObservationSource(kit.system, { every: 1000, mute: [] })

test('it is known who sends to it, to whom it sends, how long messages wait and take, and what it was given; then it is as it was', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const sink = kit.system.spawn(
    receive<{ type: string }>(() => same),
    { name: 'sink' },
  )
  const slow = kit.system.spawn(
    receive<{ type: string }>(async (_ctx, { type }) => {
      sink.tell({ type: `${type} done` })
      await delay(20, { clock: kit.system.clock })
      return same
    }),
    { name: 'slow' },
  )
  const feeder = kit.system.spawn(
    receive<number>((_ctx, n) => {
      for (let i = 0; i < n; i++) slow.tell({ type: 'work' })
      return same
    }),
    { name: 'feeder' },
  )
  await kit.settle()
  const cell = coreOf(kit.system).mine(slow, 'look')
  const { options } = cell
  const closely = source.lookClosely('/user/slow')!
  await kit.settle()
  feeder.tell(5)
  await kit.advance(3000)
  const { seen } = closely
  expect(seen.senders).toMatchObject([{ who: feeder.uid, type: 'work' }])
  expect(seen.receivers.map(({ who, type }) => [who, type])).toEqual([[sink.uid, 'work done']])
  // Each waits for those before it: 0, 20, 40, 60 and 80 ms.
  expect(seen.queueTime.report()).toMatchObject({ count: 5, max: 80 })
  expect(seen.handlerTime.report()).toMatchObject({ count: 5, max: 20 })
  expect(seen.last.map(({ what, type }) => `${what} ${type}`)).toEqual(Array.from({ length: 5 }, () => 'message work'))
  closely.end()
  expect(cell.options).toBe(options)
  expect(fuse.sampler).toBeUndefined()
  expect(source.onlookers).toBe(0)
  expect(source.lookClosely('/user/nobody')).toBeUndefined()
  const report = await kit.checkLedger()
  expect(report.sent).toBeGreaterThan(0)
})

test('what one tells of an actor is at hand without a walk below it: timers, watchers, whom it watches, what it takes next', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const other = kit.system.spawn(
    receive<unknown>(() => same),
    { name: 'other' },
  )
  const it: ActorRef<{ type: string }> = kit.system.spawn(
    receive<{ type: string }>((ctx, { type }) => {
      if (type !== 'begin') return new Promise<never>(() => {})
      ctx.timers.every('beat', 500, { type: 'tick' })
      ctx.timers.once('end', 9000, { type: 'over' })
      ctx.watch(other)
      ctx.spawn(
        receive<unknown>(() => same),
        { name: 'child' },
      )
      return same
    }),
    { name: 'it' },
  )
  kit.system
    .spawn(
      receive<unknown>((ctx) => {
        ctx.watch(it)
        return same
      }),
      { name: 'watcher' },
    )
    .tell(1)
  it.tell({ type: 'begin' })
  await kit.settle()
  it.tell({ type: 'never' })
  await kit.settle()
  it.tell({ type: 'behind it' })
  it.tell({ type: 'last' })
  const detail = (await source.inspect('/user/it'))!
  expect(detail.timers).toBe(2)
  expect(detail.timersSet.map(({ key, every, type }) => ({ key, every, type }))).toEqual([
    { key: 'beat', every: 500, type: 'tick' },
    { key: 'end', every: undefined, type: 'over' },
  ])
  expect(detail.timersSet.every(({ due }, i) => due >= 0 && due <= [500, 9000][i]!)).toBe(true)
  expect(detail).toMatchObject({ watchers: 1, watchedBy: ['/user/watcher'], watching: ['/user/other'], childCount: 1, nextType: 'behind it' })
  expect(detail.children).toMatchObject([{ path: '/user/it/child', phase: 'running' }])
  kit.system.kill(it)
})

test('a label that changes is told as it is now', async () => {
  await using kit = createTestKit()
  const source = sourceOf(kit)
  const it = kit.system.spawn(
    receive<string>((ctx, text) => {
      ctx.label(text)
      return same
    }),
    { name: 'it' },
  )
  it.tell('first')
  await kit.settle()
  const names = await source.names([it.uid])
  it.tell('second')
  await kit.settle()
  expect(names.get(it.uid)!.label).toBe('second')
})

const seen = (processed: number, queued: number): SeenActor => ({ uid: 1, processed, queued }) as SeenActor

test('the oldest message came when as many had come as are handled by now; and it is said when nobody saw it come', () => {
  const ages = new Ages()
  ages.take(seen(0, 10), 1000, true)
  ages.take(seen(5, 20), 2000, true)
  expect(ages.oldest(seen(5, 20), 2500)).toEqual({ ms: 1500, atLeast: false })
  ages.take(seen(12, 30), 3000, true)
  expect(ages.oldest(seen(12, 30), 3500)).toEqual({ ms: 1500, atLeast: false })
  ages.take(seen(42, 0), 4000, true)
  expect(ages.oldest(seen(42, 0), 4000)).toBeUndefined()
  const late = new Ages()
  late.take(seen(0, 10), 1000, false)
  expect(late.oldest(seen(0, 10), 3000)).toEqual({ ms: 2000, atLeast: true })
  // However long it goes on, what is kept of it is bounded, and the answer is about right.
  for (let i = 1; i <= 5000; i++) late.take(seen(0, 10 + i), 1000 + i * 1000, false)
  expect(late.oldest(seen(0, 5010), 5_001_000)!.ms).toBe(5_000_000)
})
