// The bugs that `npm run sim:mutants` plants by hand, and the mutants that it knows to change nothing, are given by the text that stands in
// the source. Whoever changes that text learns of it here, and not from a proof that takes an hour and is not made.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

interface Classic {
  readonly name: string
  readonly file: string
  readonly edits: readonly (readonly [find: string, replace: string])[]
}
interface Equivalent {
  readonly file: string
  readonly before: string
}

const source = (file: string, at = 'packages/core/src'): string => readFileSync(join(root, at, file), 'utf8')
const parts = async (name: string): Promise<unknown> => import(join(root, 'tools/sim-mutants', name))

test.each([
  ['classics', 'packages/core/src'],
  ['border', 'packages'],
  ['cluster', 'packages'],
  ['persistence', 'packages'],
])('every planted bug of %s fits the source, at one place', async (list, at) => {
  const bugs = ((await parts(`${list}.mjs`)) as Record<string, readonly Classic[]>)[list]!
  const unfit = bugs.flatMap(({ name, file, edits }) =>
    edits.filter(([find]) => source(file, at).split(find).length !== 2).map(([find]) => ({ name, find })),
  )
  expect(unfit).toEqual([])
})

test('every mutant that is known to change nothing is one of the source', async () => {
  const { equivalents } = (await parts('equivalents.mjs')) as { equivalents: readonly Equivalent[] }
  expect(equivalents.filter(({ file, before }) => !source(file).includes(before))).toEqual([])
})
