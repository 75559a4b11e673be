// One of each kind, for tools/runtimes.test.ts: not part of the suite.

import { afterEach, describe, expect, test } from 'vitest'

let hooks = 0
afterEach(() => void hooks++)

test('passes', () => expect({ a: [1, { b: 2 }] }).toMatchObject({ a: [1, { b: expect.any(Number) as number }] }))
test.each([1, 2])('passes for %d', async (n) => {
  await expect(Promise.reject(new RangeError(`no ${n}`))).rejects.toThrow(`no ${n}`)
})
test('hooks ran', () => expect(hooks).toBe(3))
test('fails', () => expect(1 + 1).toBe(3))
test('lets an error escape', async () => {
  void Promise.reject(new Error('nobody caught this'))
  await new Promise((resolve) => setTimeout(resolve, 1))
})
test.skipIf(hooks === 0)('skips itself', () => {})
describe('what is known', () => {
  test('cannot work here', () => expect(true).toBe(false))
})
