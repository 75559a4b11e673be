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

const source = (file: string): string => readFileSync(join(root, 'packages/core/src', file), 'utf8')
const parts = async (name: string): Promise<unknown> => import(join(root, 'tools/sim-mutants', name))

test('every planted bug fits the source, at one place', async () => {
  const { classics } = (await parts('classics.mjs')) as { classics: readonly Classic[] }
  const unfit = classics.flatMap(({ name, file, edits }) =>
    edits.filter(([find]) => source(file).split(find).length !== 2).map(([find]) => ({ name, find })),
  )
  expect(unfit).toEqual([])
})

test('every mutant that is known to change nothing is one of the source', async () => {
  const { equivalents } = (await parts('equivalents.mjs')) as { equivalents: readonly Equivalent[] }
  expect(equivalents.filter(({ file, before }) => !source(file).includes(before))).toEqual([])
})
