// The walks of ARCHITECTURE.md lead through files and functions that exist: whoever renames one learns of it here.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const walks = text.slice(text.indexOf('## Three walks'), text.indexOf('**The ledger**'))

/** Each step: a file, and the functions that are named after it up to the next file. */
const steps = [...walks.matchAll(/`([a-z-]+\/src\/[\w/.-]+\.ts)` → ((?:`\w+`(?:, )?)+)/g)].map(([, file, names]) => ({
  file: file!,
  names: [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
}))

test('the walks are read', () => {
  expect(steps.length).toBeGreaterThanOrEqual(24)
})

test.each(steps)('$file has $names', ({ file, names }) => {
  const path = join(root, 'packages', file)
  expect(existsSync(path)).toBe(true)
  const source = readFileSync(path, 'utf8')
  for (const name of names) expect(source).toMatch(new RegExp(`(function |^  (override |readonly |async |private )*)${name}(\\(|<| = )`, 'm'))
})

test('the rooms that the plan names are there', () => {
  const table = text.slice(text.indexOf('## Rooms'), text.indexOf('## Three walks'))
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].filter(([, where]) => where !== 'node/src/io' && where !== 'testkit/src')
  expect(rows.length).toBe(4)
  for (const [, where, rooms] of rows)
    for (const room of rooms!.replaceAll(/ ?\([^)]*\)/g, '').split(' · '))
      expect(existsSync(join(root, 'packages', where!, room)), `${where}/${room}`).toBe(true)
})
