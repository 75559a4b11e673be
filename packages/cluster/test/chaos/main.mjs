// `npm run chaos:cluster`: nodes in processes of their own on a real NATS server, which are killed, stopped and cut off, alone and two at once, and
// whose server is killed, while numbered messages go between all of them. Everything is accounted for, and the journal is read back. The control
// has a journal without a fence: if that is not caught, nothing here proves anything.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine, flag, oneOf, whole } from '@troupe/testkit/internal'
import { createPostgresSchema, postgres, sqliteJournal } from '@troupe/persistence'
import { findNats, startNats } from '../../../../tools/engines/nats.mjs'
import { findPostgres, startPostgres } from '../../../../tools/engines/postgres.mjs'
import { Account } from './account.mjs'
import { Faults, kinds } from './faults.mjs'
import { Nodes } from './nodes.mjs'
import { echoShards } from './stage.mjs'

const command = {
  name: 'npm run chaos:cluster',
  about:
    'Kills, stops, cuts off and restarts the nodes of a cluster and its NATS server, fault after fault, and accounts for every message, every write and every error that a client sees in a rolling restart.',
  options: {
    faults: whole('how many faults', 60),
    lease: whole('the lease of a node in ms', 3_000, { from: 1_000 }),
    nodes: whole('how many nodes', 3, { from: 2 }),
    pace: whole('ms between two questions of a node to an id', 100),
    store: oneOf('store', ['postgres', 'sqlite', 'found'], 'which journal: PostgreSQL if it is found, else SQLite', 'found'),
    only: oneOf('kind', kinds, 'just this fault (default: all)', undefined),
    'no-fence': flag('the control: a journal that takes what anybody writes; must be caught'),
    untimed: flag('without limits on how long an id is silent and an end is unknown: for a machine that has other work'),
    seed: whole('what the faults are chosen by', 1, {}),
  },
}
const { faults, lease, nodes: size, pace, store, only, 'no-fence': unfenced, untimed, seed } = commandLine(command)

const found = findNats()
if (found === undefined) {
  process.stderr.write('No nats-server was found; npm run engines -- --only nats fetches one.\n')
  process.exit(1)
}
const database = store === 'sqlite' ? undefined : findPostgres()
if (store === 'postgres' && database === undefined) {
  process.stderr.write('No PostgreSQL was found; npm run engines -- --only postgres fetches one.\n')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'troupe-chaos-'))
const server = await startNats(found)
const base = database === undefined ? undefined : await startPostgres(database)
const place = base === undefined ? { directory: join(folder, 'data') } : { url: base.url }
if (base !== undefined) await createPostgresSchema({ connectionString: base.url })
const account = new Account()
const nodes = new Nodes({ server, account, size, given: { lease, pace, store: place, fence: !unfenced } })
const chaos = new Faults({ server, nodes, account, lease, seed, only, untimed })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void nodes.end().then(() => process.exit(130)))
const began = performance.now()
try {
  await nodes.start()
  for (let n = 1; n <= faults; n++) {
    await chaos.strike(n)
    // The control has shown what it is for.
    if (account.wrong.length > 0 && !unfenced) break
  }
} catch (cause) {
  account.wrong.push(cause.message)
} finally {
  await nodes.end()
  const journal = await (base === undefined ? sqliteJournal(`${place.directory}/journal.db`) : postgres({ connectionString: base.url })).open(
    environment(),
  )
  await account.compare(journal)
  await journal.close()
  await base?.end()
  await server.end()
  rmSync(folder, { recursive: true, force: true })
}

const { acknowledged, refused, stored, moved, ended, behind, ledgers, unknown, memory, wrong } = account
console.log(
  `${chaos.done} faults in ${((performance.now() - began) / 1_000).toFixed(0)} s (${chaos.counts}), lease ${lease} ms, ${base === undefined ? 'SQLite' : 'PostgreSQL'}${unfenced ? ' WITHOUT A FENCE' : ''}`,
)
console.log(`${acknowledged} acknowledged, ${refused} refused, ${stored} events stored, ${moved} changes of writer, ${ended.size} sessions ended`)
console.log(`${ledgers} ledgers added up, at most ${unknown} unknown; at most ${memory} MiB in a node, ${behind.size} notes dead letters beyond that`)
console.log(`longest silence of an id: ${chaos.gaps}`)
const { count: rolls, asked, failed, slowest } = chaos.rolls
console.log(
  `${rolls} rolling restarts with ${echoShards} shards: ${failed} of ${asked} asks of clients failed; the slowest node left in ${(slowest / 1_000).toFixed(1)} s`,
)
for (const text of wrong.slice(0, 20)) console.log(`WRONG: ${text}`)
if (wrong.length > 20) console.log(`and ${wrong.length - 20} more`)
if (acknowledged === 0) console.log('Nothing was acknowledged at all.')
const caught = wrong.some((text) => /^(?:K2|K7|LOST)/.test(text))
if (unfenced) console.log(caught ? 'The missing fence was caught, as it must be.' : 'The missing fence was NOT caught: this run proves nothing.')
else console.log(wrong.length === 0 ? '0 lost, 0 double writers.' : `${wrong.length} promises broken.`)
process.exitCode = acknowledged > 0 && (unfenced ? caught : wrong.length === 0) ? 0 : 1

function environment() {
  const after = (ms, task) => {
    const timer = setTimeout(() => task(), ms)
    return () => clearTimeout(timer)
  }
  return { now: () => Date.now(), random: () => Math.random(), after, logger: { debug() {}, info() {}, warn() {}, error() {} } }
}
