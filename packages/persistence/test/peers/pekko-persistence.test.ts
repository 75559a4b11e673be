// Facts that Pekko's persistence-typed suites state and Troupe promises too, where no other test of this package has them.
// Each case: see facts.ts.

import { type ActorRef, ignore } from '@troupe/core'
import { eventSourced, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { counter, kitWith } from '../counter.ts'

type Command =
  | { type: 'add'; n: number; replyTo: ActorRef<readonly number[]> }
  | { type: 'addAll'; ns: readonly number[]; replyTo: ActorRef<readonly number[]> }
  | { type: 'later'; n: number }
  | { type: 'open'; replyTo: ActorRef<readonly number[]> }
  | { type: 'leave'; n: number }
  | { type: 'get'; replyTo: ActorRef<readonly number[]> }

const list: Kind<Command> = eventSourced('list', {
  initial: (): readonly number[] => [],
  events: { added: (all, e: { n: number }) => [...all, e.n] },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', n: m.n })
      ctx.tell(m.replyTo, ctx.state)
    },
    addAll(ctx, m) {
      for (const n of m.ns) ctx.persist({ type: 'added', n })
      ctx.tell(m.replyTo, ctx.state)
    },
    later(ctx, m) {
      if (ctx.state.includes(0)) ctx.persist({ type: 'added', n: m.n })
      else ctx.stash()
    },
    open(ctx, m) {
      ctx.persist({ type: 'added', n: 0 })
      ctx.unstashAll()
      ctx.tell(m.replyTo, ctx.state)
    },
    leave(ctx, m) {
      ctx.persist({ type: 'added', n: m.n })
      ctx.stop()
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

test('the events of one command are applied in order, and are there for the next life (EventSourcedBehaviorSpec: replay stored events)', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(list('a'))
  expect(await kit.until(ref.ask({ type: 'addAll', ns: [1, 2, 3] }))).toEqual([1, 2, 3])
  ref.stop()
  await kit.settle()
  expect(await kit.until(kit.system.spawn(list('a')).ask({ type: 'get' }))).toEqual([1, 2, 3])
  await kit.end()
})

test('an actor that persists and stops has ended, and has the event (EventSourcedBehaviorSpec: persist then stop)', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(list('a'))
  const end = kit.system.whenTerminated(ref)
  ref.tell({ type: 'leave', n: 7 })
  expect((await kit.until(end)).reason).toBe('normal')
  expect(await kit.until(kit.system.spawn(list('a')).ask({ type: 'get' }))).toEqual([7])
  await kit.end()
})

test('commands that come before recovery is over wait for it, in order (EventSourcedBehaviorSpec: handle scheduled message arriving before recovery completed)', async () => {
  const kit = kitWith(memory())
  const first = kit.system.spawn(list('a'))
  await kit.until(first.ask({ type: 'add', n: 1 }))
  first.stop()
  await kit.settle()
  const ref = kit.system.spawn(list('a'))
  const answers = [2, 3, 4].map((n) => ref.ask({ type: 'add', n }))
  expect(await kit.until(Promise.all(answers))).toEqual([
    [1, 2],
    [1, 2, 3],
    [1, 2, 3, 4],
  ])
  await kit.end()
})

test('commands that were put aside come back in order, before those that came later (EventSourcedBehaviorStashSpec: unstash in right order)', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(list('a'))
  for (const n of [1, 2, 3]) ref.tell({ type: 'later', n })
  const opened = ref.ask({ type: 'open' })
  ref.tell({ type: 'later', n: 4 })
  await kit.until(opened)
  expect(await kit.until(ref.ask({ type: 'get' }))).toEqual([0, 1, 2, 3, 4])
  await kit.end()
})

test('900 commands that were put aside come back without a stack overflow (EventSourcedStashOverflowSpec: not cause stack overflow)', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(list('a'))
  for (let n = 1; n <= 900; n++) ref.tell({ type: 'later', n })
  await kit.until(ref.ask({ type: 'open' }))
  expect((await kit.until(ref.ask({ type: 'get' }))).length).toBe(901)
  await kit.end()
})

test('a command that throws stores nothing and costs no state (EventSourcedBehaviorFailureSpec: restart supervisor strategy if command handler throws)', async () => {
  const kit = kitWith(memory())
  const ref = kit.system.spawn(counter('a'))
  expect(await kit.until(ref.ask({ type: 'add', by: 2 }))).toBe(2)
  await expect(kit.until(ref.ask({ type: 'fail', by: 5 }))).rejects.toThrow('failed at 7')
  expect(await kit.until(ref.ask({ type: 'get' }))).toBe(2)
  await kit.end()
})

test('two keys of one kind are two actors, and one key of two kinds as well (PersistenceIdSpec: be able to extract entityId)', async () => {
  const kit = kitWith(memory())
  const [a, b] = [kit.system.spawn(counter('a')), kit.system.spawn(counter('b'))]
  const c = kit.system.spawn(list('a'))
  await kit.until(Promise.all([a.ask({ type: 'add', by: 1 }), c.ask({ type: 'add', n: 9 })]))
  expect(await kit.until(Promise.all([a.ask({ type: 'get' }), b.ask({ type: 'get' }), c.ask({ type: 'get' })]))).toEqual([1, 0, [9]])
  expect(() => counter('')).toThrow(/key/)
  await kit.end()
})

test('many actors recover at once, each to its own state (ManyRecoveriesSpec: be able to recover without overloading)', async () => {
  const kit = kitWith(memory())
  const keys = Array.from({ length: 100 }, (_, i) => `k${i}`)
  for (const life of [1, 2]) {
    const refs = keys.map((key) => kit.system.spawn(counter(key)))
    const totals = await kit.until(Promise.all(refs.map((ref, i) => ref.ask({ type: 'add', by: i }))))
    expect(totals).toEqual(keys.map((_, i) => i * life))
    for (const ref of refs) ref.stop()
    await kit.settle()
  }
  kit.system.spawn(ignore)
  await kit.end()
})
