// How tests are run on other runtimes: that each is counted once whatever becomes of it, that no file is left out, and that the table
// keeps what was not run again. The runs themselves are `npm run test:runtimes`.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagePaths, root } from './markdown.ts'
import { bundle } from './runtimes/bundle.mjs'
import { known } from './runtimes/known.mjs'
import { runFiles } from './runtimes/processes.mjs'
import { ioNames, suiteOf, testFiles } from './runtimes/suites.mjs'
import { withTable } from './runtimes/table.mjs'
import type { Tally } from './runtimes/tally.mjs'

test('a test is passed, failed or skipped, with its reason, also when an error escapes or its process dies', async () => {
  const files = ['mixed', 'dies'].map((name) => `tools/runtimes/samples/${name}.test.ts`)
  const folder = join(root, 'tools/runtimes/dist', `samples-${process.pid}`)
  const tallies = new Map<string, Tally>()
  try {
    const bundled = await bundle(files, 'process', folder)
    const knownOf = (): { test: string; note: string }[] => [{ test: 'what is known > cannot work here', note: 'lacks it' }]
    await runFiles([process.execPath], files, bundled, knownOf, (file, tally) => void tallies.set(file, tally))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const [mixed, dead] = files.map((file) => tallies.get(file)!)
  expect(mixed).toMatchObject({ tests: 8, passed: 4, failed: 2, skipped: 2 })
  expect([...mixed!.notes]).toEqual([
    ['skipped by the test itself', 1],
    ['lacks it', 1],
  ])
  expect([...mixed!.met]).toEqual(['what is known > cannot work here'])
  expect(mixed!.failures).toEqual([
    expect.stringMatching(/^fails\n.*expected 2 to be 3/s),
    expect.stringMatching(/^lets an error escape\n.*nobody caught/s),
  ])
  expect(dead).toMatchObject({ tests: 3, passed: 1, failed: 2, skipped: 0 })
  expect(dead!.failures).toEqual([expect.stringMatching(/code 3.*in "takes its process along"; 2 tests did not end/s)])
})

test('every file of tests is in a suite, and the names that say which still exist', () => {
  const suites = testFiles().map(suiteOf)
  expect(new Set(suites)).toEqual(new Set(['core', 'threads', 'io', 'journal']))
  for (const name of ioNames) expect(testFiles()).toContain(`packages/node/test/${name}.test.ts`)
  for (const { file } of known) expect(existsSync(join(root, file)) && testFiles().includes(file)).toBe(true)
})

test('the table takes new rows, keeps those of runtimes that did not run, and says what was never tried', () => {
  const places = ['Node 20', 'Bun'].flatMap((title) => ['core', 'io'].map((suite) => [title, suite] as const))
  const page = 'before\n<!-- npm run test:runtimes -- --write -->\n<!-- end -->\nafter\n'
  const first = withTable(page, [['Bun', '1.0.0', 'core', '1', '0', '0', '']], places)
  const rows = [
    ['Bun', '1.0.1', 'io', '5', '0', '1', '1 lacks it'],
    ['Node 20', '20.1.0', 'core', '2', '0', '0', ''],
  ]
  const table = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('|'))
  expect(table(withTable(first, rows, places)).slice(2)).toEqual([
    '| Node 20 | 20.1.0 | core | 2 | 0 | 0 |  |',
    '| Node 20 |  | io |  |  |  | not tried |',
    '| Bun | 1.0.0 | core | 1 | 0 | 0 |  |',
    '| Bun | 1.0.1 | io | 5 | 0 | 1 | 1 lacks it |',
    '| Windows |  | all |  |  |  | not tried |',
    '| macOS |  | all |  |  |  | not tried |',
  ])
  expect(withTable(withTable(first, rows, places), rows, places)).toBe(withTable(first, rows, places))
  expect(() => withTable('no marks', rows, places)).toThrow('no place for the table')
})

test('the rows of the docs add up: on every runtime a suite has the same number of tests', () => {
  expect(pagePaths()).toContain('docs/guide/runtimes.md')
  const sums = new Map<string, Set<number>>()
  for (const line of readFileSync(join(root, 'docs/guide/runtimes.md'), 'utf8').split('\n')) {
    const [, version, suite, ...cells] = line.slice(2, -2).split(' | ')
    if (!line.startsWith('| ') || !/^\d/.test(version ?? '')) continue
    const sum = cells.slice(0, 3).reduce((total, cell) => total + Number(cell), 0)
    sums.set(suite!, (sums.get(suite!) ?? new Set()).add(sum))
  }
  expect([...sums].map(([suite, found]) => [suite, found.size])).toEqual([...sums.keys()].map((suite) => [suite, 1]))
  expect([...sums.keys()].toSorted()).toEqual(['core', 'echo', 'io', 'journal', 'threads'])
})
