// One node of a run: it has registers as persistent sharded actors, writes and reads them from here wherever they are, and reads those that are here by clients of their
// own. Each call and each answer is said on its output, with the time of a clock that all processes of the machine share.

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ActorSystem } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'
import { durableState, persistence, sqliteJournal } from '@troupe/persistence'
import { ids, shards } from './stage.mjs'

const { node, url, lease, pace, store, stale } = JSON.parse(process.argv[2])
const say = (...line) => {
  try {
    writeSync(1, `${JSON.stringify(line)}\n`)
  } catch {
    process.exit(0)
  }
}
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const quiet = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false }
/** Microseconds. */
const now = () => Number(process.hrtime.bigint() / 1_000n)

const system = ActorSystem.create(node, {
  extensions: [persistence({ journal: sqliteJournal(`${store.directory}/journal.db`), scope: `node-${node}-${process.pid}` })],
  logger: quiet,
  deadLetterCapacity: 10,
})
const register = durableState('register', {
  initial: () => 0,
  commands: {
    read: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    write(ctx, m) {
      ctx.set(m.value)
      ctx.tell(m.replyTo, 1)
    },
    swap(ctx, m) {
      if (ctx.state === m.before) ctx.set(m.value)
      ctx.tell(m.replyTo, ctx.state === m.value ? 1 : 0)
    },
  },
})

// NATS is away, or slower than the lease: the process is started again until it gets through.
const startAgain = (cause) => {
  if (cause.code === 'registry-unavailable' || cause.why === 'unreachable') process.exit(1)
  throw cause
}
const cluster = await Cluster.join(system, { name: 'registers', node, engine: nats({ servers: url }), lease }).catch(startAgain)
const self = `${cluster.self.session.node}#${cluster.self.session.number}`
const registers = cluster.sharded('register', (id) => register(id), { shards, persistent: true, passivateAfter: 5_000, stopTimeout: 1_000 })
await registers.ready.catch(startAgain)
say('up', self)
const life = { over: false }
void cluster.ended.then((cause) => {
  life.over = true
  say('over', self, cause?.code ?? 'left')
  setTimeout(() => process.exit(0), 300)
})

let calls = 0
/** No value is written twice, by nobody. */
let values = 0
const nextValue = () => (process.pid % 100_000) * 1_000_000 + ++values
const last = new Map()

async function operate(client, id, op, value = 0, before = 0) {
  const call = `${process.pid}-${++calls}`
  say('call', call, client, id, op, value, before, now())
  try {
    const answer = await registers.ref(id).ask({ type: op, value, before }, { timeout: 10_000 })
    say('done', call, answer, now())
    if (op === 'read') last.set(id, answer)
  } catch {
    // Whether it was done is not known.
  }
}

/** Writes and reads, wherever the register is. */
async function write(client, id) {
  for (let n = 0; !life.over; n++) {
    const kind = Math.random()
    if (kind < 0.4) await operate(client, id, 'write', nextValue())
    else if (kind < 0.6) await operate(client, id, 'swap', nextValue(), last.get(id) ?? 0)
    else await operate(client, id, 'read')
    await after(pace * Math.random() * 2)
  }
}
/** Reads only, and only what is here: nothing crosses the wire for it. */
async function read(client, id) {
  let seen
  while (!life.over) {
    if (registers.ownerOf(id) === node) {
      if (stale && seen !== undefined && Math.random() < 0.1) {
        // The planted violation: what was read a while ago is answered once more.
        const call = `${process.pid}-${++calls}`
        say('call', call, client, id, 'read', 0, 0, now())
        say('done', call, seen, now())
        seen = undefined
      } else {
        await operate(client, id, 'read')
        seen ??= last.get(id)
      }
    }
    await after((pace / 2) * Math.random() * 2)
  }
}
for (const [i, id] of ids.entries()) {
  void write(2 * i, id)
  void read(2 * i + 1, id)
}
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'leave') void cluster.leave()
})
