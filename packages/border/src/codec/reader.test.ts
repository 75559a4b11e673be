// The reader is total: whatever the bytes are, it returns a value or refuses them. More of them: npm run fuzz:border.

import { expect, test } from 'vitest'
import { BytesFuzz, evil } from '../../../node/dist-test/bytes.js'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const codec = { Reader, Writer } as never

test.each(evil.map((bytes) => Buffer.from(bytes).toString('hex')))('%s is refused, and nothing is taken for it', (hex) => {
  const reader = new Reader({ readRef: () => undefined, readFreight: () => [] })
  reader.begin(Buffer.from(hex, 'hex'))
  const before = process.memoryUsage().arrayBuffers
  let outcome: unknown
  try {
    outcome = reader.value()
  } catch (cause) {
    expect(cause).toMatchObject({ code: 'bad-record' })
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024)
  // A length is a length of an array without elements, or of nothing at all.
  if (outcome !== undefined) expect(Object.keys(outcome as object)).toEqual([])
})

test('random and mutated bytes are read or refused, and do nothing else', () => {
  const seed = Date.now() % 2 ** 31
  const fuzz = new BytesFuzz(codec, seed, undefined)
  fuzz.run(20_000, Infinity)
  const { inputs, values, refused, others, firstOther } = fuzz.report
  expect({ seed, others, firstOther }).toEqual({ seed, others: 0, firstOther: undefined })
  expect(inputs).toBe(20_000)
  // Both happen often, or it would try nothing.
  expect(values).toBeGreaterThan(500)
  expect(refused).toBeGreaterThan(5_000)
})

test('what is nested as deep as there are bytes is read', () => {
  const reader = new Reader({ readRef: () => undefined, readFreight: () => [] })
  const depth = 200_000
  reader.begin(Buffer.concat([...Array.from({ length: depth }, () => Buffer.from([11, 1])), Buffer.from([1])]))
  let at = reader.value()
  let levels = 0
  while (Array.isArray(at)) {
    at = at[0]
    levels++
  }
  expect(levels).toBe(depth)
})
