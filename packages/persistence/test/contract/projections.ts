// What a journal knows of projections: all of them by name, and what deleting events waits for.

import { listProjections, removeProjection } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { heldBack, registerProjection } from '../../src/journal/projections.ts'
import { event, found, run, type Stage } from './stage.ts'

export function projectionsContract(stage: Stage): void {
  test('events that a projection reads and has not handled are held back, until it has or is removed', async () => {
    const { journal, open } = stage
    const held = (id: string, target: number): ReturnType<typeof heldBack> => heldBack(journal, id, 0, target)
    await journal.append([run('cart/1', 1, 10), run('order/1', 1, 3, { events: [event(1), event(2, { tags: ['large'] }), event(3)] })])
    expect(await held('cart/1', 8)).toBeUndefined()
    await registerProjection(journal, 'carts', { kind: 'cart' }, false)
    await registerProjection(journal, 'large', { tag: 'large' }, false)
    expect(await held('cart/1', 8)).toEqual({ projection: 'carts', upTo: 0 })
    // One that reads a tag holds back nothing before that, and one of another kind nothing at all.
    expect(await held('order/1', 3)).toEqual({ projection: 'large', upTo: 1 })
    const carts = (await found(journal, { kind: 'cart' })).map(({ offset }) => offset)
    expect(await journal.advance('carts', undefined, carts[3]!, () => Promise.resolve())).toBe('stored')
    expect(await held('cart/1', 8)).toEqual({ projection: 'carts', upTo: 4 })
    expect(await held('cart/1', 4)).toBeUndefined()
    const [large] = await found(journal, { tag: 'large' })
    expect(await journal.advance('large', undefined, large!.offset, () => Promise.resolve())).toBe('stored')
    expect(await held('order/1', 3)).toBeUndefined()
    const other = await open()
    expect(await listProjections(other)).toEqual([
      { projection: 'carts', kind: 'cart', tag: undefined, offset: carts[3] },
      { projection: 'large', kind: undefined, tag: 'large', offset: large!.offset },
    ])
    expect(await removeProjection(other, 'carts')).toBe(true)
    expect(await removeProjection(other, 'carts')).toBe(false)
    expect(await held('cart/1', 8)).toBeUndefined()
    expect((await listProjections(journal)).map(({ projection }) => projection)).toEqual(['large'])
  })
}
