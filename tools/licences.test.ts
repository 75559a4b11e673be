// What strangers get beside our code, and under which licences: the table of docs/guide/stability.md is what is installed.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needed, packages } from './installed.ts'
import { root } from './markdown.ts'

const page = readFileSync(join(root, 'docs/guide/stability.md'), 'utf8')
/** Rows of the table: the packages of the first cell have the licences of the last. */
const rows = [...page.matchAll(/^\| ([a-z, ]+) \|.*\| (.*?) ?\|$/gm)].flatMap(([, names, licences]) =>
  names!.split(', ').map((name) => [name, licences === '' ? [] : licences!.split(', ')] as const),
)

function licencesOf(name: string): readonly string[] {
  const found = needed([`packages/${name}`]).map((folder) => {
    const { license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { license?: string }
    return license ?? `${folder} names none`
  })
  return [...new Set(found)].toSorted()
}

test.each(packages)('what %s depends on has the licences that are named, and none that binds the programs of others', (name) => {
  const said = new Map(rows).get(name) ?? []
  expect(licencesOf(name)).toEqual(said.toSorted())
  expect(said.filter((licence) => !['MIT', 'Apache-2.0', 'Unlicense', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause'].includes(licence))).toEqual([])
})
