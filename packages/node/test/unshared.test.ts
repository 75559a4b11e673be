// A host that really has no shared memory, in a process of its own.

import { expect, test } from 'vitest'
import { outputOf } from './own-process.ts'

test('without shared memory threads talk by ports, and asking for it is refused', async () => {
  const out = await outputOf('unshared-main.js', [], ['--enable-sharedarraybuffer-per-context'])
  expect(JSON.parse(out)).toEqual({ shares: false, refused: 'not-allowed', counts: [5000, 5000], unknown: 0 })
})
