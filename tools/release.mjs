// `npm run release`: what the section Unreleased of the changelog makes of the version. Shows it and has npm go through the motions of
// publishing; with --write it changes the files, and that is all. Publishing is the workflow's, when the tag is pushed.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { commandLine, flag, misuse, oneOf, anyText } from '@troupe/testkit/internal'
import { bumps, planRelease, Refused } from './release/plan.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const command = {
  name: 'npm run release',
  about:
    'Sets the version of all packages and their ranges on each other, and dates the section Unreleased of CHANGELOG.md. Only shows it, and lets npm publish --dry-run look at each package, unless --write is given. Publishes nothing.',
  words: { bump: oneOf('bump', bumps, 'how much of the version changes; the changelog decides if left out', undefined) },
  options: {
    write: flag('changes the files'),
    date: anyText('day', 'the date of the release', new Date().toISOString().slice(0, 10)),
  },
}
const { bump, write, date } = commandLine(command)
if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date))) misuse(command, `--date takes a day, such as 2026-01-31, not '${date}'`)

const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folders = workspaces.flatMap((pattern) => {
  if (!pattern.endsWith('/*')) return [pattern]
  const above = pattern.slice(0, -2)
  return readdirSync(join(root, above), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [`${above}/${entry.name}`] : []))
})

function textOf(path) {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return undefined
  }
}

function planned() {
  const manifests = folders.map((folder) => [`${folder}/package.json`, textOf(`${folder}/package.json`)]).filter(([, text]) => text !== undefined)
  try {
    return planRelease({
      changelog: textOf('CHANGELOG.md') ?? '',
      lock: textOf('package-lock.json'),
      manifests: Object.fromEntries(manifests),
      bump,
      date,
    })
  } catch (cause) {
    if (cause instanceof Refused) return misuse(command, `Nothing to release: ${cause.message}`)
    throw cause
  }
}

const { from, to, released, files } = planned()
console.log(from === to ? `The first release: ${to}` : `${from} → ${to}`)
for (const path of Object.keys(files)) console.log(`  ${path}`)
if (write) {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
  console.log(`Written. Look at git diff, commit, then: git tag v${to}`)
} else {
  // To an address where nobody listens: nothing can leave this machine, whatever npm does.
  const args = ['publish', '--dry-run', '--access', 'public', '--ignore-scripts', '--json', '--registry=http://127.0.0.1:9', '--fetch-retries=0']
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  for (const { path, name } of released) {
    const { stdout } = await promisify(execFile)(npm, args, { cwd: join(root, dirname(path)), maxBuffer: 64 * 1024 * 1024 })
    const report = JSON.parse(stdout.slice(stdout.indexOf('{')))
    const { entryCount, size } = report[name] ?? report
    console.log(`  npm publish --dry-run ${name}: ${entryCount} files, ${(size / 1024).toFixed(0)} kB`)
  }
  console.log('Nothing was changed. To write it: npm run release -- --write')
}
