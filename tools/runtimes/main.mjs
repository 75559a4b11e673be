// `npm run test:runtimes`: the tests of core, threads, I/O and the SQLite journal on other runtimes than this Node, and a table of what came of it. Vitest
// itself does not run on all of them, so the tests are bundled and run by its parts (decision 090).

import { rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { anyText, commandLine, flag, misuse, someOf, whole } from '@troupe/testkit/internal'
import { runInBrowser } from './browser.mjs'
import { bundle } from './bundle.mjs'
import { runEchoes } from './echoes.mjs'
import { knownOn } from './known.mjs'
import { gatheredHere, runFiles } from './processes.mjs'
import { programOf, programs } from './programs.mjs'
import { root, suiteNames, suiteOf, testFiles } from './suites.mjs'
import { notTried, tableOf, writeTable } from './table.mjs'

const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
const given = commandLine({
  name: 'npm run test:runtimes',
  about:
    'The tests of core, threads, I/O and the SQLite journal on Node 20, 22, 24 and 26, Bun and Deno, those of core in Chromium, and an echo server under load; prints a table. Ends with 1 where a test fails; a runtime that cannot be had is not tried, and said so.',
  options: {
    only: someOf('runtime', Object.keys(programs), 'just these', 'all'),
    suite: someOf('suite', [...suiteNames, 'echo'], 'just these', 'all'),
    files: { ...anyText('text', 'just files with this in their path', ''), shown: 'all' },
    clients: whole('clients of each echo server', 900),
    write: flag('puts the rows into docs/guide/runtimes.md'),
    cache: anyText('folder', 'where the runtimes are kept', join(caches, 'troupe-runtimes')),
  },
})
if (given.write && given.files !== '') misuse({ name: 'npm run test:runtimes' }, '--write takes whole suites, not --files')
const runtimes = given.only ?? Object.keys(programs)
const suites = given.suite ?? [...suiteNames, 'echo']

const folder = join(root, 'tools/runtimes/dist', String(process.pid))
const files = testFiles().filter((file) => suites.includes(suiteOf(file)) && file.includes(given.files))
const bundles = new Map()
/** Tests are bundled once for all processes, and once for pages. */
async function bundled(target) {
  if (!bundles.has(target)) {
    const wanted = target === 'browser' ? files.filter((file) => suiteOf(file) === 'core') : files
    bundles.set(target, await bundle(wanted, target, join(folder, target)))
  }
  return bundles.get(target)
}

let failed = 0
function complain(where, what) {
  failed++
  console.log(`FAILED ${where}: ${what.trim().replaceAll('\n', '\n    ')}`)
}

/** Adds up the tallies of a suite. */
class Sum {
  passed = 0
  failed = 0
  skipped = 0
  notes = new Map()
  add(tally) {
    this.passed += tally.passed
    this.failed += tally.failed
    this.skipped += tally.skipped
    for (const [note, n] of tally.notes) this.notes.set(note, (this.notes.get(note) ?? 0) + n)
  }
  row(title, version, suite) {
    const notes = [...this.notes].map(([note, n]) => `${n} ${note}`)
    return [title, version, suite, this.passed, this.failed, this.skipped, notes.join('; ')].map(String)
  }
}

async function runSuite(name, suite, command) {
  const sum = new Sum()
  const heard = (file, tally) => {
    sum.add(tally)
    for (const failure of tally.failures) complain(`${name} ${file}`, failure)
    for (const { test, on } of knownOn(name, file))
      if (!tally.met.has(test) && tally.done) complain(`${name} ${file}`, `no test is called "${test}", which known.mjs has for ${on.join(', ')}`)
  }
  if (suite === 'echo') {
    heard('echo', await runEchoes(command, given.clients))
    return sum
  }
  const mine = files.filter((file) => suiteOf(file) === suite)
  const knownOf = (file) => knownOn(name, file)
  if (!programs[name].browser) await runFiles(command, mine, await bundled('process'), knownOf, heard)
  else {
    const { main, files: where } = await bundled('process')
    const gathered = (file) => gatheredHere({ main, bundle: where.get(file), file }, join(folder, 'gathered'))
    await runInBrowser(command, mine, await bundled('browser'), join(folder, 'browser'), knownOf, heard, gathered)
  }
  return sum
}

const rows = []
const places = Object.values(programs).flatMap(({ title, browser }) => (browser ? ['core'] : [...suiteNames, 'echo']).map((suite) => [title, suite]))
try {
  for (const name of runtimes) {
    const { title, browser } = programs[name]
    const wanted = suites.filter((suite) => !browser || suite === 'core')
    let program
    try {
      program = wanted.length === 0 ? undefined : await programOf(name, given.cache, console.log)
    } catch (cause) {
      console.log(`NOT TRIED ${name}: it cannot be had. ${String(cause.message).split('\n')[0]}`)
    }
    for (const suite of wanted) {
      if (program === undefined) {
        rows.push(notTried(title, suite))
        continue
      }
      const since = performance.now()
      const sum = await runSuite(name, suite, program.command)
      rows.push(sum.row(title, program.version, suite))
      // At once: a run of all takes long, and may be ended before its end.
      if (given.write) writeTable(rows, places)
      const seconds = ((performance.now() - since) / 1000).toFixed(0)
      console.log(`${name} ${program.version} ${suite}: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped in ${seconds} s`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

// The same tests everywhere: a runtime on which fewer are gathered would look better than it is.
for (const suite of suites) {
  const counts = rows.filter((row) => row[2] === suite && row[1] !== '').map((row) => [row[0], Number(row[3]) + Number(row[4]) + Number(row[5])])
  if (new Set(counts.map(([, count]) => count)).size > 1)
    complain(suite, `not the same number of tests everywhere: ${counts.map(([title, count]) => `${title} ${count}`).join(', ')}`)
}
console.log(`\n${tableOf(rows)}`)
process.exitCode = failed === 0 ? 0 : 1
