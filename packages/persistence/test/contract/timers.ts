// Timers, which change with a write.

import { expect, test } from 'vitest'
import type { DueTimer, TimerChange } from '@troupe/persistence'
import { run, type Stage, state } from './stage.ts'

export function timersContract(stage: Stage): void {
  test('timers change with the write that names them, and are found soonest first', async () => {
    const { journal, open } = stage
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
    const { journal } = stage
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
}
