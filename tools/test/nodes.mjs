// `npm run test:nodes`: both commands of the README on the Nodes that people have. Each Node is first in PATH, so that npm, every test and
// every child process run on it: the whole of `npm test` on some, the tests that can differ between Nodes on the others, then `npm start`
// until its page answers.

import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { anyText, commandLine, someOf } from '@troupe/testkit/internal'
import { cacheFolder } from '../engines/cache.mjs'
import { programOf } from '../runtimes/programs.mjs'
import { root } from './run-vitest.mjs'

const majors = ['20', '22', '24', '26']
/** Long-term releases that most people have: everything runs there. */
const whole = new Set(['20', '24'])
/** Packages whose behavior can depend on the Node: their code uses its loop, its threads, its sockets, its files or native packages. */
const canDiffer = ['core', 'node', 'persistence', 'cluster', 'cli'].map((name) => `packages/${name}/`)
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
const startTimeoutMs = 180_000

const { only, tested, cache } = commandLine({
  name: 'npm run test:nodes',
  about:
    'npm test and npm start on several Nodes, each first in PATH: the whole of npm test on 20 and 24, the tests of core, node, persistence, cluster and cli on 22 and 26. Ends with 1 where one fails or a Node cannot be fetched.',
  options: {
    only: someOf('Node', majors, 'just these', 'all'),
    tested: someOf('Node', majors, 'npm test has already run on these: only npm start', 'none'),
    // Not below the home of root: some tests start this Node as another user.
    cache: anyText('folder', 'where fetched Nodes are kept', cacheFolder('nodes')),
  },
})

const rows = []
for (const major of only ?? majors) {
  let node
  try {
    node = await programOf(`node${major}`, cache, console.log)
  } catch (cause) {
    rows.push({ ok: false, text: `Node ${major}: cannot be fetched. ${cause.message.split('\n')[0]}` })
    continue
  }
  const env = { ...process.env, PATH: `${dirname(node.command[0])}${delimiter}${process.env.PATH}` }
  if (!tested?.includes(major))
    await row(`Node ${node.version}: npm test${whole.has(major) ? '' : ` -- ${canDiffer.join(' ')}`}`, () => runTests(major, env))
  await row(`Node ${node.version}: npm start`, () => startAndLook(env))
}
console.log(`\n${rows.map(({ ok, text }) => `  ${ok ? 'ok     ' : 'FAILED '}  ${text}`).join('\n')}`)
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1

async function row(text, run) {
  console.log(`\n▸ ${text}`)
  const since = performance.now()
  const problem = await run()
  const seconds = ((performance.now() - since) / 1000).toFixed(0)
  if (problem !== undefined) console.log(problem)
  rows.push({ ok: problem === undefined, text: `${text} (${seconds} s)` })
}

async function runTests(major, env) {
  const args = whole.has(major) ? [] : ['--', ...canDiffer]
  const child = spawn(npm, ['test', ...args], { cwd: root, env, stdio: 'inherit', shell: process.platform === 'win32' })
  const status = await new Promise((end) => child.once('error', end).once('close', end))
  return status === 0 ? undefined : `npm test ended with ${status}`
}

/** Starts `npm start`, opens its page and ends it as Ctrl-C does; returns what went wrong. */
async function startAndLook(env) {
  // A process group of its own, as a terminal gives it: Ctrl-C reaches npm and what it started.
  const child = spawn(npm, ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: process.platform !== 'win32' })
  const signal = (name) => {
    if (process.platform === 'win32' || child.pid === undefined) child.kill(name)
    else process.kill(-child.pid, name)
  }
  let output = ''
  const ended = new Promise((end) => child.once('error', end).once('close', end))
  const url = new Promise((found) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        const [address] = /http:\/\/\S+/.exec(output) ?? []
        if (address !== undefined) found(address)
      })
  })
  const giveUp = setTimeout(() => signal('SIGKILL'), startTimeoutMs)
  try {
    const address = await Promise.race([url, ended.then(() => undefined)])
    if (address === undefined) return `npm start ended before it showed a page:\n${output}`
    const page = await fetch(address)
    const text = await page.text()
    if (!page.ok || !text.includes('<title>')) return `the page at ${address} answered ${page.status}:\n${text.slice(0, 500)}`
    signal('SIGINT')
    await ended
    return /lost 0\b/.test(output) && output.includes('actors stopped') ? undefined : `npm start did not end in order:\n${output}`
  } catch (cause) {
    return `${cause.stack}\n${output}`
  } finally {
    clearTimeout(giveUp)
    try {
      signal('SIGKILL')
    } catch {
      // It has ended.
    }
  }
}
