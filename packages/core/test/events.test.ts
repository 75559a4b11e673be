import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorRef,
  bounded,
  buffered,
  eventsOf,
  immediate,
  InvalidOption,
  NotAllowed,
  type Observation,
  receive,
  same,
  setup,
  stopped,
  type Subscription,
  SystemClosed,
  unhandled,
} from '@troupe/core'

class Price {
  readonly amount: number
  constructor(amount: number) {
    this.amount = amount
  }
}
class Discount extends Price {}
type Tick = { type: 'tick'; n: number }
const tick = (n: number): Tick => ({ type: 'tick', n })

test('events come by class, by type tag or by predicate, in order of publication', async () => {
  const kit = createTestKit()
  const byClass = kit.probe<Price>()
  const byTag = kit.probe<Tick>()
  const byPredicate = kit.probe<Tick>()
  const { events } = kit.system
  events.subscribe(byClass.ref, Price)
  events.subscribe(byTag.ref, 'tick')
  events.subscribe(byPredicate.ref, (e): e is Tick => (e as Tick).type === 'tick' && (e as Tick).n > 1)
  events.publish(new Price(1))
  events.publish(tick(1))
  events.publish(new Discount(2))
  events.publish(tick(2))
  await kit.settle()
  expect(byClass.messages.map((p) => p.amount)).toEqual([1, 2])
  expect(byTag.messages).toEqual([tick(1), tick(2)])
  expect(byPredicate.messages).toEqual([tick(2)])
  await kit.end()
})

test('a subscription ends with its actor, and with the system', async () => {
  const kit = createTestKit()
  const a = kit.probe<Tick>()
  const b = kit.probe<Tick>()
  const first = kit.system.events.subscribe(a.ref, 'tick')
  const second = kit.system.events.subscribe(b.ref, 'tick')
  a.ref.stop()
  await kit.settle()
  expect([first.state, second.state]).toEqual(['removed', 'active'])
  kit.system.events.publish(tick(1))
  await kit.settle()
  expect(kit.system.deadLetters.count).toBe(0)
  await kit.end()
  expect(second.state).toBe('removed')
})

test('a subscription cancelled during a publication gets nothing more and is removed when that is over', async () => {
  const kit = createTestKit()
  const { events } = kit.system
  const states: string[] = []
  let later: Subscription | undefined
  const heard: object[] = []
  events.listen(() => {
    later!.cancel()
    states.push(later!.state)
  })
  later = events.listen((e) => void heard.push(e))
  expect(later.state).toBe('active')
  events.publish(tick(1))
  expect(states).toEqual(['pending-removal'])
  expect(later.state).toBe('removed')
  expect(heard).toEqual([])
  await kit.end()
})

test('a subscription that is cancelled delivers nothing of what it had buffered', async () => {
  const kit = createTestKit()
  const probe = kit.probe<Tick>()
  const subscription = kit.system.events.subscribe(probe.ref, 'tick', { capacity: 4 })
  await kit.settle()
  kit.system.suspend(probe.ref, 'so that events wait')
  await kit.settle()
  for (let n = 1; n <= 4; n++) kit.system.events.publish(tick(n))
  expect(subscription.waiting).toBe(4)
  subscription.cancel()
  kit.system.resume(probe.ref)
  await kit.settle()
  // Half of what may wait is in the mailbox, and a mailbox gives nothing back.
  expect(probe.messages).toEqual([tick(1), tick(2)])
  expect([subscription.waiting, subscription.delivered]).toEqual([0, 2])
  await kit.end()
})

test('subscribing on a closing system is refused', async () => {
  const kit = createTestKit()
  const probe = kit.probe<Tick>()
  await kit.end()
  expect(() => kit.system.events.subscribe(probe.ref, 'tick')).toThrow(SystemClosed)
  expect(() => buffered(1).attach(kit.system.events)).toThrow(SystemClosed)
  expect(() => eventsOf(kit.system.events)).toThrow(SystemClosed)
})

