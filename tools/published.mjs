// What would be published, looked at by publint (is what package.json says there, and can it be imported) and by attw (do types and code of every
// entry belong together). Packs the packages once; both look at the tarballs.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const packages = readdirSync(join(root, 'packages')).filter(
  (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')).private !== true,
)
const shelf = mkdtempSync(join(tmpdir(), 'troupe-published-'))
const run = promisify(execFile)

function commandOf(pkg, name) {
  const folder = join(root, 'node_modules', pkg)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[name])
}
/** What it found wrong; nothing where all is well. */
async function look(command, args) {
  try {
    await run(process.execPath, [command, ...args], { cwd: root, timeout: 150_000 })
    return ''
  } catch (cause) {
    return `${command} ${args.join(' ')}\n${cause.stdout}${cause.stderr}`
  }
}

try {
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', shelf, ...packages.map((name) => `./packages/${name}`)], { cwd: root })
  const tarballs = readdirSync(shelf).map((file) => join(shelf, file))
  const attw = commandOf('@arethetypeswrong/cli', 'attw')
  const publint = commandOf('publint', 'publint')
  const words = await Promise.all([
    ...tarballs.map((file) => look(publint, ['run', '--strict', file])),
    ...tarballs.map((file) => look(attw, ['--profile', 'esm-only', '--no-emoji', file])),
  ])
  const found = words.filter((word) => word !== '')
  for (const word of found) console.log(word)
  if (tarballs.length !== packages.length) console.log(`${tarballs.length} packages were packed, not ${packages.length}`)
  process.exitCode = found.length === 0 && tarballs.length === packages.length ? 0 : 1
  if (process.exitCode === 0) console.log(`${tarballs.length} packages as they should be`)
} finally {
  rmSync(shelf, { recursive: true, force: true })
}
