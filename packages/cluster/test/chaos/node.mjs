// One node of a chaos run: it has persistent sharded actors and a sink, drives both on all nodes with numbered messages, and says on its output
// what was acknowledged, what was stored, who ended and what is wrong. It is killed, stopped and cut off by whoever started it.

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'
import { eventSourced, persistence, postgres, sqliteJournal } from '@troupe/persistence'
import { unfenced, watched } from './journal.mjs'
import { echoIds, echoShards, ids, shards } from './stage.mjs'

const { node, url, lease, pace, store, fence } = JSON.parse(process.argv[2])
const say = (...line) => {
  try {
    writeSync(1, `${JSON.stringify(line)}\n`)
  } catch {
    process.exit(0)
  }
}
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const quiet = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false }

const source = store.url === undefined ? sqliteJournal(`${store.directory}/journal.db`) : postgres({ connectionString: store.url })
const journal = watched(fence ? source : unfenced(source), (write) =>
  say('stored', write.scope, write.epoch, write.id, write.first, write.events.length),
)
const system = ActorSystem.create(node, {
  extensions: [persistence({ journal, scope: `node-${node}-${process.pid}` })],
  logger: quiet,
  deadLetterCapacity: 10,
})

let self = ''
let activations = 0
/** Each activation writes under a name of its own, so that two writers of one id are told apart. */
const writer = new Map()
const account = eventSourced('account', {
  initial: () => 0,
  events: { noted: (count) => count + 1 },
  commands: {
    note(ctx, m) {
      ctx.persist({ type: 'noted', from: m.from, n: m.n, by: writer.get(ctx.key) })
      ctx.tell(m.replyTo, ctx.seq)
    },
  },
})
const make = (id) => {
  writer.set(id, `${self}/${++activations}`)
  return account(id)
}

const sink = () => {
  const last = new Map()
  return receive((_ctx, m) => {
    if (m.type !== 'note') return same
    const before = last.get(m.from) ?? 0
    if (m.n <= before) say('wrong', `K1: the sink of ${self} got ${m.n} of ${m.from} after ${before}`)
    // Allowed only where whoever sent it was told that too much waited.
    if (m.n > before + 1) say('missing', self, m.from, before, m.n)
    last.set(m.from, m.n)
    return same
  })
}

// NATS is away, or slower than the lease. The process is started again until it gets through; a run in which it never does fails.
const startAgain = (cause) => {
  if (cause.code === 'registry-unavailable' || cause.why === 'unreachable') process.exit(1)
  throw cause
}
const cluster = await Cluster.join(system, { name: 'chaos', node, engine: nats({ servers: url }), lease }).catch(startAgain)
self = `${cluster.self.session.node}#${cluster.self.session.number}`
system.spawn(sink(), { name: 'sink' })
const accounts = cluster.sharded('account', make, { shards, persistent: true, passivateAfter: 5_000, stopTimeout: 1_000 })
await accounts.ready.catch(startAgain)
const echo = () =>
  receive((_ctx, m) => {
    m.replyTo.tell(m.n)
    return same
  })
const echoes = cluster.sharded('echo', echo, { shards: echoShards })
await echoes.ready.catch(startAgain)
say('up', self)
const life = { over: false, leaving: false }
void cluster.ended.then((cause) => {
  life.over = true
  say('over', self, cause?.code ?? 'left')
  // A program does not end because its node did: what it has in its hands still gets to the journal, and must be refused there.
  setTimeout(() => process.exit(0), 300)
})

/** Numbered notes to one id, one after the other. */
async function drive(id) {
  const ref = accounts.ref(id)
  for (let n = 1; !life.over; n++) {
    say('asked', id, self, n)
    const since = performance.now()
    try {
      await ref.ask({ type: 'note', from: self, n }, { timeout: 30_000 })
      say('acknowledged', id, self, n)
    } catch (cause) {
      if (!life.over) say('refused', id, self, n, String(cause?.code))
      failed(id, cause, since)
    }
    await after(pace)
  }
}
for (const id of ids) void drive(id)

