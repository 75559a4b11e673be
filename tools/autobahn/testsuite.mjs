// Autobahn's test suite for WebSockets, which needs Python 2.7: found on this machine, with the suite installed into a cache folder.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, printed, searchPath } from '../engines/cache.mjs'

const run = promisify(execFile)
const version = '25.10.1'

/** Python 2.7, by TROUPE_PYTHON2, on the search path, or one of pyenv's. */
function findPython() {
  const { TROUPE_PYTHON2, PYENV_ROOT } = process.env
  const versions = join(PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const pyenv = existsSync(versions) ? readdirSync(versions).map((name) => join(versions, name, 'bin')) : []
  const found = TROUPE_PYTHON2 === undefined ? [...searchPath(), ...pyenv].map((folder) => join(folder, 'python2.7')) : [TROUPE_PYTHON2]
  const says = 'import sys; sys.stdout.write("%d.%d" % sys.version_info[:2])'
  return found.find((python) => existsSync(python) && printed(python, ['-c', says]) === '2.7')
}

/** The suite as a function that runs cases against a URL; a sentence that says why where it cannot be had. */
export async function testsuite() {
  const python = findPython()
  if (python === undefined) return 'there is no Python 2.7 here. Install it, or name it by TROUPE_PYTHON2.'
  const site = join(cacheFolder('autobahn'), version)
  if (!existsSync(join(site, 'autobahntestsuite'))) {
    try {
      await run(python, ['-m', 'pip', 'install', '--target', site, `autobahntestsuite==${version}`], { maxBuffer: 2 ** 26 })
    } catch (cause) {
      rmSync(site, { recursive: true, force: true })
      return `pip could not install autobahntestsuite: ${String(cause.stderr).trim().split('\n').at(-1)}`
    }
  }
  return (url, cases, excluded) => runCases(python, site, url, cases, excluded)
}

/** The outcome of each case: `{ behavior, behaviorClose, duration }` by its number. */
async function runCases(python, site, url, cases, excluded) {
  const folder = mkdtempSync(join(tmpdir(), 'autobahn-'))
  try {
    const spec = join(folder, 'spec.json')
    const outdir = join(folder, 'reports')
    writeFileSync(spec, JSON.stringify({ outdir, servers: [{ agent: 'troupe', url }], cases, 'exclude-cases': excluded, 'exclude-agent-cases': {} }))
    // A namespace package of the suite is found by its .pth file only, which PYTHONPATH does not read.
    const program = `import site, sys; site.addsitedir(${JSON.stringify(site)}); sys.argv = ['wstest', '-m', 'fuzzingclient', '-s', ${JSON.stringify(spec)}]; from autobahntestsuite.wstest import run; run()`
    await run(python, ['-c', program], { cwd: folder, maxBuffer: 2 ** 28 })
    return JSON.parse(readFileSync(join(outdir, 'index.json'), 'utf8')).troupe
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
