// `npm run chaos:linearizability`: registers as persistent sharded actors on nodes in processes of their own, which are killed, stopped and cut off while clients
// write them from all nodes, and others read what is on their own. What was called and answered is checked by porcupine, an independent checker in
// Go. The control lets local clients answer what they read before: if that is not found, nothing here proves anything.

import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anyText, commandLine, flag, whole } from '@troupe/testkit/internal'
import { findNats, startNats } from '../../../../tools/engines/nats.mjs'
import { Nodes } from '../chaos/nodes.mjs'
import { History } from './history.mjs'
import { ids } from './stage.mjs'

const command = {
  name: 'npm run chaos:linearizability',
  about:
    'Kills, stops, cuts off and restarts the nodes of a cluster and its NATS server while registers on sharded actors are written and read, and lets porcupine, which needs Go, check the history for linearizability.',
  options: {
    faults: whole('how many faults', 60),
    lease: whole('the lease of a node in ms', 3_000, { from: 1_000 }),
    nodes: whole('how many nodes', 3, { from: 2 }),
    pace: whole('ms between two operations of a client, on average', 100),
    stale: flag('the control: local clients answer what they read before; must be caught'),
    file: anyText('file', 'where results are appended', 'linearizability.jsonl'),
    seed: whole('what the faults are chosen by', 1, {}),
  },
}
const { faults, lease, nodes: size, pace, stale, file, seed } = commandLine(command)

if (spawnSync('go', ['version']).status !== 0) {
  console.log('Skipped: Go was not found, which the checker needs.')
  process.exit(0)
}
const found = findNats()
if (found === undefined) {
  process.stderr.write('No nats-server was found; npm run engines -- --only nats fetches one.\n')
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'troupe-registers-'))
const checker = join(folder, 'checker')
const built = spawnSync('go', ['build', '-o', checker, '.'], { cwd: fileURLToPath(new URL('./checker', import.meta.url)), encoding: 'utf8' })
if (built.status !== 0) {
  process.stderr.write(`The checker could not be built:\n${built.stderr}`)
  rmSync(folder, { recursive: true, force: true })
  process.exit(1)
}

let state = seed >>> 0
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const between = (from, to) => from + random() * (to - from)
const oneOf = (list) => list[Math.floor(random() * list.length)]
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const server = await startNats(found)
const history = new History()
const program = fileURLToPath(new URL('./node.mjs', import.meta.url))
const nodes = new Nodes({ program, server, account: history, size, given: { lease, pace, store: { directory: join(folder, 'data') }, stale } })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void nodes.end().then(() => process.exit(130)))
const strikes = {
  kill: (name) => nodes.kill(name, between(0, 1.5 * lease)),
  stop: (name) => nodes.stop(name, between(0.5 * lease, 2 * lease)),
  cut: (name) => nodes.cut(name, between(0.5 * lease, 2 * lease)),
  leave: (name) => nodes.leave(name),
  async nats() {
    await server.kill()
    await after(between(0.1 * lease, 1.5 * lease))
    await server.start()
  },
}
const counts = new Map()
const began = performance.now()
const wrong = []
try {
  await nodes.start()
  for (let n = 1; n <= faults && wrong.length === 0; n++) {
    const kind = oneOf([...Object.keys(strikes), 'two'])
    const [first, second] = nodes.names.toSorted(() => random() - 0.5)
    const since = performance.now()
    if (kind !== 'two') await strikes[kind](first)
    else
      await Promise.all([
        strikes[oneOf(['kill', 'stop', 'cut'])](first),
        after(between(0, 300)).then(() => strikes[oneOf(['kill', 'stop', 'cut'])](second)),
      ])
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    await nodes.allUp(60_000)
    const now = performance.now()
    while (!history.allSince(now, ids) && performance.now() < now + 40_000) await after(50)
    if (!history.allSince(now, ids)) wrong.push(`after fault ${n} (${kind}) a register answers nothing for 40 s`)
    console.log(`${String(n).padStart(3)} ${kind.padEnd(6)} ${((performance.now() - since) / 1_000).toFixed(1)} s, ${history.done} operations`)
    await after(between(200, 1_500))
  }
} catch (cause) {
  wrong.push(cause.message)
} finally {
  await nodes.end()
  await server.end()
}

const seconds = (performance.now() - began) / 1_000
const { status, text } = await check(history.lines())
rmSync(folder, { recursive: true, force: true })
const struck = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
const summary = `${[...counts.values()].reduce((sum, count) => sum + count, 0)} faults in ${seconds.toFixed(0)} s (${struck}), ${history.done} operations, ${history.localReads} of them local reads, ${history.ended} sessions ended`
console.log(summary)
console.log(text.trim())
for (const line of wrong) console.log(`WRONG: ${line}`)
const isSound = wrong.length === 0 && history.done > 0 && status === 0
const caught = status === 1 && text.includes('is not linearizable')
if (stale) console.log(caught ? 'The stale reads were caught, as they must be.' : 'The stale reads were NOT caught: this run proves nothing.')
else console.log(isSound ? 'All registers are linearizable.' : 'Not all is as it must be.')
appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), lease, nodes: size, seed, stale, summary, checked: text.trim(), wrong })}\n`)
process.exitCode = (stale ? caught : isSound) ? 0 : 1

async function check(lines) {
  const child = spawn(checker, [], { stdio: ['pipe', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (more) => (out += more))
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { status: code, text: out }
}
