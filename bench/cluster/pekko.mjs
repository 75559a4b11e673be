// Pekko Cluster Sharding as it comes, beside ours: three processes, one of them killed, and the time until every id that it had is answered by
// another. Built by Maven where Java and Maven are there.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, rmSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../tools/engines/server.mjs'

const home = fileURLToPath(new URL('../peers/pekko-cluster/', import.meta.url))
const ids = 24
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Builds it where that is needed; says why it cannot be. */
function missing() {
  if (spawnSync('java', ['-version']).error !== undefined) return 'java is missing (17 or later)'
  const [source, pom, built] = ['src/main/java/bench/Shards.java', 'pom.xml', 'target/classes/bench/Shards.class'].map((path) => home + path)
  if (existsSync(built) && [source, pom].every((path) => statSync(built).mtimeMs >= statSync(path).mtimeMs)) return undefined
  if (spawnSync('mvn', ['-v']).error !== undefined) return 'mvn is missing'
  try {
    rmSync(`${home}target`, { recursive: true, force: true })
    execFileSync('mvn', ['-B', '-q', 'package'], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'], timeout: 600_000 })
    return undefined
  } catch (cause) {
    return `mvn package failed: ${String(cause.stderr ?? cause)
      .trim()
      .split('\n')
      .at(-1)}`
  }
}

function boot(port, first, asks) {
  const child = spawn('java', ['-Xmx256m', '-cp', `target/classes:target/lib/*`, 'bench.Shards', String(port), String(first), String(asks)], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const seen = new Map()
  let up
  const ready = new Promise((resolve) => (up = resolve))
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'up') return up()
    const [id, at] = line.split(' ')
    seen.set(id, [Number(at), performance.now()])
  })
  return { child, ready, seen, gone: new Promise((resolve) => child.once('exit', resolve)) }
}

/** Milliseconds of each failover; or why there is none. */
export async function pekkoFailovers(kills) {
  const why = missing()
  if (why !== undefined) return why
  const times = []
  for (let n = 0; n < kills; n++) {
    const ports = [await freePort(), await freePort(), await freePort()]
    const nodes = ports.map((port, i) => boot(port, ports[0], i === 0 ? ids : 0))
    try {
      // Nobody waits for it who is done.
      const late = new Promise((resolve) => void setTimeout(() => resolve('late'), 240_000).unref())
      if ((await Promise.race([Promise.all(nodes.map(({ ready }) => ready)), late])) === 'late') return 'its nodes did not come up within 240 s'
      const { seen } = nodes[0]
      const victim = ports[2]
      const isThere = () => seen.size === ids && [...seen.values()].some(([at]) => at === victim)
      while (!isThere()) if ((await Promise.race([after(200), late])) === 'late') return 'the node to be killed was given no shard within 240 s'
      await after(2_000)
      const mine = [...seen].filter(([, [at]]) => at === victim).map(([id]) => id)
      const since = performance.now()
      nodes[2].child.kill('SIGKILL')
      while (mine.some((id) => seen.get(id)[0] === victim) && performance.now() - since < 120_000) await after(50)
      times.push(Math.max(...mine.map((id) => seen.get(id)[1])) - since)
    } finally {
      for (const { child, gone } of nodes) {
        child.kill('SIGKILL')
        await gone
      }
    }
  }
  return times
}
