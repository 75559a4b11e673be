// Commands as pure functions: what `run` and `runState` say is what a live actor does.

import type { ActorRef } from '@troupe/core'
import { durableState, eventSourced, type Kind, memory } from '@troupe/persistence'
import { run, runState } from '@troupe/persistence/testing'
import { expect, test } from 'vitest'
import { kitWith } from './counter.ts'

type Order = { type: 'place'; what: string; replyTo: ActorRef<number> } | { type: 'expire' } | { type: 'pay' } | { type: 'spoil' } | { type: 'wait' }

const order: Kind<Order> = eventSourced('order', {
  initial: (): { readonly items: string[]; readonly open: boolean } => ({ items: [], open: true }),
  events: {
    placed: (s, e: { what: string }) => ({ ...s, items: [...s.items, e.what] }),
    closed: (s, _e: { why: string }) => ({ ...s, open: false }),
  },
  commands: {
    place(ctx, m) {
      ctx.persist({ type: 'placed', what: m.what })
      ctx.timers.once('expiry', 60_000, { type: 'expire' })
      ctx.tell(m.replyTo, ctx.state.items.length)
    },
    expire: (ctx) => ctx.persist({ type: 'closed', why: 'expired' }),
    pay(ctx) {
      ctx.timers.cancel('expiry')
      ctx.persist({ type: 'closed', why: 'paid' })
      if (ctx.state.items.length === 0) throw new Error('nothing to pay')
    },
    spoil: (ctx) => void ctx.state.items.push('by force'),
    // What the compiler refuses, a program in JavaScript does all the same.
    wait: () => Promise.resolve() as never,
  },
})

test('run: events in, a command, and events, outputs, timers and the state out; a throw leaves nothing', () => {
  const replyTo = {} as ActorRef<number>
  expect(run(order, [{ type: 'placed', what: 'book' } as never], { type: 'place', what: 'pen', replyTo }, { now: 5 })).toEqual({
    events: [{ type: 'placed', what: 'pen' }],
    outputs: [
      { is: 'timer', key: 'expiry', due: 60_005, every: undefined, message: { type: 'expire' } },
      { is: 'tell', to: replyTo, message: 2 },
    ],
    state: { items: ['book', 'pen'], open: true },
    error: undefined,
  })
  const paid = run(order, [{ type: 'placed', what: 'book' } as never], { type: 'pay' }, { timers: ['expiry'] })
  expect(paid).toMatchObject({ outputs: [{ is: 'cancel-timer', key: 'expiry' }], state: { open: false } })
  expect(run(order, [], { type: 'pay' })).toMatchObject({
    events: [],
    outputs: [],
    state: { items: [], open: true },
    error: { message: 'nothing to pay' },
  })
  expect(run(order, [], { type: 'spoil' }).error).toMatchObject({
    code: 'not-allowed',
    message: expect.stringContaining('The command spoil of order/test changed the state in place') as string,
  })
  expect(run(order, [], { type: 'wait' }).error).toMatchObject({ code: 'not-allowed' })
})

type Box = { type: 'put'; what: unknown } | { type: 'empty' } | { type: 'remind' } | { type: 'fail' }

const box: Kind<Box> = durableState('box', {
  initial: (): readonly unknown[] => [],
  commands: {
    put: (ctx, m) => ctx.update((things) => [...things, m.what]),
    empty: (ctx) => ctx.clear(),
    remind: (ctx) => ctx.timers.every('x', 10, { type: 'empty' }),
    fail(ctx) {
      ctx.set(['lost'])
      throw new Error('no')
    },
  },
})

test('runState: a state in, a command, and the state out', () => {
  expect(runState(box, undefined, { type: 'put', what: new Date(5) })).toEqual({ outputs: [], state: [new Date(5)], changes: 1, error: undefined })
  expect(runState(box, ['a'], { type: 'empty' })).toMatchObject({ state: [], changes: 1 })
  expect(runState(box, ['a'], { type: 'fail' })).toMatchObject({ state: ['a'], changes: 0, error: { message: 'no' } })
  expect(runState(box, ['a'], { type: 'put', what: () => 1 }).error).toMatchObject({ code: 'not-storable', where: 'state of box/test[1]' })
  expect(runState(box, [], { type: 'remind' }, { now: 3 }).outputs).toMatchObject([{ is: 'timer', due: 13, every: 10 }])
  expect(() => runState(order as never, [], { type: 'pay' } as never)).toThrow(/there is run/)
  expect(() => run(box, [], { type: 'empty' })).toThrow(/there is runState/)
})

test('run and runState refuse what changes a state in place, of maps and sets too', () => {
  const tags: Kind<{ type: 'add' } | { type: 'look' }> = eventSourced('tags', {
    initial: () => new Set<string>(),
    events: { added: (s, e: { tag: string }) => s.add(e.tag) },
    commands: { add: (ctx) => ctx.persist({ type: 'added', tag: 'x' }), look: () => undefined },
  })
  const refused = 'The handler of the event added of tags/test changed the state in place'
  expect(run(tags, [], { type: 'add' })).toMatchObject({
    events: [],
    error: { code: 'not-allowed', message: expect.stringContaining(refused) as string },
  })
  expect(() => run(tags, [{ type: 'added', tag: 'x' } as never], { type: 'look' })).toThrow(refused)
  const counts: Kind<{ type: 'add' }> = durableState('counts', {
    initial: () => new Map<string, number>(),
    commands: { add: (ctx) => ctx.update((s) => s.set('n', 1)) },
  })
  expect(runState(counts, undefined, { type: 'add' }).error).toMatchObject({ code: 'not-allowed' })
})

test('a live actor does the same', async () => {
  const source = memory()
  const kit = kitWith(source)
  const ref = kit.system.spawn(order('1'))
  ref.tell({ type: 'place', what: 'book', replyTo: kit.probe<number>().ref })
  ref.tell({ type: 'pay' })
  await kit.settle()
  const stored = source.eventsOf('order/1').map(({ data }) => JSON.parse(data) as { type: string; what: string })
  const pure = run(order, [stored[0]! as never], { type: 'pay' }, { timers: ['expiry'] })
  expect(stored.filter(({ type }) => !type.startsWith('$')).slice(1)).toEqual(pure.events)
  expect(stored.map(({ type }) => type)).toEqual(['placed', '$timer', '$untimed', 'closed'])
  await kit.end()
})
