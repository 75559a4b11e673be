// What was stored, for readers: queries, and projections (P12).

import type { ActorRef } from '@troupe/core'
import { eventSourced, journalEvents, type Kind, memory, projection, type ReadEvent } from '@troupe/persistence'
import { describe, expect, test } from 'vitest'
import { environment, event, run } from './contract/stage.ts'
import { counter, kitWith } from './counter.ts'

const place = ({ id, seq }: { id: string; seq: number }): string => `${id}#${seq}`

describe('queries', () => {
  test('give the events of a kind, of a tag, or all, decoded; after an offset; and wait for more', async () => {
    const kit = kitWith(memory())
    const [a, b] = [kit.system.spawn(counter('a')), kit.system.spawn(counter('b'))]
    for (const by of [1, 500, 2]) a.tell({ type: 'inc', by })
    b.tell({ type: 'inc', by: 700 })
    await kit.settle()
    const all: ReadEvent[] = []
    for await (const one of journalEvents(kit.system, { once: true })) all.push(one)
    expect(all.map(place).sort()).toEqual(['counter/a#1', 'counter/a#2', 'counter/a#3', 'counter/b#1'])
    const large: ReadEvent<{ by: number }>[] = []
    for await (const one of journalEvents<{ by: number }>(kit.system, { tag: 'large', kind: counter as never, once: true })) large.push(one)
    expect(large.map(({ event: { by }, key, kind, tags }) => [by, key, kind, tags])).toEqual([
      [500, 'a', 'counter', ['large']],
      [700, 'b', 'counter', ['large']],
    ])
    const controller = new AbortController()
    const waiting: string[] = []
    const reading = (async () => {
      for await (const one of journalEvents(kit.system, { after: all.at(-1)!.offset, signal: controller.signal })) waiting.push(place(one))
    })()
    b.tell({ type: 'inc', by: 1 })
    await kit.settle()
    expect(waiting).toEqual(['counter/b#2'])
    controller.abort()
    await reading
    await kit.end()
  })
})

describe('a projection', () => {
  test('P12: is not called where a batch has nothing for it, and goes on after it', async () => {
    const source = memory()
    const kit = kitWith(source)
    const journal = await source.open(environment)
    await journal.raise('other', 1)
    const own = Array.from({ length: 5 }, (_, i) => event(i + 1, { type: '$timer', data: '{"type":"$timer"}' }))
    await journal.append([run('cart/1', 1, 0, { events: own, scope: 'other' })])
    const batches: string[][] = []
    kit.system.spawn(projection({ name: 'calls', batch: 2, handle: (events) => void batches.push(events.map(place)) }))
    await kit.settle()
    expect(batches).toEqual([])
    expect(await journal.offset('calls')).toBe('5')
    await journal.append([run('cart/1', 6, 1, { scope: 'other' })])
    await kit.settle()
    expect(batches).toEqual([['cart/1#6']])
    await kit.end()
  })

  test('P12: sees each event once, in order per id, also when its handler fails, is killed, and begins anew', async () => {
    const source = memory({ faults: { delay: 5 } })
    const kit = kitWith(source)
    const seen: string[] = []
    let fail = 0
    const totals = projection({
      name: 'totals',
      from: { kind: 'counter' },
      batch: 3,
      handle(events) {
        if (fail-- > 0) throw new Error('not now')
        seen.push(...events.map(place))
      },
    })
    let view = kit.system.spawn(totals)
    const refs = ['a', 'b', 'c'].map((key) => kit.system.spawn(counter(key)))
    for (let i = 0; i < 12; i++) {
      if (i === 4) fail = 2
      if (i === 7) kit.system.kill(view)
      for (const ref of refs) ref.tell({ type: 'inc', by: i })
      await kit.advance(40)
      if (i === 8) view = kit.system.spawn(totals)
    }
    await kit.advance(10_000)
    for (const key of ['a', 'b', 'c'])
      expect(seen.filter((one) => one.startsWith(`counter/${key}#`))).toEqual(Array.from({ length: 12 }, (_, i) => `counter/${key}#${i + 1}`))
    await kit.end()
  })

  test('events of an earlier version are what they are today; two under one name are told apart', async () => {
    type None = { type: 'none'; replyTo: ActorRef<number> }
    const kind: Kind<None> = eventSourced('thing', {
      initial: () => 0,
      events: { added: (n, e: { by: number }) => n + e.by },
      commands: { none: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
      version: 2,
      upcast: ({ event: old }) => [1, 2].map((by) => ({ type: 'added', by: by * (old as { by: number }).by })),
    })
    const source = memory()
    const journal = await source.open(environment)
    await journal.raise('default', 1)
    await journal.append([run('thing/1', 1, 0, { events: [event(1, { data: '{"type":"added","by":5}' })] })])
    const kit = kitWith(source)
    const seen: number[] = []
    const view = projection<{ by: number }>({
      name: 'x',
      from: { kind: kind as never },
      handle: (events) => void seen.push(...events.map((one) => one.event.by)),
    })
    kit.system.spawn(view)
    await kit.settle()
    expect(seen).toEqual([5, 10])
    await journal.raise('default', (await journal.epoch('default')) + 1)
    await journal.advance('x', await journal.offset('x'), '77', () => Promise.resolve())
    await journal.append([run('thing/1', 2, 0, { epoch: await journal.epoch('default'), events: [event(2, { data: '{"type":"added","by":7}' })] })])
    await kit.settle()
    expect(kit.system.failures.list().at(-1)?.cause).toMatchObject({ code: 'projection-moved' })
    expect(seen).toEqual([5, 10])
    await kit.end()
  })
})
