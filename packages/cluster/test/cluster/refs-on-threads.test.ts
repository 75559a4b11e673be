// Refs of sharded actors on other threads: good as long as they are held there, and not kept after.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a ref of a sharded actor is kept for other threads until none of them holds it, also where one passed it to another', async () => {
  const program = fileURLToPath(new URL('../threads/exports.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program])
  expect(stdout.trim().split('\n')).toEqual(['most given back true', 'most given back true', 'messages to the kept ref 1'])
})
