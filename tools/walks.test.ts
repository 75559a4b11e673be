// The walks, rooms and questions of ARCHITECTURE.md lead to files, functions and folders that exist, and no room is left out: whoever renames
// one or builds another learns of it here.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const walks = text.slice(text.indexOf('## Three walks'), text.indexOf('## Where is'))

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

const questions = [...text.slice(text.indexOf('## Where is')).matchAll(/^\| (.*\?) \| `([^`]+)` \|$/gm)].map(
  ([, question, file]) => [question!, file!] as const,
)

test('there are twelve questions', () => {
  expect(questions).toHaveLength(12)
})

test.each(questions)('%s: %s', (_question, file) => {
  expect(existsSync(join(root, 'packages', file))).toBe(true)
})

test('the plan names the rooms that are there, and all of them', () => {
  const table = text.slice(text.indexOf('## Rooms'), text.indexOf('## Three walks'))
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].filter(([, where]) => where !== 'node/src/io' && where !== 'testkit/src')
  expect(rows.length).toBeGreaterThanOrEqual(6)
  for (const [, where, rooms] of rows) {
    const named = rooms!.replaceAll(/ ?\([^)]*\)/g, '').split(' · ')
    const found = readdirSync(join(root, 'packages', where!), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect({ where, rooms: named.toSorted() }).toEqual({ where, rooms: found.map((entry) => entry.name).toSorted() })
  }
})
