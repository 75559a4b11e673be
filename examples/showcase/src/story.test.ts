import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { tellStory } from './story.ts'

test('the shop survives every failure of the story, and each order ends as paid or refused', async () => {
  const kit = createTestKit()
  const trees: string[] = []
  const { sales, refused, total } = await tellStory(kit.system, {
    chapter: () => {},
    line: () => {},
    tree: (text) => trees.push(text),
    wait: (ms) => kit.advance(ms),
  })

  expect([...sales, ...refused].map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  expect(refused.map(({ id }) => id)).toEqual([6, 9])
  // What the books say is what the customers were told: no sale was lost or made twice by a restart.
  expect(total).toEqual({ sales: sales.length, cents: sales.reduce((sum, sale) => sum + sale.cents, 0) })
  expect(new Set(sales.map((sale) => sale.receipt)).size).toBe(sales.length)

  expect(trees.some((tree) => /gateway +restarting/.test(tree))).toBe(true)
  expect(trees.some((tree) => /payments +restarting/.test(tree))).toBe(true)
  expect(trees.at(-1)).not.toMatch(/restarting|failed|stopping/)
  expect(trees.at(-1)).toMatch(/worker-3 +running/)

  expect(kit.logs.map(({ fields }) => fields['directive'])).toContain('escalate')
  expect(kit.system.deadLetters.list().map(({ recipient, reason }) => `${recipient?.path} ${reason}`)).toEqual([
    '/user/shop/orders/worker-3 stopped',
    '/user/shop/payments/gateway stopped',
  ])
  await kit.end()
})
