// What is seen of a journal while a system uses it.

import { ActorSystem } from '@troupe/core'
import { extensionOf } from '@troupe/core/internal'
import { type Journal, type JournalSource, memory, persistence, postgres, sqliteJournal, surveyJournals } from '@troupe/persistence'
import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { counter, kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

describe('a survey of journals', () => {
  test('says what waits, what is written and how long that took', async () => {
    const journal = heldJournal()
    await using kit = kitWith(journal)
    const { system } = kit
    expect(surveyJournals(system)).toMatchObject([{ name: 'held', kind: 'other', phase: 'opening', epoch: undefined, actors: 0 }])
    const [a, b] = [kit.system.spawn(counter('a')), kit.system.spawn(counter('b'))]
    await kit.settle()
    expect(surveyJournals(system)[0]).toMatchObject({ phase: 'open', epoch: 1, scope: 'default', actors: 2, recoveries: { done: 2, waiting: 0 } })

    a.tell({ type: 'inc', by: 1 })
    await kit.settle()
    for (const ref of [a, b]) ref.tell({ type: 'twice', by: 1, replyTo: kit.probe<number>().ref })
    await kit.settle()
    expect(surveyJournals(system)[0]).toMatchObject({ writing: 1, queued: 2, queuedGroups: 1, commits: { groups: 0 } })

    await kit.advance(7)
    expect(surveyJournals(system)[0]).toMatchObject({ writing: 1, writingFor: 7 })
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(surveyJournals(system)[0]).toMatchObject({ writing: 2, queued: 0, queuedGroups: 0, commits: { groups: 1, records: 1, events: 1 } })
    await kit.advance(3)
    await journal.waiting[0]!.end('store')
    await kit.settle()
    const { commits, writing } = surveyJournals(system)[0]!
    expect({ commits, writing }).toEqual({
      commits: { groups: 2, records: 3, events: 5, failed: 0, latency: { p50: 7, p99: 7, max: 7, last: 3 } },
      writing: 0,
    })
  })

  test('an actor that was stopped while it recovered is not kept', async () => {
    const inner = memory()
    let go: () => void = () => undefined
    const journal: JournalSource = {
      name: 'slow',
      async open(given) {
        const opened = await inner.open(given)
        const heads: Journal['heads'] = async (ids) => {
          await new Promise<void>((resolve) => (go = resolve))
          return opened.heads(ids)
        }
        return new Proxy(opened, {
          get(target, name: keyof Journal) {
            const value = name === 'heads' ? heads : (target[name] as unknown)
            return typeof value === 'function' ? (value as (...of: unknown[]) => unknown).bind(target) : value
          },
        })
      },
    }
    await using kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    expect(surveyJournals(kit.system)[0]).toMatchObject({ actors: 1, recoveries: { reading: 1 } })
    kit.system.kill(ref)
    await kit.settle()
    go()
    await kit.settle()
    expect(surveyJournals(kit.system)[0]).toMatchObject({ actors: 0, recoveries: { reading: 0 } })
  })

  test('a commit that takes long is told of in the log, once', async () => {
    const journal = heldJournal()
    const said: string[] = []
    const note = (_about: object, text?: string): void => void said.push(text ?? '')
    const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
    await using kit = createTestKit({ logger, extensions: [persistence({ journal })] })
    kit.system.spawn(counter('a')).tell({ type: 'inc', by: 1 })
    await kit.advance(9000)
    expect(said).toEqual([])
    await kit.advance(30_000)
    expect(said).toEqual(['a commit is under way for 10 s'])
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(surveyJournals(kit.system)[0]).toMatchObject({ writing: 0, writingFor: 0 })
  })

  test('says that the circuit is open, why, and that it closed again', async () => {
    const journal = memory({ faults: { fail: 1 } })
    await using kit = kitWith(journal, { whenAway: 'wait' })
    const ref = kit.system.spawn(counter('a'))
    ref.tell({ type: 'inc', by: 1 })
    await kit.advance(1000)
    expect(surveyJournals(kit.system)[0]).toMatchObject({ kind: 'memory', circuit: { state: 'open' }, trouble: 'a fault was asked for' })
    const { refused, retryIn } = surveyJournals(kit.system)[0]!.circuit
    expect([refused > 2, retryIn > 0]).toEqual([true, true])
    journal.faults.fail = 0
    await kit.advance(20_000)
    expect(surveyJournals(kit.system)[0]).toMatchObject({
      circuit: { state: 'closed', refused: 0, retryIn: 0 },
      trouble: undefined,
      commits: { failed: refused },
    })
  })

  test('says that the epoch is being raised, and that another system took over', async () => {
    const journal = heldJournal()
    await using kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    ref.tell({ type: 'inc', by: 1 })
    await kit.settle()
    journal.inner.faults.read = 1
    await journal.waiting[0]!.end('unknown')
    await kit.settle()
    expect(surveyJournals(kit.system)[0]).toMatchObject({ phase: 'raising', trouble: 'unknown' })
    journal.inner.faults.read = 0
    await kit.advance(60_000)
    expect(surveyJournals(kit.system)[0]).toMatchObject({ phase: 'open', epoch: 2 })
    ref.tell({ type: 'inc', by: 1 })
    await kit.settle()
    await journal.waiting[0]!.end('fenced')
    await kit.settle()
    expect(surveyJournals(kit.system)[0]).toMatchObject({ phase: 'lost' })
  })

  test('is found by those who do not know this package, and is empty without a journal', async () => {
    await using kit = kitWith(memory({ name: 'mine' }))
    const joined = extensionOf(kit.system, 'persistence') as { survey(): ReturnType<typeof surveyJournals> }
    expect(joined.survey()).toEqual(surveyJournals(kit.system))
    await using bare = ActorSystem.create('bare')
    expect(surveyJournals(bare)).toEqual([])
    expect(() => surveyJournals({} as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error)
  })

  test('places say where a journal is, and nobody’s password', () => {
    expect(sqliteJournal('./data/shop.db')).toMatchObject({ kind: 'sqlite', place: './data/shop.db' })
    const way = { connectionString: 'postgres://anna:secret@db:5433/shop?sslmode=require' }
    expect(postgres(way, { schema: 'x' })).toMatchObject({ kind: 'postgres', place: 'db:5433/shop schema x' })
    const pool = { connect: () => Promise.reject(new Error('nobody')), options: { host: 'db', database: 'shop', password: 'secret' } }
    expect(postgres(pool)).toMatchObject({ place: 'db:5432/shop schema troupe' })
  })
})
