// `npm run test:runtimes`: the echo server of packages/node on a newer Node and on Deno, with the counts of what was lost. They are
// fetched as packages of their own into a cache folder outside of the repository, so that only who asks pays for them. One that cannot
// be had is skipped, and said so aloud.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { anyText, commandLine, oneOf, whole } from '@troupe/testkit/internal'
import { echo, forms } from '../packages/node/dist-test/echo.js'

const { platform, arch, env, execPath } = process
const caches = env.XDG_CACHE_HOME ?? join(homedir(), '.cache')

const { clients, only, cache } = commandLine({
  name: 'npm run test:runtimes',
  about:
    'The echo server on other runtimes than this Node, with clients that end their side at once. Ends with 1 where anything is lost; a runtime that cannot be had is skipped.',
  options: {
    clients: whole('how many, for each form of the server', 900),
    only: oneOf('runtime', ['here', 'node24', 'deno'], 'just this one (default: all)', undefined),
    cache: anyText(
      'folder',
      'where the runtimes are kept (default: troupe-runtimes in the cache folder of the user)',
      join(caches, 'troupe-runtimes'),
    ),
  },
})

/** The packages that hold nothing but the program for this machine, so that no install script has to run. */
const runtimes = {
  here: { find: () => [execPath] },
  node24: {
    fetch: `node-${platform === 'win32' ? 'win' : platform}-${arch}@24`,
    find: (folder) => {
      const name = readdirSync(folder).find((entry) => entry.startsWith('node-'))
      return [join(folder, name, 'bin', platform === 'win32' ? 'node.exe' : 'node')]
    },
  },
  deno: {
    fetch: 'deno@2',
    find: (folder) => {
      const [name] = readdirSync(join(folder, '@deno'))
      return [join(folder, '@deno', name, platform === 'win32' ? 'deno.exe' : 'deno'), 'run', '--allow-all', '--no-prompt']
    },
  },
}

/** The command of a runtime, fetched where it is not there yet. */
async function commandOf(name) {
  const { fetch, find } = runtimes[name]
  if (fetch === undefined) return find()
  const home = join(cache, name)
  const folder = join(home, 'node_modules')
  if (!existsSync(folder)) {
    mkdirSync(home, { recursive: true })
    console.log(`${name}: fetching ${fetch} into ${home}`)
    const args = ['install', '--prefix', home, '--ignore-scripts', '--no-audit', '--no-fund', '--force', fetch]
    await promisify(execFile)(platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd: home, timeout: 300_000 })
  }
  const command = find(folder)
  await promisify(execFile)(command[0], ['--version'], { timeout: 30_000 })
  return command
}

let failed = 0
for (const name of only === undefined ? Object.keys(runtimes) : [only]) {
  let command
  try {
    command = await commandOf(name)
  } catch (cause) {
    console.log(`SKIPPED ${name}: it cannot be had. ${String(cause.message).split('\n')[0]}`)
    continue
  }
  for (const form of forms) {
    const { lost, errors, served } = await echo(command, form, clients, 100)
    const ok = lost === 0 && errors === 0 && served.errors === 0 && served.unaccounted === 0
    if (!ok) failed++
    console.log(`${ok ? 'ok     ' : 'FAILED '} ${name.padEnd(7)} ${form.padEnd(8)} ${lost} lost of ${clients}; ${errors + served.errors} errors`)
  }
}
process.exitCode = failed === 0 ? 0 : 1
