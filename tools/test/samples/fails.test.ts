import { beforeAll, describe, expect, test } from 'vitest'

test('fails', () => expect({ a: 1 }).toEqual({ a: 2 }))
describe('a suite that cannot be set up', () => {
  beforeAll(() => {
    throw new Error('the set-up broke')
  })
  test('is not run', () => {})
})
