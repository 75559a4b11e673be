// Pairs of features of persistent actors that no other test brings together. tools/feature-pairs lists all pairs, and the test of each.

import type { ActorRef, MessageSchema } from '@troupe/core'
import { eraseSubject, eventSourced, type Kind, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { kitWith } from './counter.ts'

type Till =
  | { type: 'pay'; amount: number; replyTo: ActorRef<number> }
  | { type: 'take'; amount: number }
  | { type: 'ring' }
  | { type: 'leave' }
  | { type: 'get'; replyTo: ActorRef<number> }

/** Takes what `check` lets through. */
function schemaOf(check: (event: never) => string | undefined): MessageSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        const issue = check(value as never)
        return issue === undefined ? { value } : { issues: [{ message: issue }] }
      },
    },
  }
}

const tills = (did: string[], more: { readonly keepEvents?: number; readonly schema?: MessageSchema } = {}): Kind<Till> => {
  const till: Kind<Till> = eventSourced('till', {
    initial: () => 0,
    events: { paid: (n, e: { amount: number }) => n - e.amount, taken: (n, e: { amount: number }) => n + e.amount },
    commands: {
      pay(ctx, m) {
        ctx.deliver(till, 'b', { type: 'take', amount: m.amount })
        ctx.timers.once('bell', 3000, { type: 'ring' })
        ctx.after(() => void did.push(`paid ${m.amount}`))
        ctx.persist({ type: 'paid', amount: m.amount })
        ctx.tell(m.replyTo, ctx.state)
      },
      take: (ctx, m) => ctx.persist({ type: 'taken', amount: m.amount }),
      ring: () => void did.push('rang'),
      leave: (ctx) => ctx.stop(),
      get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    },
    snapshotEvery: 2,
    ...more,
  })
  return till
}

function stage(did: string[], more?: Parameters<typeof tills>[1]) {
  const refs = new Map<string, ActorRef<Till>>()
  const till = tills(did, more)
  const source = memory()
  const kit = kitWith(source, { find: (_kind, key) => refs.get(key), redeliverEvery: 100 })
  const start = (key: string): ActorRef<Till> => {
    const ref = kit.system.spawn(till(key))
    refs.set(key, ref)
    return ref
  }
  const answer = async (promise: Promise<unknown>): Promise<unknown> => {
    const ended = promise.catch((cause: { code: string }) => cause.code)
    await kit.advance(50)
    return ended
  }
  return { kit, refs, source, start, answer }
}

test('a command whose event the schema refuses leaves no delivery, no timer and no effect', async () => {
  const did: string[] = []
  const { kit, start, answer } = stage(did, { schema: schemaOf((e: { amount: number }) => (e.amount > 50 ? 'too much' : undefined)) })
  const [a, b] = [start('a'), start('b')]
  expect(await answer(a.ask({ type: 'pay', amount: 60 }))).toBe('schema-mismatch')
  await kit.advance(5000)
  expect(did).toEqual([])
  expect(await answer(b.ask({ type: 'get' }))).toBe(0)
  expect(await answer(a.ask({ type: 'pay', amount: 10 }))).toBe(-10)
  await kit.advance(5000)
  expect(did).toEqual(['paid 10', 'rang'])
  expect(await answer(b.ask({ type: 'get' }))).toBe(10)
  await kit.end()
})

test.each(['leave', 'stop'] as const)(
  'a delivery and a timer that wait outlive the events of their commands and their sender (%s), and arrive once',
  async (how) => {
    const did: string[] = []
    const { kit, refs, source, start, answer } = stage(did, { keepEvents: 1 })
    const first = start('a')
    for (const amount of [1, 2, 3, 4, 5, 6, 7, 8]) await answer(first.ask({ type: 'pay', amount }))
    await kit.advance(1000)
    // What was persisted with the first deliveries is deleted; a snapshot is in its place.
    expect(source.eventsOf('till/a').length).toBeLessThan(8)
    if (how === 'leave') first.tell({ type: 'leave' })
    else first.stop()
    await kit.advance(1000)
    expect(kit.system.phaseOf(first)).toBe('terminated')
    expect(did).not.toContain('rang')
    refs.delete('a')
    const b = start('b')
    start('a')
    await kit.advance(5000)
    expect(await answer(b.ask({ type: 'get' }))).toBe(36)
    expect(await answer(refs.get('a')!.ask({ type: 'get' }))).toBe(-36)
    expect(did.filter((what) => what === 'rang')).toHaveLength(1)
    await kit.end()
  },
)

test('a schema that refuses what stands for an erased event ends the start by name, and one that takes it does not', async () => {
  type Guests = { type: 'enter'; name: string; replyTo: ActorRef<number> } | { type: 'list'; replyTo: ActorRef<readonly string[]> }
  const guests = (schema: MessageSchema | undefined): Kind<Guests> =>
    eventSourced('guests', {
      initial: (): readonly string[] => [],
      events: { entered: (names, e: { name: string }) => [...names, e.name] },
      commands: {
        enter(ctx, m) {
          ctx.persist({ type: 'entered', name: m.name })
          ctx.tell(m.replyTo, ctx.state.length)
        },
        list: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
      },
      subject: (e) => e.name,
      erased: ({ type }) => ({ type, name: '' }),
      schema,
    })
  const source = memory()
  const named = schemaOf((e: { name: string }) => (e.name === '' ? 'a guest has no name' : undefined))
  for (const [schema, expected] of [
    [named, expect.stringContaining('a guest has no name') as string],
    [undefined, ['', 'Bert']],
  ] as const) {
    const kit = kitWith(source)
    const kind = guests(schema)
    if (schema !== undefined) {
      const ref = kit.system.spawn(kind('1'))
      for (const name of ['Anna', 'Bert']) {
        const entered = ref.ask({ type: 'enter', name })
        await kit.settle()
        await entered
      }
      ref.stop()
      await kit.settle()
      const erased = eraseSubject(kit.system, 'Anna')
      await kit.settle()
      await erased
    }
    const again = kit.system.spawn(kind('1'))
    const listed = again.ask({ type: 'list' }, { timeout: 1000 }).catch((cause: Error) => cause.message)
    await kit.advance(2000)
    expect(await listed).toEqual(expected)
    await kit.end()
  }
})
