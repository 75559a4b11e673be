// A host that really has no shared memory, in a process of its own.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('without shared memory threads talk by ports, and asking for it is refused', async () => {
  const main = fileURLToPath(new URL('../dist-test/unshared-main.js', import.meta.url))
  const args = ['--enable-sharedarraybuffer-per-context', main]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 })
  expect(JSON.parse(stdout)).toEqual({ shares: false, refused: 'not-allowed', counts: [5000, 5000], unknown: 0 })
})
