// What holds for rings alone; what holds for every stream between threads is tested with the medium.

import { expect, test } from 'vitest'
import { ByteRing, makeRing } from './ring.ts'

test('the positions wrap at 2³²', () => {
  const memory = makeRing(64)
  // As after four gigabytes.
  new Int32Array(memory, 0, 2).fill(-5)
  const ring = new ByteRing(memory)
  for (let i = 0; i < 20; i++) {
    expect(ring.write(new Uint8Array([i, i, i]), 0, 3)).toBe(3)
    expect([...ring.next()!.subarray(0, ring.frameLength)]).toEqual([i, i, i])
  }
  expect(ring.used).toBe(0)
})