/** What a client of this node gets to see: not what it asks while its own node leaves. */
function failed(id, cause, since) {
  if (!life.over && !life.leaving) say('failed', id, String(cause?.code), Math.round(performance.now() - since))
}
async function client(id) {
  const ref = echoes.ref(id)
  for (let n = 1; !life.over && !life.leaving; n++) {
    const since = performance.now()
    try {
      const answer = await ref.ask({ n }, { timeout: 30_000 })
      if (answer !== n) say('wrong', `K1: ${id} answered ${String(answer)} to ${n}`)
      life.echoes = (life.echoes ?? 0) + 1
    } catch (cause) {
      failed(id, cause, since)
    }
    await after(pace)
  }
}
for (const id of echoIds) void client(id)

/** Numbered notes to the sink of another node for as long as its session lasts, and one word when it has ended. */
const peers = new Map()
async function meet(member) {
  const name = `${member.session.node}#${member.session.number}`
  if (name === self || peers.has(name)) return
  peers.set(name, undefined)
  for (let tries = 0; tries < 40 && !life.over; tries++) {
    const ref = await cluster.find(member.session.node, '/user/sink')
    const now = cluster.members.find(({ session }) => session.node === member.session.node)
    if (now?.session.number !== member.session.number) return
    if (ref !== undefined) {
      peers.set(name, ref)
      system.spawn(watcher(ref, name))
      return send(name, ref)
    }
    await after(100)
  }
}
async function send(name, ref) {
  for (let n = 1; peers.has(name) && !life.over; n++) {
    ref.tell({ type: 'note', from: self, n })
    await after(20)
  }
}
function watcher(ref, name) {
  let heard = 0
  return receive(
    () => same,
    (ctx, signal) => {
      if (signal.type === 'PostStart') {
        ctx.watch(ref)
        say('watches', self, name)
      }
      if (signal.type === 'Terminated') {
        if (++heard > 1) say('wrong', `K4: ${self} heard ${heard} times that ${name} has ended`)
        peers.delete(name)
        say('terminated', self, name)
      }
      return same
    },
  )
}
for (const member of cluster.members) void meet(member)
cluster.events.listen(({ type, member }) => {
  if (type === 'joined') void meet(member)
})

/** K6: what is beyond the bound of a node that takes nothing is no secret. */
system.events.listen(({ type, letter }) => {
  if (type !== 'message.dead' || letter.reason !== 'node-behind' || letter.message.type !== 'note') return
  const [name] = [...peers].find(([, ref]) => ref === letter.recipient) ?? []
  if (name !== undefined) say('behind', name, self, letter.message.n)
})

setInterval(() => {
  say('memory', Math.round(process.memoryUsage.rss() / 1_048_576))
  say('echoed', life.echoes ?? 0)
  life.echoes = 0
  cluster.ledger().then(
    (l) => {
      const rest = l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown
      say('ledger', l.unknown)
      if (rest !== l.sent) say('wrong', `K3: of ${l.sent} messages ${rest} are accounted for: ${JSON.stringify(l)}`)
    },
    () => {},
  )
}, 1_000)

async function ordered(line) {
  const [word, ...rest] = line.split(' ')
  if (word === 'leave') {
    life.leaving = true
    return void cluster.leave()
  }
  // Far more than may wait for one node; in slices, as a program that does other things too.
  const to = [...peers].find(([name]) => name.startsWith(`${rest[0]}#`))?.[1]
  const text = 'x'.repeat(1_000)
  for (let mb = to === undefined ? 0 : Number(rest[1]); mb > 0; mb--) {
    for (let i = 0; i < 1_000; i++) to.tell({ type: 'ballast', text })
    await after(5)
  }
  say('flooded')
}
createInterface({ input: process.stdin }).on('line', (line) => void ordered(line))