test('subscribing a dead actor gives a subscription that has ended', async () => {
  const kit = createTestKit()
  const probe = kit.probe<Tick>()
  probe.ref.stop()
  await kit.settle()
  expect(kit.system.events.subscribe(probe.ref, 'tick').state).toBe('removed')
  await kit.end()
})

describe('51. a slow subscriber loses by its own policy, and slows no one', () => {
  const slowAndFast = async (overflow: 'drop-oldest' | 'drop-newest') => {
    const kit = createTestKit()
    const slow = kit.probe<Tick>()
    const fast = kit.probe<Tick>()
    const slowly = kit.system.events.subscribe(slow.ref, 'tick', { capacity: 10, overflow })
    kit.system.events.subscribe(fast.ref, 'tick')
    await kit.settle()
    kit.system.suspend(slow.ref, 'to be slow')
    await kit.settle()
    for (let n = 1; n <= 100; n++) kit.system.events.publish(tick(n))
    await kit.settle()
    expect(fast.messages).toHaveLength(100)
    expect(slowly.waiting).toBe(10)
    expect(slowly.dropped).toBe(90)
    expect((await kit.system.inspect(slow.ref)).queued).toBeLessThanOrEqual(10)
    kit.system.resume(slow.ref)
    await kit.settle()
    expect(slowly.waiting).toBe(0)
    const got = slow.messages.map((m) => m.n)
    kit.system.events.publish(tick(101))
    await kit.settle()
    expect(slow.messages.at(-1)).toEqual(tick(101))
    await kit.end()
    return got
  }
  test('drop-oldest keeps the latest beside what is already in the mailbox', async () => {
    expect(await slowAndFast('drop-oldest')).toEqual([1, 2, 3, 4, 5, 96, 97, 98, 99, 100])
  })
  test('drop-newest keeps the first', async () => {
    expect(await slowAndFast('drop-newest')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })
  test('a wrong buffer is refused by name', async () => {
    const kit = createTestKit()
    const { ref } = kit.probe<Tick>()
    expect(() => kit.system.events.subscribe(ref, 'tick', { capacity: 0 })).toThrow(InvalidOption)
    expect(() => kit.system.events.subscribe(ref, 'tick', { overflow: 'reject' as never })).toThrow(InvalidOption)
    await kit.end()
  })
})

test('a subscriber to dead letters whose own mailbox is full does not go round in circles', async () => {
  const kit = createTestKit()
  type Dead = Extract<Observation, { type: 'message.dead' }>
  const full = kit.system.spawn<Dead>(
    receive(() => same),
    { mailbox: bounded(1, 'reject') },
  )
  kit.system.events.subscribe(full, 'message.dead')
  const gone = kit.system.spawn(receive<number>(() => same))
  gone.stop()
  await kit.settle()
  kit.system.suspend(full, 'to be full')
  await kit.settle()
  for (let i = 0; i < 5; i++) gone.tell(i)
  const own = kit.system.deadLetters.list().filter((l) => l.recipient === gone)
  expect(own).toHaveLength(5)
  expect(kit.system.deadLetters.count).toBeLessThanOrEqual(10)
  await kit.end()
})

test('a listener that publishes what it listens to hears each event once', async () => {
  const kit = createTestKit()
  let heard = 0
  const subscription = kit.system.events.listen((e) => {
    heard++
    kit.system.events.publish(e)
  }, 'tick')
  kit.system.events.publish(tick(1))
  kit.system.events.publish(tick(2))
  expect(heard).toBe(2)
  expect(subscription.dropped).toBe(2)
  await kit.end()
})

test('a listener that throws is logged and hurts nobody', async () => {
  const kit = createTestKit()
  const heard: object[] = []
  kit.system.events.listen(() => {
    throw new Error('listener')
  })
  kit.system.events.listen((e) => void heard.push(e), 'tick')
  kit.system.events.publish(tick(1))
  expect(heard).toEqual([tick(1)])
  expect(kit.logs.map((l) => l.message)).toContain('an event listener failed')
  await kit.end()
})

describe('events as an AsyncIterable', () => {
  test('come in order, and the loop ends with the system', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const loop = (async () => {
      for await (const { n } of eventsOf<Tick>(kit.system.events, 'tick')) seen.push(n)
    })()
    for (let n = 1; n <= 3; n++) kit.system.events.publish(tick(n))
    await kit.settle()
    kit.system.events.publish(tick(4))
    await kit.end()
    await loop
    expect(seen).toEqual([1, 2, 3, 4])
  })
  test('are bounded by the policy of the loop', async () => {
    const kit = createTestKit()
    const latest = eventsOf<Tick>(kit.system.events, 'tick', { capacity: 2 })
    const first = eventsOf<Tick>(kit.system.events, 'tick', { capacity: 2, overflow: 'drop-newest' })
    for (let n = 1; n <= 5; n++) kit.system.events.publish(tick(n))
    await kit.end()
    const all = async (events: AsyncIterable<Tick>): Promise<number[]> => {
      const seen: number[] = []
      for await (const { n } of events) seen.push(n)
      return seen
    }
    expect(await all(latest)).toEqual([4, 5])
    expect(await all(first)).toEqual([1, 2])
  })
  test('end on abort and when the loop is left, and nothing stays subscribed', async () => {
    const kit = createTestKit()
    const controller = new AbortController()
    const loop = (async () => {
      for await (const _ of eventsOf<Tick>(kit.system.events, 'tick', { signal: controller.signal }));
      return 'ended'
    })()
    await kit.settle()
    controller.abort()
    expect(await loop).toBe('ended')
    const left = eventsOf<Tick>(kit.system.events, 'tick')
    kit.system.events.publish(tick(1))
    for await (const _ of left) break
    expect(kit.system.metrics().subscriptions).toBe(0)
    await kit.end()
  })
  test('are read by one loop only', async () => {
    const kit = createTestKit()
    const events = eventsOf<Tick>(kit.system.events, 'tick')
    const loop = events[Symbol.asyncIterator]()
    expect(() => events[Symbol.asyncIterator]()).toThrow(NotAllowed)
    await loop.return!()
    await kit.end()
  })
})

