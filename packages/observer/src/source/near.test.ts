// Which paths are suggested where there is no actor of one.

import { expect, test } from 'vitest'
import { nearPaths } from './near.ts'

const actors = [
  '/user',
  '/user/shop',
  '/user/shop/cart',
  '/user/shop/cart-2',
  '/user/depot/cart',
  '/user/shop/till',
  '/user/$7',
  '/user/billing',
].map((path) => ({ path }))

test.each([
  ['cart', ['/user/shop/cart', '/user/depot/cart']],
  ['/user/cart', ['/user/shop/cart', '/user/depot/cart']],
  ['shop/cart', ['/user/shop/cart', '/user/depot/cart']],
  ['/user/shop/Till', ['/user/shop/till']],
  ['/user/shop/tlil', ['/user/shop/till']],
  ['/user/shp/till', ['/user/shop/till']],
  ['/user/shop/cart-3', ['/user/shop/cart-2']],
  ['/user/biling', ['/user/billing']],
  ['user/billing', ['/user/billing']],
  ['/user/nothing-like-it', []],
  ['', []],
  ['/', []],
])('%s', async (wanted, near) => {
  expect(await nearPaths(wanted, actors)).toEqual(near)
})

test('at most five, and others have their turns while many are compared', async () => {
  let turns = 0
  let over = false
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const many = Array.from({ length: 5000 }, (_, i) => ({ path: `/user/worker-${i}` }))
  expect(await nearPaths('/user/worker-12x', many)).toHaveLength(5)
  over = true
  expect(turns).toBeGreaterThan(3)
})
