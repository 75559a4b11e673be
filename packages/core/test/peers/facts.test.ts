// Holds facts.ts to the tests that it names, and to the tables and sums of docs/coming-from. Titles and cases are looked for as
// they are written in the files, so one that is changed there must be changed here.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { otp, pekko, type Suite, sumOf, type Verdict } from './facts.ts'

const here = new URL('./', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, here), 'utf8')
const tests = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts') && name !== 'facts.test.ts')
  .map((name) => read(name))
  .join('\n')

const verdicts = (suites: Readonly<Record<string, Suite>>): [string, string, Verdict][] =>
  Object.entries(suites).flatMap(([suite, cases]) =>
    Object.entries(cases).map(([name, verdict]): [string, string, Verdict] => [suite, name, verdict]),
  )

test('each test beside this file names a case that is listed as kept', () => {
  const all: Readonly<Record<string, Suite>> = { ...otp, ...pekko }
  const origins = [...tests.matchAll(/fact\(\s*['"]([A-Za-z_]+): (.+?)['"],/g)]
  expect(origins.length).toBeGreaterThan(50)
  expect(origins.filter(([, suite, name]) => all[suite!]?.[name!]?.is !== 'kept').map(([, suite, name]) => `${suite}: ${name}`)).toEqual([])
})

for (const [page, suites] of [
  ['otp-elixir', otp],
  ['akka-pekko', pekko],
] as const) {
  const text = read(`../../../../docs/coming-from/${page}.md`)

  test(`each case that is kept or covered has the test that is named for it (${page})`, () => {
    const missing = verdicts(suites).flatMap(([suite, name, verdict]) => {
      if (verdict.is === 'kept') return tests.includes(suite) && tests.includes(name) ? [] : [`${suite}: ${name} is kept nowhere`]
      return verdict.is === 'covered' && !read(`../${verdict.file}`).includes(verdict.title)
        ? [`${suite}: ${name}: ${verdict.file} has no “${verdict.title}”`]
        : []
    })
    expect(missing).toEqual([])
  })

  test(`each difference has its row in the table of ${page}.md, and each row its case`, () => {
    const rows = new Set(verdicts(suites).flatMap(([, , verdict]) => (verdict.is === 'differs' ? [verdict.row] : [])))
    const [, section = ''] = text.split('## Where their test suites say otherwise')
    const written = [...section.split('\n## ')[0]!.matchAll(/^\| (.+?) \| .+ \|$/gm)].map(([, first]) => first!)
    expect(written.slice(1).sort()).toEqual([...rows].sort())
  })

  test(`the sum of the cases is what ${page}.md says`, () => {
    expect(text).toContain(sumOf(suites))
  })
}
