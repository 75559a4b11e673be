// `npm run chaos:journal`: a process writes to a journal and is killed in the middle, again and again; this one keeps what it was told is
// stored, and compares it with what the journal has afterwards. With PostgreSQL the server crashes or restarts, too; with SQLite the process is
// also stopped while another takes over, its disk is full, or the thread that writes ends. The leaky control
// acknowledges before it hands over, as a store that does not flush would: if that is not caught, nothing here proves anything.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, flag, oneOf, whole } from '@troupe/testkit/internal'
import { Account } from './account.mjs'
import { environment, fileOf, openStore } from './store.mjs'

const { rounds, store, through, leaky, seed } = commandLine({
  name: 'npm run chaos:journal',
  about: 'Kills a process that writes to a journal, round after round, and compares what was acknowledged with what is there afterwards.',
  options: {
    rounds: whole('how many kills', 25),
    store: oneOf('store', ['sqlite', 'postgres'], 'which journal', 'sqlite'),
    through: oneOf('way', ['actors', 'port'], 'who writes: persistent actors, or groups handed to the journal itself', 'actors'),
    leaky: flag('acknowledges before the write is handed to the store: must be caught'),
    seed: whole('what the moments of the kills are made from', 1, {}),
  },
})

const writer = fileURLToPath(new URL(through === 'port' ? './writer.mjs' : './actors.mjs', import.meta.url))
let state = seed >>> 0
/** From 0 to 1, the same for the same seed. */
const random = () => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const folder = mkdtempSync(join(tmpdir(), 'troupe-chaos-'))
let server
let place = { store, directory: join(folder, 'data') }
if (store === 'postgres') {
  const { findPostgres, startPostgres } = await import('../../../../tools/engines/postgres.mjs')
  const found = findPostgres()
  if (found === undefined) {
    process.stderr.write('No PostgreSQL was found; npm run engines -- --only postgres fetches one.\n')
    process.exit(1)
  }
  server = await startPostgres(found)
  place = { store, url: server.url }
  const { createPostgresSchema } = await import('@troupe/persistence')
  await createPostgresSchema({ connectionString: server.url })
}

const account = new Account()
let crashes = 0
/** How often each fault was made, with SQLite. */
const faults = { kill: 0, stop: 0, full: 0, thread: 0 }
let broken

function start(fault, task) {
  const command = [process.execPath, ...(fault === 'thread' ? ['--import', new URL('./kill-worker.mjs', import.meta.url).href] : []), writer, task]
  const env = { ...process.env, TROUPE_KILL_WORKER_AFTER: String(Math.floor(100 + random() * 300)) }
  const options = { stdio: ['ignore', 'pipe', 'inherit'], env }
  if (fault !== 'full') return spawn(command[0], command.slice(1), options)
  // A file that may not grow fails as a full disk does: the last write is a short one. In units of 512 bytes.
  const sizes = ['', '-wal'].map((end) => statSync(fileOf(place.directory) + end, { throwIfNoEntry: false })?.size ?? 0)
  const most = Math.ceil((Math.max(...sizes, 100_000) + random() * 400_000) / 512)
  return spawn('sh', ['-c', `trap '' XFSZ; ulimit -f ${most}; exec "$@"`, 'sh', ...command], options)
}

/** Stops the writer somewhere, takes its scope over, and lets it go on: nothing that it writes then may be stored. */
async function takeOver(child) {
  child.kill('SIGSTOP')
  let journal
  try {
    for (;;) {
      try {
        journal ??= await openStore(place, environment)
        await journal.raise('default', (await journal.epoch('default')) + 1)
        return
      } catch (cause) {
        // It was stopped in the middle of a write, and holds the lock: it goes on for a moment.
        if (cause.code !== 'journal-unavailable') throw cause
        child.kill('SIGCONT')
        await after(20)
        child.kill('SIGSTOP')
      }
    }
  } finally {
    child.kill('SIGCONT')
    await after(100)
    await journal?.close()
  }
}

/** One writer, until it is killed. Resolves when it is gone. */
async function round(number) {
  // Those in between are for the comparison, and for takeovers.
  const epoch = 10 * number
  const fault = store === 'sqlite' && !leaky ? Object.keys(faults)[(number - 1) % 4] : 'kill'
  faults[fault]++
  const child = start(fault, JSON.stringify({ ...place, epoch, leaky, seed: seed + number }))
  const gone = new Promise((resolve) => child.once('close', resolve))
  let begun
  const writing = new Promise((resolve) => (begun = resolve))
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) account.acknowledged(JSON.parse(line), epoch)
    begun()
  })
  await Promise.race([writing, gone])
  await after(random() * 150)
  if (server !== undefined && number % 3 === 0) {
    crashes++
    await (number % 2 === 0 ? server.crash() : server.stop())
  }
  if (fault === 'stop') await takeOver(child)
  // It goes on with another thread, or until its disk is full.
  if (fault === 'thread' || fault === 'full') await Promise.race([after(500), gone])
  if (fault === 'thread' && child.signalCode !== null) broken = `a writer whose thread ended was ended with it (${child.signalCode})`
  child.kill('SIGKILL')
  await gone
  if (server !== undefined && number % 3 === 0) await server.start()
}

try {
  for (let number = 1; number <= rounds && broken === undefined; number++) {
    await round(number)
    const journal = await openStore(place, environment)
    try {
      // Before anything is read, as everybody does: what a dead process has handed to a server may be stored after its end.
      await journal.raise('default', (await journal.epoch('default')) + 1)
      broken ??= await account.compare(journal, number === rounds)
    } finally {
      await journal.close()
    }
    if (account.lost > 0) break
    if (number % 10 === 0) console.log(`round ${number}: acknowledged ${account.told}, recovered ${account.recovered}, lost ${account.lost}`)
  }
} finally {
  await server?.end()
  rmSync(folder, { recursive: true, force: true })
}
console.log(
  `${store} through ${through}${leaky ? ', leaky' : ''}: ${account.rounds} kills, ${
    store === 'sqlite'
      ? `${faults.stop} takeovers of a stopped one, ${faults.full} full disks, ${faults.thread} ended threads`
      : `${crashes} crashes of the server`
  }; acknowledged ${account.told} events, recovered ${account.recovered}, lost ${account.lost}`,
)
if (broken !== undefined) console.log(broken)
if (account.told === 0) console.log('Nothing was acknowledged at all.')
const caught = account.lost > 0
if (leaky) console.log(caught ? 'The leak was caught, as it must be.' : 'The leak was NOT caught: this run proves nothing.')
process.exitCode = account.told > 0 && caught === leaky && (leaky || broken === undefined) ? 0 : 1
