// What every journal must do, whatever it is made of. Each test has a store of its own; two handles of it stand for two processes.

import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type {
  DueTimer,
  EventQuery,
  FoundEvent,
  Journal,
  JournalEnvironment,
  JournalSource,
  Ownership,
  Replayed,
  Run,
  StateWrite,
  StoredEvent,
  TimerChange,
} from '@troupe/persistence'

/** A store that a test has to itself. */
export interface Store {
  readonly source: JournalSource
  /** Removes it, after all handles were closed. */
  dispose(): Promise<void>
}

export const environment: JournalEnvironment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}

const owner: Ownership = { scope: 'default', epoch: 1 }

export function event(n: number, more: Partial<StoredEvent> = {}): StoredEvent {
  return { type: 'added', version: 1, data: JSON.stringify({ n }), tags: [], subject: undefined, time: 1_000 + n, ...more }
}

/** A run of `count` events. */
export function run(id: string, first: number, count = 1, more: Partial<Run> = {}): Run {
  return { write: 'run', id, first, events: Array.from({ length: count }, (_, i) => event(first + i)), timers: [], ...owner, ...more }
}

function state(id: string, expected: number, revision: number, data: string | undefined, more: Partial<StateWrite> = {}): StateWrite {
  return { write: 'state', id, expected, revision, version: 1, data, subject: undefined, time: 5, timers: [], ...owner, ...more }
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of iterable) items.push(item)
  return items
}

/** The events of each id, as replay gives them. */
async function replayed(journal: Journal, from: { id: string; after: number }[], batch = 100): Promise<Map<string, StoredEvent[]>> {
  const byId = new Map<string, StoredEvent[]>(from.map(({ id }) => [id, []]))
  const next = new Map(from.map(({ id, after }) => [id, after + 1]))
  for (const part of await all<Replayed>(journal.replay(from, batch))) {
    if ('damage' in part) throw part.damage
    expect(part.events.length).toBeLessThanOrEqual(batch)
    if (byId.get(part.id)!.length > 0) expect(part.first).toBe(next.get(part.id))
    next.set(part.id, part.first + part.events.length)
    byId.get(part.id)!.push(...part.events)
  }
  return byId
}

async function found(journal: Journal, query: Partial<EventQuery> = {}): Promise<FoundEvent[]> {
  return (await all(journal.events({ batch: 100, once: true, ...query }))).flat()
}

const places = (events: readonly FoundEvent[]): string[] => events.map(({ id, seq }) => `${id}#${seq}`)

