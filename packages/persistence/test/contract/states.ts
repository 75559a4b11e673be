// States that are kept as a whole; ids as they are listed, with both sorts.

import { expect, test } from 'vitest'
import { owner, run, type Stage, state } from './stage.ts'

export function statesContract(stage: Stage): void {
  test('a state is replaced where it stands at the revision that was expected', async () => {
    const { journal, outcomes } = stage
    expect(await outcomes(state('box/1', 0, 3, 'three'), state('box/2', 1, 2, 'x'))).toEqual(['stored', 'conflict'])
    expect(await outcomes(state('box/1', 0, 1, 'x'))).toEqual(['conflict'])
    expect(await outcomes(state('box/1', 3, 4, undefined, { version: 2, subject: 'anna' }))).toEqual(['stored'])
    const [head, none] = await journal.heads(['box/1', 'box/2'])
    expect(head!.state).toEqual({ revision: 4, version: 2, data: undefined, subject: 'anna', time: 5 })
    expect(none!.state).toBeUndefined()
    expect(await outcomes(state('box/1', 4, 5, 'five'))).toEqual(['stored'])
    expect((await journal.heads(['box/1']))[0]!.state).toMatchObject({ revision: 5, data: 'five' })
  })

  test('ids are listed in order, by kind, page by page, and counted', async () => {
    const { journal } = stage
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
}
