// Snapshots, and events that are deleted because one stands for them.

import { expect, test } from 'vitest'
import { found, owner, places, replayed, run, type Stage } from './stage.ts'

export function snapshotsContract(stage: Stage): void {
  test('the last two snapshots are kept', async () => {
    const { journal } = stage
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
    const { journal, open, outcomes } = stage
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
    const again = (stage.journal = await open())
    expect((await again.heads(['cart/1']))[0]).toMatchObject({ seq: 20, deleted: 20 })
    expect(await outcomes(run('cart/1', 1))).toEqual(['conflict'])
    expect(await outcomes(run('cart/1', 21))).toEqual(['stored'])
    expect((await replayed(again, [{ id: 'cart/1', after: 0 }])).get('cart/1')).toHaveLength(1)
    expect((await again.verify()).damages).toEqual([])
  })

  test('a snapshot that is older than the two that are kept changes nothing', async () => {
    const { journal } = stage
    await journal.append([run('cart/1', 1, 30)])
    for (const seq of [20, 30, 10]) await journal.saveSnapshot({ id: 'cart/1', seq, version: 1, data: `${seq}`, time: seq, ...owner })
    expect((await journal.ids({ most: 10 }))[0]!.snapshots).toEqual([30, 20])
    await journal.saveSnapshot({ id: 'cart/1', seq: 25, version: 1, data: '25', time: 25, ...owner })
    expect((await journal.ids({ most: 10 }))[0]!.snapshots).toEqual([30, 25])
  })
}