/** The heap when garbage is gone. */
async function settledHeap(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Runs the contract against a journal; one that is made of memory keeps what it stores there. */
export function journalContract(name: string, make: () => Promise<Store>, keepsInMemory = false): void {
  describe(`${name} keeps the contract of a journal`, () => {
    let store: Store
    let journal: Journal
    let handles: Journal[]
    const open = async (): Promise<Journal> => {
      const handle = await store.source.open(environment)
      handles.push(handle)
      return handle
    }
    beforeEach(async () => {
      handles = []
      store = await make()
      journal = await open()
      await journal.raise('default', 1)
    })
    afterEach(async () => {
      for (const handle of handles) await handle.close()
      await store.dispose()
    })
    const outcomes = async (...group: Parameters<Journal['append']>[0]): Promise<string[]> =>
      (await journal.append(group)).map((outcome) => outcome.is)

    test('its identity is the same for every handle, and another for another store', async () => {
      const other = await make()
      const foreign = await other.source.open(environment)
      expect((await open()).identity).toBe(journal.identity)
      expect(foreign.identity).not.toBe(journal.identity)
      await foreign.close()
      await other.dispose()
    })

    test('what was stored is there for the next handle, with all its fields', async () => {
      const events = [
        event(1, { type: 'opened', version: 3, data: '{"text":"ä\\u0000 \\ud800 \\"x\\""}', tags: ['a', 'b/ü'], subject: 'anna' }),
        event(2, { data: '' }),
      ]
      expect(await outcomes(run('cart/1', 1, 0, { events }))).toEqual(['stored'])
      await journal.close()
      const again = await open()
      expect((await replayed(again, [{ id: 'cart/1', after: 0 }])).get('cart/1')).toEqual(events)
      expect(await again.heads(['cart/1'])).toEqual([{ id: 'cart/1', seq: 2, deleted: 0, snapshot: undefined, state: undefined }])
    })

    test('a group of many ids is stored whole, and each id goes on where it stands', async () => {
      const ids = Array.from({ length: 300 }, (_, i) => `cart/${i}`)
      expect(new Set(await outcomes(...ids.map((id) => run(id, 1, 3))))).toEqual(new Set(['stored']))
      expect(new Set(await outcomes(...ids.map((id) => run(id, 4, 2))))).toEqual(new Set(['stored']))
      const heads = await journal.heads(['cart/299', 'cart/none', 'cart/0'])
      expect(heads.map(({ id, seq }) => [id, seq])).toEqual([
        ['cart/299', 5],
        ['cart/none', 0],
        ['cart/0', 5],
      ])
      const seen = await replayed(
        journal,
        ids.map((id) => ({ id, after: 1 })),
        7,
      )
      for (const id of ids) expect(seen.get(id)!.map(({ data }) => data)).toEqual([2, 3, 4, 5].map((n) => JSON.stringify({ n })))
    })

    test('ids and texts of every kind are kept apart', async () => {
      const ids = ['a/1', 'a/10', 'a/1\u0000', 'a/1 ', 'ä/1', 'a/1/2', `a/${'x'.repeat(400)}`, 'a/😀', "a/'; drop table events; --"]
      expect(new Set(await outcomes(...ids.map((id, i) => run(id, 1, i + 1))))).toEqual(new Set(['stored']))
      expect((await journal.heads(ids)).map(({ seq }) => seq)).toEqual(ids.map((_, i) => i + 1))
      for (const [i, id] of ids.entries()) expect((await replayed(journal, [{ id, after: 0 }])).get(id)).toHaveLength(i + 1)
      expect((await journal.ids({ most: 100 })).map(({ id }) => id).sort()).toEqual([...ids].sort())
    })

    test('a run that does not follow on is a conflict, and leaves nothing', async () => {
      expect(await outcomes(run('cart/1', 1, 2), run('cart/2', 2))).toEqual(['stored', 'conflict'])
      expect(await outcomes(run('cart/1', 2), run('cart/2', 1))).toEqual(['conflict', 'stored'])
      expect(await outcomes(run('cart/1', 4))).toEqual(['conflict'])
      expect(await outcomes(run('cart/1', 2, 5))).toEqual(['conflict'])
      expect((await journal.heads(['cart/1', 'cart/2'])).map(({ seq }) => seq)).toEqual([2, 1])
      expect(places(await found(journal)).sort()).toEqual(['cart/1#1', 'cart/1#2', 'cart/2#1'])
    })

    test('of two handles that write the same number one is stored', async () => {
      const other = await open()
      const both = await Promise.all([journal.append([run('cart/1', 1)]), other.append([run('cart/1', 1)])])
      expect(both.map(([outcome]) => outcome!.is).sort()).toEqual(['conflict', 'stored'])
    })

    test('a raised fence refuses what has an earlier epoch, for that scope alone', async () => {
      const next = await open()
      await journal.raise('other', 1)
      await next.raise('default', 2)
      expect(await journal.epoch('default')).toBe(2)
      expect(await journal.epoch('never')).toBe(0)
      expect(await outcomes(run('cart/1', 1), run('cart/2', 1, 1, { scope: 'other' }), state('box/1', 0, 1, '1'))).toEqual([
        'fenced',
        'stored',
        'fenced',
      ])
      expect((await next.append([run('cart/1', 1, 1, { epoch: 2 })]))[0]!.is).toBe('stored')
      expect(await outcomes(run('cart/3', 1, 1, { epoch: 3 }))).toEqual(['fenced'])
      expect(await outcomes(run('cart/1', 9))).toEqual(['fenced'])
      expect((await journal.saveSnapshot({ id: 'cart/1', seq: 1, version: 1, data: '1', time: 1, ...owner })).is).toBe('fenced')
      expect((await journal.deleteEvents('cart/1', 1, owner)).is).toBe('fenced')
      expect((await journal.deleteSnapshots('cart/1', 1, owner)).is).toBe('fenced')
    })

    test('an epoch belongs to whoever raised it: the same or a lower one is refused to others', async () => {
      const other = await open()
      await journal.raise('default', 1)
      await expect(other.raise('default', 1)).rejects.toMatchObject({ code: 'fence-lost', scope: 'default', epoch: 1 })
      await other.raise('default', 2)
      await expect(journal.raise('default', 2)).rejects.toMatchObject({ code: 'fence-lost', epoch: 2 })
      await expect(journal.raise('default', 1)).rejects.toMatchObject({ code: 'fence-lost', epoch: 2 })
      await other.raise('default', 2)
    })

    test('of many that raise to the same epoch at once one succeeds', async () => {
      const rivals = [journal, await open(), await open(), await open()]
      const ends = await Promise.allSettled(rivals.map((rival) => rival.raise('default', 7)))
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await journal.epoch('default')).toBe(7)
    })

    test('a takeover leaves no gap: what the old owner had stored by then is seen, what it had not is refused', async () => {
      const next = await open()
      let acknowledged = 0
      let fenced = false
      let some: () => void = () => undefined
      const warmedUp = new Promise<void>((resolve) => (some = resolve))
      const writing = (async () => {
        for (let seq = 1; !fenced; seq++) {
          const [outcome] = await journal.append([run('cart/1', seq)])
          if (outcome!.is === 'stored') acknowledged = seq
          else fenced = true
          if (seq === 3) some()
          // One that is made of memory would otherwise never let anything else happen.
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      await warmedUp
      await next.raise('default', 2)
      const [head] = await next.heads(['cart/1'])
      expect((await next.append([run('cart/1', head!.seq + 1, 1, { epoch: 2 })]))[0]!.is).toBe('stored')
      await writing
      expect(head!.seq).toBe(acknowledged)
    })

    test('replay reads as it is asked, in batches, and can be left early', async () => {
      await journal.append([run('cart/1', 1, 1000), run('cart/2', 1, 1000)])
      let parts = 0
      for await (const part of journal.replay(
        [
          { id: 'cart/1', after: 0 },
          { id: 'cart/2', after: 990 },
        ],
        10,
      )) {
        if ('damage' in part) throw part.damage
        expect(part.events.length).toBeLessThanOrEqual(10)
        if (++parts === 3) break
      }
      expect((await replayed(journal, [{ id: 'cart/2', after: 990 }])).get('cart/2')).toHaveLength(10)
      expect((await replayed(journal, [{ id: 'cart/2', after: 2000 }])).get('cart/2')).toHaveLength(0)
      expect(await all(journal.replay([], 10))).toEqual([])
    })

    test('the last two snapshots are kept', async () => {
      await journal.append([run('cart/1', 1, 30)])
      const save = (seq: number, data = `${seq}`, version = 1) => journal.saveSnapshot({ id: 'cart/1', seq, version, data, time: seq, ...owner })
      for (const seq of [10, 20, 30]) expect((await save(seq)).is).toBe('stored')
      const [head] = await journal.heads(['cart/1'])
      expect(head!.snapshot).toEqual({ seq: 30, version: 1, data: '30', time: 30 })
      expect(await journal.snapshotBefore('cart/1', 30)).toMatchObject({ seq: 20 })
      expect(await journal.snapshotBefore('cart/1', 20)).toBeUndefined()
      await save(30, 'again', 2)
      expect((await journal.heads(['cart/1']))[0]!.snapshot).toEqual({ seq: 30, version: 2, data: 'again', time: 30 })
      expect(await journal.snapshotBefore('cart/1', 30)).toMatchObject({ seq: 20 })
      expect((await journal.ids({ most: 10 }))[0]).toEqual({ id: 'cart/1', seq: 30, deleted: 0, snapshots: [30, 20], revision: undefined })
      await journal.deleteSnapshots('cart/1', 20, owner)
      expect((await journal.ids({ most: 10 }))[0]!.snapshots).toEqual([30])
      await journal.deleteSnapshots('cart/1', 30, owner)
      expect((await journal.heads(['cart/1']))[0]!.snapshot).toBeUndefined()
    })

    test('deletion keeps the high-water mark, whatever of a run it cuts through', async () => {
      await journal.append([run('cart/1', 1, 10)])
      await journal.append([run('cart/1', 11, 10)])
      await journal.append([run('cart/2', 1, 2)])
      expect((await journal.deleteEvents('cart/1', 13, owner)).is).toBe('stored')
      expect((await journal.heads(['cart/1']))[0]).toMatchObject({ seq: 20, deleted: 13 })
      expect((await replayed(journal, [{ id: 'cart/1', after: 0 }])).get('cart/1')!.map(({ time }) => time - 1000)).toEqual([
        14, 15, 16, 17, 18, 19, 20,
      ])
      expect(places(await found(journal, { kind: 'cart' }))).toHaveLength(9)
      expect((await journal.deleteEvents('cart/1', 5, owner)).is).toBe('stored')
      expect((await journal.deleteEvents('cart/1', 99, owner)).is).toBe('stored')
      await journal.close()
      journal = await open()
      expect((await journal.heads(['cart/1']))[0]).toMatchObject({ seq: 20, deleted: 20 })
      expect(await outcomes(run('cart/1', 1))).toEqual(['conflict'])
      expect(await outcomes(run('cart/1', 21))).toEqual(['stored'])
      expect((await replayed(journal, [{ id: 'cart/1', after: 0 }])).get('cart/1')).toHaveLength(1)
      expect((await journal.verify()).damages).toEqual([])
    })

    test('a state is replaced where it stands at the revision that was expected', async () => {
      expect(await outcomes(state('box/1', 0, 3, 'three'), state('box/2', 1, 2, 'x'))).toEqual(['stored', 'conflict'])
      expect(await outcomes(state('box/1', 0, 1, 'x'))).toEqual(['conflict'])
      expect(await outcomes(state('box/1', 3, 4, undefined, { version: 2, subject: 'anna' }))).toEqual(['stored'])
      const [head, none] = await journal.heads(['box/1', 'box/2'])
      expect(head!.state).toEqual({ revision: 4, version: 2, data: undefined, subject: 'anna', time: 5 })
      expect(none!.state).toBeUndefined()
      expect(await outcomes(state('box/1', 4, 5, 'five'))).toEqual(['stored'])
      expect((await journal.heads(['box/1']))[0]!.state).toMatchObject({ revision: 5, data: 'five' })
    })

    test('events are found by tag and by kind, after an offset, those of one id in order', async () => {
      const tagged = (n: number, ...tags: string[]) => event(n, { tags })
      await journal.append([
        run('cart/1', 1, 0, { events: [tagged(1, 'red'), tagged(2), tagged(3, 'red', 'blue')] }),
        run('order/1', 1, 0, { events: [tagged(1, 'red')] }),
        run('cart/2', 1, 0, { events: [tagged(1, 'blue')] }),
      ])
      await journal.append([run('cart/1', 4, 0, { events: [tagged(4, 'red')] })])
      expect(places(await found(journal, { tag: 'red' })).sort()).toEqual(['cart/1#1', 'cart/1#3', 'cart/1#4', 'order/1#1'])
      expect(places(await found(journal, { tag: 'none' }))).toEqual([])
      expect(places(await found(journal, { kind: 'cart' })).filter((place) => place.startsWith('cart/1'))).toEqual([
        'cart/1#1',
        'cart/1#2',
        'cart/1#3',
        'cart/1#4',
      ])
      expect(await found(journal, { kind: 'cart' })).toHaveLength(5)
      expect(await found(journal, { kind: 'car' })).toHaveLength(0)
      expect(await found(journal, { kind: 'cart', tag: 'red' })).toHaveLength(3)
      const everything = await found(journal)
      expect(everything).toHaveLength(6)
      for (const [i, { offset }] of everything.entries())
        expect(places(await found(journal, { after: offset }))).toEqual(places(everything.slice(i + 1)))
      const small = await all(journal.events({ batch: 2, once: true }))
      expect(small.every((batch) => batch.length > 0 && batch.length <= 2)).toBe(true)
      expect(places(small.flat())).toEqual(places(everything))
      expect(everything.find(({ id, seq }) => id === 'cart/1' && seq === 3)).toMatchObject(tagged(3, 'red', 'blue'))
    })

    test('a reader that waits is woken by new events, also by those of another handle, and ends with its signal', async () => {
      const other = await open()
      const controller = new AbortController()
      const seen: string[] = []
      let wanted = 0
      let enough: () => void = () => undefined
      const reading = (async () => {
        for await (const batch of journal.events({ kind: 'cart', batch: 10, signal: controller.signal })) {
          seen.push(...places(batch))
          if (seen.length >= wanted) enough()
        }
      })()
      const until = (count: number): Promise<void> =>
        new Promise((resolve) => {
          wanted = count
          enough = resolve
          if (seen.length >= count) resolve()
        })
      await journal.append([run('cart/1', 1, 2)])
      await until(2)
      await other.append([run('cart/1', 3), run('order/1', 1)])
      await until(3)
      expect(seen).toEqual(['cart/1#1', 'cart/1#2', 'cart/1#3'])
      controller.abort()
      await reading
      const closing = all(other.events({ batch: 10 }))
      await new Promise((resolve) => setImmediate(resolve))
      await other.close()
      expect((await closing).flat()).toHaveLength(4)
    })

    test('a reader beside many writers misses nothing and sees nothing twice', async () => {
      const writers = [journal, await open(), await open()]
      const count = 60
      const total = writers.length * count
      const seen: string[] = []
      const controller = new AbortController()
      const reading = (async () => {
        for await (const batch of (await open()).events({ batch: 7, signal: controller.signal })) {
          seen.push(...places(batch))
          if (seen.length >= total) controller.abort()
        }
      })()
      await Promise.all(
        writers.map(async (writer, w) => {
          for (let seq = 1; seq <= count; seq++) expect((await writer.append([run(`cart/${w}`, seq)]))[0]!.is).toBe('stored')
        }),
      )
      await reading
      for (const w of writers.keys())
        expect(seen.filter((place) => place.startsWith(`cart/${w}#`))).toEqual(Array.from({ length: count }, (_, i) => `cart/${w}#${i + 1}`))
    })

    test('a projection moves on from where it stands, after its work', async () => {
      const worked: string[] = []
      const work = (label: string) => async (transaction: unknown) => {
        expect(transaction !== undefined).toBe(journal.transactional)
        worked.push(label)
      }
      await journal.append([run('cart/1', 1, 3)])
      const [one, two] = await found(journal)
      expect(await journal.offset('totals')).toBeUndefined()
      expect(await journal.advance('totals', undefined, one!.offset, work('one'))).toBe('stored')
      expect(await journal.advance('totals', undefined, two!.offset, work('rival'))).toBe('conflict')
      expect(await journal.offset('totals')).toBe(one!.offset)
      const failure = new Error('no')
      await expect(journal.advance('totals', one!.offset, two!.offset, () => Promise.reject(failure))).rejects.toBe(failure)
      expect(await journal.offset('totals')).toBe(one!.offset)
      expect(await journal.advance('totals', one!.offset, two!.offset, work('two'))).toBe('stored')
      expect(await (await open()).offset('totals')).toBe(two!.offset)
      expect(await journal.offset('others')).toBeUndefined()
      expect(worked).toEqual(['one', 'two'])
    })

    test('timers change with the write that names them, and are found soonest first', async () => {
      const timers = (...changes: [string, number | undefined][]): TimerChange[] => changes.map(([key, due]) => ({ key, due }))
      await journal.append([
        run('cart/1', 1, 1, { timers: timers(['late', 300], ['soon', 100]) }),
        run('cart/2', 2, 1, { timers: timers(['never', 1]) }),
        state('box/1', 0, 1, 'x', { timers: timers(['mine', 200]) }),
      ])
      expect(await journal.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([
        { id: 'cart/1', key: 'soon', due: 100 },
        { id: 'box/1', key: 'mine', due: 200 },
        { id: 'cart/1', key: 'late', due: 300 },
      ])
      expect(await journal.due(200, 10)).toHaveLength(2)
      expect(await journal.due(99, 10)).toHaveLength(0)
      expect(await journal.due(1000, 1)).toEqual([{ id: 'cart/1', key: 'soon', due: 100 }])
      expect(await journal.due(1000, 10, { id: 'cart/1', key: 'soon', due: 100 })).toHaveLength(2)
      expect(await journal.due(Number.MAX_VALUE, 10, { id: 'box/1', key: 'mine', due: 200 })).toEqual([{ id: 'cart/1', key: 'late', due: 300 }])
      await journal.append([run('cart/1', 2, 1, { timers: timers(['soon', undefined], ['late', 50], ['other', undefined]) })])
      expect(await (await open()).due(1000, 10)).toEqual([
        { id: 'cart/1', key: 'late', due: 50 },
        { id: 'box/1', key: 'mine', due: 200 },
      ])
    })

    test('timers of one moment are told apart: page by page each is given once', async () => {
      const names = ['', 'a', 'a\0', 'b', '\u0001', 'é'].map((start) => `${start}x`)
      await journal.append(
        ['cart/2', 'cart/10', 'cart/1\0'].map((id) => run(id, 1, 1, { timers: names.map((key) => ({ key, due: key === 'bx' ? -5 : 7 })) })),
      )
      const whole = await journal.due(7, 100)
      const paged: DueTimer[] = []
      for (let last: DueTimer | undefined; ; last = paged.at(-1)) {
        const page = await journal.due(7, 4, last)
        paged.push(...page)
        if (page.length < 4) break
      }
      expect(paged).toEqual(whole)
      expect(new Set(whole.map(({ id, key }) => `${id} ${key}`)).size).toBe(18)
      expect(whole.slice(0, 3).map(({ due }) => due)).toEqual([-5, -5, -5])
    })

    test('the first key of a subject holds, and once erased there is none for ever', async () => {
      const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
      expect(await journal.key('anna')).toEqual({ is: 'none' })
      expect(await journal.addKey('anna', a)).toEqual({ is: 'key', key: a })
      expect(await (await open()).addKey('anna', b)).toEqual({ is: 'key', key: a })
      await journal.eraseKey('anna')
      expect(await journal.addKey('anna', b)).toEqual({ is: 'erased' })
      await journal.eraseKey('anna')
      await journal.eraseKey('bert')
      expect(await (await open()).key('anna')).toEqual({ is: 'erased' })
      expect(await journal.key('bert')).toEqual({ is: 'erased' })
    })

    test('ids are listed in order, by kind, page by page, and counted', async () => {
      await journal.append([run('cart/b', 1, 2), run('cart/a', 1), run('order/a', 1), state('box/a', 0, 4, 'x')])
      await journal.saveSnapshot({ id: 'cart/b', seq: 2, version: 1, data: '1', time: 1, ...owner })
      const page = await journal.ids({ kind: 'cart', most: 1 })
      expect(page.map(({ id }) => id)).toEqual(['cart/a'])
      expect((await journal.ids({ kind: 'cart', after: 'cart/a', most: 10 })).map(({ id, seq }) => [id, seq])).toEqual([['cart/b', 2]])
      expect((await journal.ids({ most: 10 })).map(({ id, revision }) => [id, revision])).toEqual([
        ['box/a', 4],
        ['cart/a', undefined],
        ['cart/b', undefined],
        ['order/a', undefined],
      ])
      expect(await journal.stats()).toMatchObject({ ids: 4, events: 4, snapshots: 1 })
      expect(await journal.verify()).toMatchObject({ ids: 4, events: 4, snapshots: 1, damages: [] })
    })

    test('a run as large as the limits allow, and a larger one alone, are stored', async () => {
      const data = JSON.stringify({ text: randomUUID().repeat(3000) })
      const count = Math.ceil(journal.limits.bytes / data.length) + 1
      expect(await outcomes(run('cart/1', 1, 0, { events: Array.from({ length: count }, (_, i) => event(i + 1, { data })) }))).toEqual(['stored'])
      expect((await replayed(journal, [{ id: 'cart/1', after: 0 }], 5)).get('cart/1')!.every((stored) => stored.data === data)).toBe(true)
    })

    test('a group of several scopes: each write is let in by its own', async () => {
      const other = await open()
      await journal.raise('b', 4)
      await other.raise('c', 9)
      // Whatever order the scopes stand in, and whoever raised them: an epoch is what a write names, not who hands it over.
      expect(
        await outcomes(
          run('cart/c', 1, 1, { scope: 'c', epoch: 9 }),
          run('cart/a', 1),
          run('cart/x', 1, 1, { scope: 'b', epoch: 3 }),
          run('cart/b', 1, 2, { scope: 'b', epoch: 4 }),
          run('cart/y', 1, 1, { scope: 'never', epoch: 1 }),
          state('box/b', 0, 1, 'x', { scope: 'b', epoch: 4 }),
          run('cart/z', 2, 1, { scope: 'c', epoch: 9 }),
        ),
      ).toEqual(['stored', 'stored', 'fenced', 'stored', 'fenced', 'stored', 'conflict'])
      expect((await journal.heads(['cart/a', 'cart/b', 'cart/c', 'cart/x', 'cart/y', 'cart/z'])).map(({ seq }) => seq)).toEqual([1, 2, 1, 0, 0, 0])
    })

    test('a scope that was never raised has the epoch 0, and takes what names it', async () => {
      expect(await outcomes(run('cart/1', 1, 1, { scope: 'free', epoch: 0 }))).toEqual(['stored'])
      await (await open()).raise('free', 1)
      expect(await outcomes(run('cart/1', 2, 1, { scope: 'free', epoch: 0 }))).toEqual(['fenced'])
    })

    test('groups of two handles that have the same ids in another order are stored or refused, and all settle', async () => {
      const other = await open()
      const ids = Array.from({ length: 30 }, (_, i) => `cart/${i}`)
      for (let seq = 1; seq <= 5; seq++) {
        const both = await Promise.all([journal.append(ids.map((id) => run(id, seq))), other.append(ids.toReversed().map((id) => run(id, seq, 2)))])
        const [mine, theirs] = [both[0], both[1].toReversed()]
        const heads = await journal.heads(ids)
        for (const [i, head] of heads.entries()) {
          const ends = [mine[i]!.is, theirs[i]!.is]
          expect(ends.filter((is) => is === 'stored').length).toBeLessThanOrEqual(1)
          expect(head.seq).toBe(seq - 1 + (ends[0] === 'stored' ? 1 : ends[1] === 'stored' ? 2 : 0))
          // The next turn begins where all stand alike.
          if (head.seq < seq) expect((await journal.append([run(head.id, seq)]))[0]!.is).toBe('stored')
          if (head.seq > seq) return
        }
      }
    })

    test('an epoch that is raised while appends are under way: each is stored before it or not at all', async () => {
      const next = await open()
      const appending = Array.from({ length: 20 }, (_, i) => journal.append([run(`cart/${i}`, 1)]))
      await next.raise('default', 2)
      const heads = await next.heads(Array.from({ length: 20 }, (_, i) => `cart/${i}`))
      const ends = (await Promise.all(appending)).map(([outcome]) => outcome!.is)
      expect(heads.map(({ seq }) => (seq === 1 ? 'stored' : 'fenced'))).toEqual(ends)
      // Nothing comes in late.
      expect(await next.heads(heads.map(({ id }) => id))).toEqual(heads)
    })

    test('of two projections under one name each event is taken by one', async () => {
      await journal.append([run('cart/1', 1, 3)])
      const events = await found(journal)
      const rival = await open()
      const [from, to] = [events[0]!.offset, events[2]!.offset]
      expect(await journal.advance('totals', undefined, from, () => Promise.resolve())).toBe('stored')
      const ends = await Promise.all([journal, rival].map((one) => one.advance('totals', from, to, () => Promise.resolve())))
      expect(ends.toSorted()).toEqual(['conflict', 'stored'])
      expect(await rival.offset('totals')).toBe(to)
      expect(await found(rival, { after: await rival.offset('totals') })).toEqual([])
    })

    test('of many that give a subject its first key all get the same, and none brings an erased one back', async () => {
      const rivals = [journal, await open(), await open()]
      const keys = await Promise.all(rivals.map((one, i) => one.addKey('anna', new Uint8Array(32).fill(i + 1))))
      expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(1)
      await Promise.all([rivals[0]!.eraseKey('anna'), rivals[1]!.addKey('anna', new Uint8Array(32).fill(9))])
      expect(await Promise.all(rivals.map((one) => one.key('anna')))).toEqual(rivals.map(() => ({ is: 'erased' })))
    })

    test('a snapshot that is older than the two that are kept changes nothing', async () => {
      await journal.append([run('cart/1', 1, 30)])
      for (const seq of [20, 30, 10]) await journal.saveSnapshot({ id: 'cart/1', seq, version: 1, data: `${seq}`, time: seq, ...owner })
      expect((await journal.ids({ most: 10 }))[0]!.snapshots).toEqual([30, 20])
      await journal.saveSnapshot({ id: 'cart/1', seq: 25, version: 1, data: '25', time: 25, ...owner })
      expect((await journal.ids({ most: 10 }))[0]!.snapshots).toEqual([30, 25])
    })

    test('replay gives what was there when it began, whatever is written meanwhile', async () => {
      await journal.append([run('cart/1', 1, 50)])
      const seen: number[] = []
      for await (const part of journal.replay([{ id: 'cart/1', after: 0 }], 20)) {
        if ('damage' in part) throw part.damage
        seen.push(...part.events.map(({ time }) => time - 1000))
        if (seen.length === 20) await journal.append([run('cart/1', 51, 50)])
      }
      expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
    })

    test('an offset of another kind of journal is refused', async () => {
      await expect(found(journal, { after: 'somewhere' })).rejects.toMatchObject({ code: 'invalid-option' })
    })

    test('what cannot be a key fails alone', async () => {
      const [long, fine] = await journal.append([run(`cart/${'x'.repeat(5000)}`, 1), run('cart/1', 1)])
      expect(['failed', 'stored']).toContain(long!.is)
      expect(fine!.is).toBe('stored')
    })

    test('after many groups nothing of them stays in memory', async () => {
      const data = JSON.stringify({ text: 'x'.repeat(2000) })
      const append = async (round: number): Promise<void> => {
        const group = Array.from({ length: 100 }, (_, i) => run(`cart/${i}`, round, 0, { events: [event(round, { data })] }))
        expect(new Set((await journal.append(group)).map(({ is }) => is))).toEqual(new Set(['stored']))
        for await (const part of journal.replay(
          group.map(({ id }) => ({ id, after: round - 1 })),
          100,
        ))
          expect('damage' in part).toBe(false)
      }
      for (let round = 1; round <= 5; round++) await append(round)
      const before = await settledHeap()
      for (let round = 6; round <= 55; round++) await append(round)
      // 5,000 events of 2 kB were stored and read: what is kept of them would be 10 MB and more.
      if (!keepsInMemory) expect((await settledHeap()) - before).toBeLessThan(5_000_000)
    })

    test('closed, it refuses what is asked of it; closing twice is fine', async () => {
      const other = await open()
      await other.close()
      await other.close()
      await expect(other.heads(['cart/1'])).rejects.toMatchObject({ code: 'journal-unavailable' })
      await expect(other.raise('default', 9)).rejects.toMatchObject({ code: 'journal-unavailable' })
      expect((await other.append([run('cart/1', 1)])).map((outcome) => outcome.is)).toEqual(['failed'])
      expect((await journal.heads(['cart/1']))[0]!.seq).toBe(0)
    })
  })
}
