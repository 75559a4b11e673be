// Holds facts.ts to the tests that it names, and to the table and the sum of the page for those who come from Pekko.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sumOf } from '../../../core/test/peers/facts.ts'
import { pekkoPersistence } from './facts.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const page = read('../../../../docs/coming-from/akka-pekko.md')
const own = read('pekko-persistence.test.ts')
const cases = Object.entries(pekkoPersistence).flatMap(([suite, all]) => Object.entries(all).map(([name, verdict]) => ({ suite, name, verdict })))

test('each case that is kept or covered has the test that is named for it', () => {
  const missing = cases.filter(({ suite, name, verdict }) =>
    verdict.is === 'kept' ? !own.includes(`(${suite}: ${name})`) : verdict.is === 'covered' && !read(`../${verdict.file}`).includes(verdict.title),
  )
  expect(missing).toEqual([])
})

test('each difference has its row in the page, and the sum is what the page says', () => {
  const rows = new Set(cases.flatMap(({ verdict }) => (verdict.is === 'differs' ? [verdict.row] : [])))
  const [, section = ''] = page.split('## Where their persistence suites say otherwise')
  const written = [...section.split('\n## ')[0]!.matchAll(/^\| (.+?) \| .+ \|$/gm)].map(([, first]) => first!)
  expect(written.slice(1).sort()).toEqual([...rows].sort())
  expect(section).toContain(sumOf(pekkoPersistence))
})