describe('observation channels', () => {
  test('immediate hears at once, buffered keeps until asked, both count', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const now = immediate((o) => void heard.push(o.type))
    const kept = buffered(2)
    now.attach(kit.system.events)
    kept.attach(kit.system.events)
    const ref: ActorRef<number> = kit.system.spawn(receive<number>(() => same))
    expect(heard).toEqual(['actor.spawned'])
    await kit.settle()
    expect(heard).toEqual(['actor.spawned', 'actor.phase', 'actor.phase'])
    expect(kept.dropped).toBe(1)
    expect(kept.received).toBe(3)
    expect(kept.drain().map((o) => o.type)).toEqual(['actor.phase', 'actor.phase'])
    expect(kept.size).toBe(0)
    now.close()
    ref.stop()
    await kit.settle()
    expect(heard).toHaveLength(3)
    expect(kept.received).toBeGreaterThan(3)
    await kit.end()
  })
  test('timestamps never go back', async () => {
    const kit = createTestKit()
    const channel = buffered(1000)
    channel.attach(kit.system.events)
    const gone = kit.system.spawn<string>(receive(() => same))
    gone.stop()
    await kit.settle()
    const ref = kit.system.spawn<string>(
      receive((_ctx, m) => {
        kit.clock.tick(3)
        gone.tell(m)
        if (m === 'boom') throw new Error('boom')
        return m === 'a' ? unhandled : same
      }),
    )
    for (const m of ['a', 'boom', 'b']) ref.tell(m)
    await kit.advance(100)
    ref.stop()
    await kit.settle()
    ref.tell('late')
    const at = channel.drain().map((o) => o.at)
    expect(at.length).toBeGreaterThan(8)
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    await kit.end()
  })
  test('heard or not, as many observations are there, and the actors fare the same', async () => {
    const live = async (listen: boolean): Promise<object> => {
      const kit = createTestKit()
      let heard = 0
      const before = kit.system.metrics().unheard
      const subscription = listen ? kit.system.events.listen(() => void heard++) : undefined
      const ends: unknown[] = []
      const parent = kit.system.spawn(
        setup<string>((ctx) =>
          receive(
            (_ctx, m) => {
              if (m === 'stop') return stopped
              const child = ctx.spawn(receive<string>((_c, n) => (n === 'end' ? stopped : same)))
              for (const n of m === 'rich' ? ['a', 'end', 'too late'] : ['a', 'end']) child.tell(n)
              return same
            },
            (_ctx, s) => void ends.push(s.type === 'ChildStopped' ? [s.child.uid, s.reason] : s.type),
          ),
        ),
      )
      for (const m of ['plain', 'rich', 'plain', 'stop']) parent.tell(m)
      await kit.settle()
      subscription?.cancel()
      const { unheard, active, terminated } = kit.system.metrics()
      const { sent, handled, deadLettered } = await kit.system.ledger()
      await kit.end()
      return { observations: heard + (listen ? 0 : unheard - before), ends, active, terminated, sent, handled, deadLettered }
    }
    expect(await live(false)).toEqual(await live(true))
  })
  test('without a listener no observation is made, and that is counted', async () => {
    const kit = createTestKit()
    const before = kit.system.metrics().unheard
    kit.system.spawn(receive<number>(() => same))
    await kit.settle()
    expect(kit.system.metrics().unheard - before).toBe(3)
    await kit.end()
  })
})

