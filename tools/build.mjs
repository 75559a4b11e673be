// The build: `tsc -b` checks everything, and writes the declarations of the packages and the programs beside them (examples, benchmarks,
// what tests load); then each package becomes one file.
//   node tools/build.mjs [--root folder] [project…]
// When all of it was built is kept in a file, so that tests need not build again what nobody has touched since.

import { spawnSync } from 'node:child_process'
import { utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.mjs'

const here = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const { values, positionals } = parseArgs({ options: { root: { type: 'string', default: here } }, allowPositionals: true })
const began = new Date()
const tsc = join(here, 'node_modules/typescript/bin/tsc')
const { status } = spawnSync(process.execPath, [tsc, '-b', ...positionals], { cwd: values.root, stdio: 'inherit' })
if (status === 0) {
  await bundle(values.root)
  if (positionals.length === 0 && values.root === here) {
    const stamp = join(here, 'tools/.built')
    writeFileSync(stamp, '')
    // When it began: what is changed while it goes on is newer.
    utimesSync(stamp, began, began)
  }
}
process.exitCode = status ?? 1
