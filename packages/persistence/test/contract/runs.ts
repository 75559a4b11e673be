// What is stored is there, whole and without a gap: runs and groups of them, and how they are read back.

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { all, environment, event, found, owner, places, replayed, run, settledHeap, type Stage } from './stage.ts'

export function runsContract(stage: Stage): void {
  test('its identity is the same for every handle, and another for another store', async () => {
    const { journal, open } = stage
    const other = await stage.make()
    const foreign = await other.source.open(environment)
    expect((await open()).identity).toBe(journal.identity)
    expect(foreign.identity).not.toBe(journal.identity)
    await foreign.close()
    await other.dispose()
  })

  test('what was stored is there for the next handle, with all its fields', async () => {
    const { journal, open, outcomes } = stage
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

  test('one that hands over says so once, before a group is stored', async () => {
    const { journal } = stage
    const said: string[] = []
    const appending = journal.append([run('cart/1', 1, 3)], () => void said.push('handed'))
    await appending.then(() => said.push('stored'))
    expect(said).toEqual(journal.handsOver === true ? ['handed', 'stored'] : ['stored'])
  })

  test('a group of many ids is stored whole, and each id goes on where it stands', async () => {
    const { journal, outcomes } = stage
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
    const { journal, outcomes } = stage
    const ids = ['a/1', 'a/10', 'a/1\u0000', 'a/1 ', 'ä/1', 'a/1/2', `a/${'x'.repeat(400)}`, 'a/😀', "a/'; drop table events; --"]
    expect(new Set(await outcomes(...ids.map((id, i) => run(id, 1, i + 1))))).toEqual(new Set(['stored']))
    expect((await journal.heads(ids)).map(({ seq }) => seq)).toEqual(ids.map((_, i) => i + 1))
    for (const [i, id] of ids.entries()) expect((await replayed(journal, [{ id, after: 0 }])).get(id)).toHaveLength(i + 1)
    expect((await journal.ids({ most: 100 })).map(({ id }) => id).sort()).toEqual([...ids].sort())
  })

  test('a run that does not follow on is a conflict, and leaves nothing', async () => {
    const { journal, outcomes } = stage
    expect(await outcomes(run('cart/1', 1, 2), run('cart/2', 2))).toEqual(['stored', 'conflict'])
    expect(await outcomes(run('cart/1', 2), run('cart/2', 1))).toEqual(['conflict', 'stored'])
    expect(await outcomes(run('cart/1', 4))).toEqual(['conflict'])
    expect(await outcomes(run('cart/1', 2, 5))).toEqual(['conflict'])
    expect((await journal.heads(['cart/1', 'cart/2'])).map(({ seq }) => seq)).toEqual([2, 1])
    expect(places(await found(journal)).sort()).toEqual(['cart/1#1', 'cart/1#2', 'cart/2#1'])
  })

  test('of two handles that write the same number one is stored', async () => {
    const { journal, open } = stage
    const other = await open()
    const both = await Promise.all([journal.append([run('cart/1', 1)]), other.append([run('cart/1', 1)])])
    expect(both.map(([outcome]) => outcome!.is).sort()).toEqual(['conflict', 'stored'])
  })

  test('replay reads as it is asked, in batches, and can be left early', async () => {
    const { journal } = stage
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

  test('a run as large as the limits allow, and a larger one alone, are stored', async () => {
    const { journal, outcomes } = stage
    const data = JSON.stringify({ text: randomUUID().repeat(3000) })
    const count = Math.ceil(journal.limits.bytes / data.length) + 1
    expect(await outcomes(run('cart/1', 1, 0, { events: Array.from({ length: count }, (_, i) => event(i + 1, { data })) }))).toEqual(['stored'])
    expect((await replayed(journal, [{ id: 'cart/1', after: 0 }], 5)).get('cart/1')!.every((stored) => stored.data === data)).toBe(true)
  })

  test('groups of two handles that have the same ids in another order are stored or refused, and all settle', async () => {
    const { journal, open } = stage
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

  test('replay gives what was there when it began, whatever is written meanwhile', async () => {
    const { journal } = stage
    await journal.append([run('cart/1', 1, 50)])
    const seen: number[] = []
    for await (const part of journal.replay([{ id: 'cart/1', after: 0 }], 20)) {
      if ('damage' in part) throw part.damage
      seen.push(...part.events.map(({ time }) => time - 1000))
      if (seen.length === 20) await journal.append([run('cart/1', 51, 50)])
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
  })

  test('what cannot be a key fails alone', async () => {
    const { journal } = stage
    const [long, fine] = await journal.append([run(`cart/${'x'.repeat(5000)}`, 1), run('cart/1', 1)])
    expect(['failed', 'stored']).toContain(long!.is)
    expect(fine!.is).toBe('stored')
  })

  test('after many groups nothing of them stays in memory', async () => {
    const { journal } = stage
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
    if (!stage.keepsInMemory) expect((await settledHeap()) - before).toBeLessThan(5_000_000)
  })

  test('P8: a journal that is written to, and trimmed, while it is verified is not taken for a damaged one', async () => {
    const { journal } = stage
    const ids = Array.from({ length: 300 }, (_, i) => `cart/${i}`)
    const write = async (round: number): Promise<void> => {
      await journal.append([...ids, ...(round > 5 ? [`cart/new${round}`] : [])].map((id) => run(id, id.includes('new') ? 1 : round)))
    }
    for (let round = 1; round <= 5; round++) await write(round)
    const standing = { over: false }
    const verifying = journal.verify().finally(() => (standing.over = true))
    for (let round = 6; !standing.over && round < 14; round++) {
      await write(round)
      await journal.deleteEvents('cart/7', round - 5, owner)
    }
    const verified = await verifying
    expect(verified.damages).toEqual([])
    expect(verified.ids).toBeGreaterThanOrEqual(300)
    expect(verified.events).toBeGreaterThanOrEqual(299 * 5)
  })

  test('closed, it refuses what is asked of it; closing twice is fine', async () => {
    const { journal, open } = stage
    const other = await open()
    await other.close()
    await other.close()
    await expect(other.heads(['cart/1'])).rejects.toMatchObject({ code: 'journal-unavailable' })
    await expect(other.raise('default', 9)).rejects.toMatchObject({ code: 'journal-unavailable' })
    expect((await other.append([run('cart/1', 1)])).map((outcome) => outcome.is)).toEqual(['failed'])
    expect((await journal.heads(['cart/1']))[0]!.seq).toBe(0)
  })
}