test('who subscribes during a publication gets the next one: a listener that subscribes anew does not go round for ever', async () => {
  const kit = createTestKit()
  let heard = 0
  const listenOnce = (): void => {
    const subscription = kit.system.events.listen(() => {
      subscription.cancel()
      if (++heard < 100) listenOnce()
    }, 'tick')
  }
  listenOnce()
  kit.system.events.publish({ type: 'tick' })
  expect(heard).toBe(1)
  kit.system.events.publish({ type: 'tick' })
  expect(heard).toBe(2)
  await kit.end()
})

test('a buffered channel that is closed ends its loop, also if it was never attached', async () => {
  const channel = buffered(3)
  channel.close()
  const next = channel[Symbol.asyncIterator]().next()
  const first = await Promise.race([next, Promise.resolve().then(() => undefined)])
  expect(first).toEqual({ done: true, value: undefined })
})

test('a subscriber whose mailbox others keep full loses events one by one, not all that are buffered', async () => {
  const kit = createTestKit()
  const heard: number[] = []
  type Numbered = { type: 'tick'; n: number }
  const ref = kit.system.spawn(
    receive<Numbered | 'noise'>((_ctx, m) => void (m !== 'noise' && heard.push(m.n))),
    { mailbox: bounded(20_000, 'block') },
  )
  await kit.settle()
  kit.system.suspend(ref, 'to fill its mailbox')
  await kit.settle()
  const subscription = kit.system.events.subscribe<Numbered>(ref, 'tick', { capacity: 30_000 })
  for (let n = 0; n < 30_000; n++) kit.system.events.publish({ type: 'tick', n })
  const offers = Array.from({ length: 25_000 }, () => ref.offer('noise'))
  kit.system.resume(ref)
  await kit.settle()
  await Promise.all(offers)
  expect(heard.length).toBeGreaterThanOrEqual(15_000)
  expect(heard).toEqual(heard.toSorted((a, b) => a - b))
  expect(heard.length + kit.system.deadLetters.count).toBe(30_000)
  expect(subscription.waiting).toBe(0)
  await kit.end()
})
