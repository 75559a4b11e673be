// What `npm test` and `npm run test:repeat` make of a run: tried on files of tests that fail, print and die.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realTimeFiles } from './test/real-time.mjs'
import { failureLines, summaryOf } from './test/results.mjs'
import { root, runVitest } from './test/run-vitest.mjs'

const samples = (...names: string[]): string[] => ['--root', join(root, 'tools/test/samples'), ...names]

test('a run reports passed, failed and skipped tests, broken set-ups, dead processes and everything that was printed', async () => {
  const progress: number[][] = []
  const result = await runVitest(samples(), { timeoutMs: 60_000, onProgress: (...all) => progress.push(all) })
  expect(result).toMatchObject({ ok: false, passed: 2, failed: 1, skippedLines: ['SKIPPED: tests that need what is not there'] })
  const failures = failureLines(result.failures).join('\n')
  expect(failures).toContain('  fails.test.ts: fails\n    expected { a: 1 } to deeply equal { a: 2 }')
  expect(failures).toContain('  fails.test.ts: a suite that cannot be set up\n    the set-up broke')
  expect(failures).toContain('  dies.test.ts\n    its process died in or before')
  expect(result.report).toContain('-   "a": 2,')
  expect(result.output).toContainEqual({ source: 'prints.test.ts > prints', text: 'to the console' })
  expect(result.output).toContainEqual({ source: 'a test process', text: 'to the stream' })
  expect(progress.at(-1)).toEqual([3, 4, 1])
  expect(result.files.map(({ file }) => file).toSorted()).toEqual(['fails.test.ts', 'passes.test.ts', 'prints.test.ts'])
})

test('a run that passes is silent and has its skipped tests counted', async () => {
  expect(await runVitest(samples('passes'), { timeoutMs: 60_000 })).toMatchObject({
    ok: true,
    passed: 1,
    skipped: 1,
    output: [],
    report: '',
    failures: [],
  })
})

test('a run of no file is a failure that says so', async () => {
  const { ok, failures } = await runVitest(samples('no-such-file'), { timeoutMs: 60_000 })
  expect(ok).toBe(false)
  expect(failures).toMatchObject([{ message: expect.stringContaining('Vitest ended with 1') as string }])
})

test('several runs are summed up by test and message, most failures first', () => {
  const lines = [
    { failures: [] },
    { failures: [{ file: 'a.test.ts', test: 'x', message: 'one\nmore' }] },
    {
      failures: [
        { file: 'b.test.ts', test: 'y', message: 'two' },
        { file: 'a.test.ts', test: 'x', message: 'other' },
      ],
    },
  ]
  expect(summaryOf(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))).toBe(
    ['3 runs, 2 tests failed at least once', '  2 × a.test.ts: x', '      1 × one', '      1 × other', '  1 × b.test.ts: y', '      1 × two'].join(
      '\n',
    ),
  )
})

test('files that depend on real time are found by what they and the tests beside them use', () => {
  const found = realTimeFiles()
  // By what they use themselves, by what they import, and not at all: on virtual time.
  expect(found).toContain('packages/cli/test/command.test.ts')
  expect(found).toContain('examples/airlift/test/cluster.test.ts')
  expect(found).not.toContain('packages/core/src/deciders/recent-times.test.ts')
  expect(found).not.toContain('packages/core/test/supervisor/control.test.ts')
})
