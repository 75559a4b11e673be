// A kind that no node hosts, asked from a thread: who asks there hears it, too.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('an ask that comes from a thread is rejected by an error that says that no node hosts the kind', async () => {
  const program = fileURLToPath(new URL('../threads/unhosted.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  const lines = stdout.trim().split('\n')
  expect(lines).toHaveLength(2)
  for (const line of lines)
    expect(line).toMatch(/^kind-not-hosted: Cannot ask an actor of greeter: no node of shop with the role greeters has registered greeter/)
})
