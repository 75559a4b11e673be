// The long run of values and bytes, made short: that it starts, finds its modules and finds nothing.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('npm run fuzz:border sends values, feeds the reader bytes and tells how much of it they ran through', async () => {
  const main = fileURLToPath(new URL('./fuzz/border.mjs', import.meta.url))
  const out = await new Promise<string>((resolve) =>
    execFile(process.execPath, ['--expose-gc', main, '--values', '40', '--inputs', '300', '--measured', '2'], (error, stdout, stderr) =>
      resolve(error === null ? stdout : `${stdout}${stderr}`),
    ),
  )
  expect(out).toContain('values that arrived as others: 0')
  expect(out).toMatch(/other errors 0\n/)
  expect(out).toMatch(/reader: \d+ of \d+ lines run by 300 inputs/)
})
