// Sharded actors that stop before they have taken a message: what they were sent is not sent to one successor after the other.

import { type Behavior, receive, same, setup, stopped } from '@troupe/core'
import { expect, test } from 'vitest'
import { onStage } from './stage.ts'

type Order = 'work' | 'stop'

const onWork = (): Behavior<Order> => receive<Order>((_ctx, message) => (message === 'stop' ? stopped : same))
const onStart = (then: () => Behavior<Order>): Behavior<Order> =>
  receive<Order>(
    () => same,
    (_ctx, signal) => (signal.type === 'PostStart' ? then() : same),
  )

const shortLived: Readonly<Record<string, () => Behavior<Order>>> = {
  'whose setup returns stopped': () => setup<Order>(() => stopped),
  'whose setup returns stopped later': () => setup<Order>(async () => Promise.resolve(stopped)),
  'that stops itself in its setup': () =>
    setup<Order>((ctx) => {
      ctx.stop()
      return onWork()
    }),
  'that stops when it has started': () => onStart(() => stopped),
  'that fails when it has started': () =>
    onStart(() => {
      throw new Error('cannot be')
    }),
}

test.each(Object.keys(shortLived))('a sharded actor %s is made once for what waits for it, which become dead letters', (how) =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const letters = (): readonly string[] => [a!, b!].flatMap(({ system }) => system.deadLetters.list().map(({ reason }) => reason))
    let made = 0
    const make = (): Behavior<Order> => {
      made++
      return shortLived[how]!()
    }
    const kinds = [a!, b!].map((node) => node.cluster!.sharded<Order>('brief', make, { shards: 4 }))
    await stage.until('all run', () => kinds.every((kind) => kind.active.length > 0) && kinds[0]!.active.length + kinds[1]!.active.length === 4)
    const ids = Array.from({ length: 20 }, (_, n) => `id-${n}`)
    await stage.until('the owners are known', () => ids.every((id) => kinds[0]!.ownerOf(id) !== undefined))
    for (const owner of ['a', 'b']) {
      const ref = kinds[0]!.ref(ids.find((id) => kinds[0]!.ownerOf(id) === owner)!)
      const before = letters().length
      made = 0
      for (let n = 0; n < 3; n++) ref.tell('work')
      const asked = ref
        .ask(() => 'work', { timeout: 20_000 })
        .then(
          () => 'answered',
          (cause: { readonly code: string }) => cause.code,
        )
      await stage.wait(3_000)
      expect(made).toBeLessThanOrEqual(2)
      expect(letters()).toEqual(Array.from({ length: before + 4 }, () => 'stopped'))
      expect(await asked).toBe('ask-target-stopped')
      expect(kinds.map((kind) => kind.entities)).toEqual([0, 0])
      // Its next message makes another one.
      ref.tell('work')
      await stage.wait(1_000)
      expect(letters()).toHaveLength(before + 5)
    }
  }),
)

test('a sharded actor that stops at each message has a successor for each of those that wait', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    let [made, handled] = [0, 0]
    const once = (): Behavior<Order> => {
      made++
      return receive<Order>(() => {
        handled++
        return stopped
      })
    }
    const kind = a!.cluster!.sharded<Order>('brief', once, { shards: 4 })
    await stage.until('all run', () => kind.active.length === 4)
    for (let n = 0; n < 10; n++) kind.ref('id').tell('work')
    await stage.wait(1_000)
    expect([made, handled, a!.system.deadLetters.list().length]).toEqual([10, 10, 0])
  }))

test('a sharded actor that stops while its node may not act has taken nothing, and leaves its messages to its successor', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    let made = 0
    const handled: Order[] = []
    const patient = (): Behavior<Order> => {
      const isFirst = ++made === 1
      return setup<Order>(async (ctx) => {
        if (isFirst) {
          await stage.wait(100)
          const child = ctx.spawn(setup<Order>(async () => stage.wait(100).then(() => stopped)))
          ctx.watch(child)
        }
        return receive<Order>(
          (_ctx, message) => {
            handled.push(message)
            return same
          },
          (_ctx, signal) => (signal.type === 'Terminated' ? stopped : same),
        )
      })
    }
    const kind = a!.cluster!.sharded<Order>('brief', patient, { shards: 1 })
    await stage.until('it runs', () => kind.active.length === 1)
    // The actor is made while the node may act, and has started when it may not.
    stage.world.hub.isolate('a', true)
    await stage.until('a may act for a moment only', () => a!.cluster!.report().heldFor < 50)
    expect(a!.cluster!.held).toBe(true)
    kind.ref('id').tell('work')
    await stage.wait(500)
    expect([made, kind.entities, handled]).toEqual([1, 0, []])
    stage.world.hub.isolate('a', false)
    await stage.wait(4_000)
    expect([made, handled]).toEqual([2, ['work']])
  }))
