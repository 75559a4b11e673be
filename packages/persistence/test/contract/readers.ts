// Events in the order of all, by tag and kind; projections that stand somewhere in it.

import { expect, test } from 'vitest'
import { all, event, found, places, run, type Stage } from './stage.ts'

export function readersContract(stage: Stage): void {
  test('events are found by tag and by kind, after an offset, those of one id in order', async () => {
    const { journal } = stage
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
    const { journal, open } = stage
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
    const last: string[] = []
    let isRead: () => void = () => undefined
    const whole = new Promise<void>((resolve) => (isRead = resolve))
    const closing = (async () => {
      for await (const batch of other.events({ batch: 10 })) if (last.push(...places(batch)) === 4) isRead()
    })()
    await whole
    await other.close()
    await closing
    expect(last).toHaveLength(4)
  })

  test('a reader beside many writers misses nothing and sees nothing twice', async () => {
    const { journal, open } = stage
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

  test('an offset of another kind of journal is refused', async () => {
    const { journal } = stage
    await expect(found(journal, { after: 'somewhere' })).rejects.toMatchObject({ code: 'invalid-option' })
  })

  test('a projection moves on from where it stands, after its work', async () => {
    const { journal, open } = stage
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

  test('of two projections under one name each event is taken by one', async () => {
    const { journal, open } = stage
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
}
