// Each two features of a package have a test that brings them together, or a reason why they cannot affect each other. Whoever adds a feature
// adds it to the list of its package, and is told here which pairs to think about.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { core } from './feature-pairs/core.ts'
import { faultsOf } from './feature-pairs/pairs.ts'
import { persistence } from './feature-pairs/persistence.ts'
import { root } from './markdown.ts'

const read = (path: string): string | undefined => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined)

test.each(Object.entries({ core, persistence }))('each pair of features of %s has a test or a reason', (_name, list) => {
  expect(faultsOf(list, read)).toEqual([])
})

test('a pair that is missing, unknown, without a sentence, or whose test is gone is a fault', () => {
  const list = {
    folder: 'packages/x/test',
    features: { a: 'one', b: 'two', c: 'three' },
    pairs: { 'a × b': ['a.test.ts', 'a claim'] as const, 'b × a': 'A reason that is long enough to be a sentence.', 'b × c': 'no' },
  }
  expect(faultsOf(list, () => "test('another claim')")).toEqual([
    'a × c: has neither a test nor a reason',
    'a × b: a.test.ts has no test “a claim”',
    'b × a: is no pair of two features in their order',
    'b × c: its reason is no sentence',
  ])
  expect(faultsOf(list, () => undefined)).toContain('a × b: there is no file packages/x/test/a.test.ts')
  expect(faultsOf(list, () => "test('a claim')")).toHaveLength(3)
})
