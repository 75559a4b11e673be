// What `internal` entries export is for sibling packages: a name that none of them uses is not exported.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

/** All sources of the repository that may use an internal entry. */
function sources(folder: string, found: string[] = []): string[] {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name.startsWith('dist')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) sources(path, found)
    else if (/\.(ts|mjs)$/.test(entry.name)) found.push(readFileSync(path, 'utf8'))
  }
  return found
}
const texts = ['packages', 'tools', 'bench', 'examples'].flatMap((folder) => sources(join(root, folder)))

/** The names in the braces of every import or export of a module. */
function namesFrom(module: string, text: string): string[] {
  const lists = [...text.matchAll(/(?:import|export)(?: type)? \{([^}]*)\} from '([^']*)'/g)].filter(([, , from]) => from === module || module === '')
  return lists
    .flatMap(([, names]) =>
      names!.split(',').map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0]!,
      ),
    )
    .filter((name) => name !== '')
}

test.each([
  ['packages/core/src/internal.ts', '@troupe/core/internal'],
  ['packages/node/src/internal.ts', '@troupe/node/internal'],
  ['packages/testkit/src/internal.ts', '@troupe/testkit/internal'],
  ['packages/border/src/index.ts', '@troupe/border'],
])('every name of %s is used by a sibling', (file, module) => {
  const exported = namesFrom('', readFileSync(join(root, file), 'utf8').replaceAll(/^import .*$/gm, ''))
  expect(exported.length).toBeGreaterThan(5)
  const used = new Set(texts.flatMap((text) => namesFrom(module, text)))
  expect(exported.filter((name) => !used.has(name))).toEqual([])
})
