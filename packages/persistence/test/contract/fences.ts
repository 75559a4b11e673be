// Who may write: epochs, scopes, and what is under way when another takes over.

import { expect, test } from 'vitest'
import { owner, run, type Stage, state } from './stage.ts'

export function fencesContract(stage: Stage): void {
  test('a raised fence refuses what has an earlier epoch, for that scope alone', async () => {
    const { journal, open, outcomes } = stage
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
    const { journal, open } = stage
    const other = await open()
    await journal.raise('default', 1)
    await expect(other.raise('default', 1)).rejects.toMatchObject({ code: 'fence-lost', scope: 'default', epoch: 1 })
    await other.raise('default', 2)
    await expect(journal.raise('default', 2)).rejects.toMatchObject({ code: 'fence-lost', epoch: 2 })
    await expect(journal.raise('default', 1)).rejects.toMatchObject({ code: 'fence-lost', epoch: 2 })
    await other.raise('default', 2)
  })

  test('of many that raise to the same epoch at once one succeeds', async () => {
    const { journal, open } = stage
    const rivals = [journal, await open(), await open(), await open()]
    const ends = await Promise.allSettled(rivals.map((rival) => rival.raise('default', 7)))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await journal.epoch('default')).toBe(7)
  })

  test('a takeover leaves no gap: what the old owner had stored by then is seen, what it had not is refused', async () => {
    const { journal, open } = stage
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

  test('a group of several scopes: each write is let in by its own', async () => {
    const { journal, open, outcomes } = stage
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
    const { open, outcomes } = stage
    expect(await outcomes(run('cart/1', 1, 1, { scope: 'free', epoch: 0 }))).toEqual(['stored'])
    await (await open()).raise('free', 1)
    expect(await outcomes(run('cart/1', 2, 1, { scope: 'free', epoch: 0 }))).toEqual(['fenced'])
  })

  test('an epoch that is raised while appends are under way: each is stored before it or not at all', async () => {
    const { journal, open } = stage
    const next = await open()
    const appending = Array.from({ length: 20 }, (_, i) => journal.append([run(`cart/${i}`, 1)]))
    await next.raise('default', 2)
    const heads = await next.heads(Array.from({ length: 20 }, (_, i) => `cart/${i}`))
    const ends = (await Promise.all(appending)).map(([outcome]) => outcome!.is)
    expect(heads.map(({ seq }) => (seq === 1 ? 'stored' : 'fenced'))).toEqual(ends)
    // Nothing comes in late.
    expect(await next.heads(heads.map(({ id }) => id))).toEqual(heads)
  })
}
