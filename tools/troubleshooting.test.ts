// The page that people search for a name they saw has every name there is: findings, codes of errors, reasons of dead letters. And what it
// says something is named by exists. The names are those of the API listings, which are written from the declarations.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ruleNames } from '@troupe/observer/findings'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const page = readFileSync(join(root, 'docs/guide/troubleshooting.md'), 'utf8')
/** Packages that are not published have no page. */
const pages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'api.md'))
const listings = pages.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'))

const codes = new Set(listings.flatMap((text) => [...text.matchAll(/^ {4}readonly code = "([^"]+)";$/gm)].map((found) => found[1]!)))
const core = readFileSync(join(root, 'packages/core/api.md'), 'utf8')
const reasons = new Set(namesOf('DeadLetterReason'))
const observations = new Set([...declarationOf('Observation').matchAll(/readonly type: '([^']+)'/g)].map((found) => found[1]!))
/** What `IoError` says of itself: its codes are the operating system's, and these. */
const ioCodes = new Set(
  [
    .../one of Troupe's own: ([\s\S]*?)\. Supervisors/
      .exec(readFileSync(join(root, 'packages/node/src/io/errors.ts'), 'utf8'))![1]!
      .matchAll(/`([^`]+)`/g),
  ].map((found) => found[1]!),
)

function declarationOf(name: string): string {
  const found = new RegExp(`^type ${name} = ([\\s\\S]*?)^\`\`\`$`, 'm').exec(core)
  if (found === null) throw new Error(`packages/core/api.md has no type ${name}.`)
  return found[1]!
}

function namesOf(name: string): string[] {
  return [...declarationOf(name).matchAll(/'([^']+)'/g)].map((found) => found[1]!)
}

/** The words in code of the last column of each table with four columns. */
const named = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
  .filter((cells) => cells.length === 4)
  .flatMap((cells) => [...cells[3]!.matchAll(/`([^`]+)`/g)].map((found) => found[1]!))

test('the listings were understood', () => {
  expect([codes.size > 60, reasons.size > 15, observations.size > 15, ioCodes.size > 5]).toEqual([true, true, true, true])
})

test.each([
  ['finding', ruleNames],
  ['code of an error', [...codes]],
  ['reason of a dead letter', [...reasons]],
  ['code of an I/O error', [...ioCodes]],
] as const)('every %s is on the page of troubles', (_what, names) => {
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('every finding and every code names a trouble, in the last column of its row', () => {
  expect([...ruleNames, ...codes].filter((name) => !named.includes(name))).toEqual([])
})

test('what a trouble is named by exists', () => {
  const known = new Set<string>([...ruleNames, ...codes, ...reasons, ...observations, ...ioCodes, 'failure'])
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

test('every finding is explained in the page that its link leads to', () => {
  const observing = readFileSync(join(root, 'docs/guide/observing.md'), 'utf8')
  expect(ruleNames.filter((name) => !observing.includes(`\n### ${name}\n`))).toEqual([])
})
