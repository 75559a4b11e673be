// Where the runtimes come from: Node, Bun and Deno as npm packages that hold nothing but the program for this machine, fetched into a
// cache folder on demand, so that only who asks pays for them; Chromium is the system's.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const { platform, arch, execPath, versions } = process
const windows = platform === 'win32'
const exe = (name) => (windows ? `${name}.exe` : name)
const run = promisify(execFile)

/** Programs in packages of a folder: what is there depends on the machine, so each is looked at. */
const inPackages = (folder, ...path) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, ...path)) : [])

function node(major) {
  return {
    title: `Node ${major}`,
    ...(Number(versions.node.split('.')[0]) === major
      ? { find: () => [execPath] }
      : {
          fetch: `node-${windows ? 'win' : platform}-${arch}@${major}`,
          find: (folder) => inPackages(folder, 'bin', exe('node')),
        }),
    args: [],
  }
}

export const programs = {
  node20: node(20),
  node22: node(22),
  node24: node(24),
  node26: node(26),
  bun: { title: 'Bun', fetch: 'bun@1', find: (folder) => inPackages(join(folder, '@oven'), 'bin', exe('bun')), args: [] },
  deno: {
    title: 'Deno',
    fetch: 'deno@2',
    find: (folder) => inPackages(join(folder, '@deno'), exe('deno')),
    args: ['run', '--allow-all', '--no-prompt'],
  },
  chromium: {
    title: 'Chromium',
    browser: true,
    find: () => ['chromium', 'chromium-browser', 'google-chrome'],
    remedy: 'Install it, on Debian by apt-get install chromium, so that "chromium" can be called.',
    args: [],
  },
}

/** The command of a runtime and its version; rejects, with what to do, where it cannot be had. */
export async function programOf(name, cache, say) {
  const { fetch, find, args, remedy } = programs[name]
  const home = join(cache, name)
  const folder = join(home, 'node_modules')
  if (fetch !== undefined && find(folder).length === 0) {
    mkdirSync(home, { recursive: true })
    say(`${name}: fetching ${fetch} into ${home}`)
    try {
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--force']
      await run(windows ? 'npm.cmd' : 'npm', ['install', '--prefix', home, ...options, fetch], { cwd: home, timeout: 300_000, shell: windows })
    } catch (cause) {
      // Half a package would be taken for a whole one the next time.
      rmSync(home, { recursive: true, force: true })
      throw cause
    }
  }
  let problem
  for (const program of find(folder)) {
    if (fetch !== undefined && !existsSync(program)) continue
    try {
      const { stdout } = await run(program, ['--version'], { timeout: 60_000 })
      return { command: [program, ...args], version: /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim() }
    } catch (cause) {
      problem ??= cause
    }
  }
  throw new Error(remedy ?? problem?.message ?? `${fetch} has no program for ${platform} on ${arch}.`)
}
