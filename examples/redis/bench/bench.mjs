// redis-benchmark against three servers in one run: ours with actors, the same commands on plain node:net, and Debian's
// redis-server for reference. The rounds are interleaved, so that a busy machine is busy for all of them.
//
//   npm run bench:redis -- [--requests 200000] [--rounds 3] [--clients 50] [--tests set,get] [--pipelines 1,16] [--profile]
//
// Prints the best round of each server for each command, ours as a share of the plain one, and the same by CPU time per
// request, which holds still where a shared machine makes rates jump.

import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { commandLine, flag, someOf, whole, wholes } from '@troupe/testkit/internal'

const usual = ['ping_inline', 'ping_mbulk', 'set', 'get', 'incr', 'lpush', 'lpop', 'sadd', 'hset', 'mset']
const more = ['ping', 'rpush', 'rpop', 'lrange', 'lrange_100', 'lrange_300', 'lrange_500', 'lrange_600']
const {
  requests,
  rounds,
  clients,
  tests = usual,
  pipelines,
  profile,
} = commandLine({
  name: 'npm run bench:redis',
  about: 'redis-benchmark against the server with actors, the same commands on node:net, and redis-server where it is installed.',
  options: {
    requests: whole('requests of each test', 200_000),
    rounds: whole('rounds of each test; the best counts', 3),
    clients: whole('connections at once', 50),
    tests: someOf('test', [...usual, ...more], "just these of redis-benchmark's tests", usual.join(',')),
    pipelines: wholes('requests that are under way on a connection at once, each with figures of its own', [1, 16]),
    profile: flag('writes a CPU profile of the server with actors to /tmp/troupe-redis-profile'),
  },
})
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const has = (command) => spawnSync(command, ['--version']).status === 0
if (!has('redis-benchmark')) {
  console.log('skipped: redis-benchmark is not installed (Debian: apt-get install redis-tools)')
  process.exit(0)
}

const flags = profile ? ['--cpu-prof', '--cpu-prof-dir=/tmp/troupe-redis-profile'] : []
const servers = [
  { name: 'troupe', port: 6391, command: process.execPath, args: [...flags, main, '--port', '6391'] },
  { name: 'node:net', port: 6392, command: process.execPath, args: [main, '--port', '6392', '--plain'] },
]
if (has('redis-server'))
  servers.push({
    name: 'redis',
    port: 6393,
    command: 'redis-server',
    args: ['--port', '6393', '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
  })

async function answers(port) {
  const socket = connect(port, '127.0.0.1')
  const ok = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false)
  socket.destroy()
  return ok
}

async function reachable(port) {
  for (let i = 0; i < 100; i++) {
    if (await answers(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on port ${port}`)
}

// Another server there would be measured in place of ours.
for (const { name, port } of servers)
  if (await answers(port)) {
    console.error(`Nothing was measured: port ${port}, for ${name}, is in use. End what listens there, and try again.`)
    process.exit(1)
  }

/** Seconds of CPU that a process has used; undefined where the system does not say. */
function cpuOf(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'))
    return tasks.reduce((sum, stat) => sum + Number(stat.split(' ')[0]), 0) / 1e9
  } catch {
    return undefined
  }
}

const best = new Map()
const cpu = new Map()
const children = servers.map(({ command, args }) => spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }))
let failed = false
try {
  for (const { port } of servers) await reachable(port)
  for (const pipeline of pipelines) {
    for (let round = 0; round < rounds; round++) {
      for (const test of tests) {
        for (const [i, { name, port }] of servers.entries()) {
          const args = ['-p', String(port), '-t', test, '-n', String(requests), '-c', String(clients), '-P', String(pipeline), '--csv']
          const before = cpuOf(children[i].pid)
          const { stdout, stderr } = await promisify(execFile)('redis-benchmark', args, { maxBuffer: 1 << 26 })
          if (/error/i.test(stderr)) throw new Error(stderr)
          const lines = stdout.trim().split('\n').slice(1)
          const used = (cpuOf(children[i].pid) - before) / requests / lines.length
          for (const line of lines) {
            const [what, rps] = line.split(',').map((cell) => cell.replaceAll('"', ''))
            const key = `${pipeline} ${what}`
            const row = best.get(key) ?? best.set(key, {}).get(key)
            row[name] = Math.max(row[name] ?? 0, Number(rps))
            const spent = cpu.get(key) ?? cpu.set(key, {}).get(key)
            // Zero where the system does not say.
            if (used > 0) spent[name] = Math.min(spent[name] ?? Infinity, used * 1e6)
          }
        }
      }
    }
  }
} catch (cause) {
  failed = true
  console.error(String(cause))
} finally {
  for (const child of children) {
    if (child.exitCode !== null) continue
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}
const number = (n) => (n === undefined ? '-' : Math.round(n).toLocaleString('en')).padStart(10)
console.log(`${'pipeline, command'.padEnd(24)}${servers.map((s) => s.name.padStart(10)).join('')}   of plain   by CPU`)
const shares = Object.fromEntries(pipelines.map((p) => [p, []]))
const cpuShares = Object.fromEntries(pipelines.map((p) => [p, []]))
for (const [key, row] of best) {
  const [pipeline] = key.split(' ')
  const share = row['troupe'] / row['node:net']
  shares[pipeline].push(share)
  const byCpu = cpu.get(key)['node:net'] / cpu.get(key)['troupe']
  cpuShares[pipeline].push(byCpu)
  console.log(`${`P=${key}`.padEnd(24)}${servers.map((s) => number(row[s.name])).join('')}       ${share.toFixed(2)}     ${byCpu.toFixed(2)}`)
}
const geometric = (all) => Math.exp(all.reduce((sum, n) => sum + Math.log(n), 0) / all.length)
for (const [pipeline, all] of Object.entries(shares)) {
  if (all.length === 0) continue
  const shown = (what, these) =>
    console.log(
      `P=${pipeline}: ${geometric(these).toFixed(2)} of plain node:net by ${what} (geometric mean; budget 0.80), lowest ${Math.min(...these).toFixed(2)}`,
    )
  shown('rate', all)
  shown('CPU per request', cpuShares[pipeline])
}
process.exitCode = failed ? 1 : 0
