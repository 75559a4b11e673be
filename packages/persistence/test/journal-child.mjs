// One process that uses a journal as told by a JSON argument, and says what happens in lines of JSON: for tests of what several processes
// do to one store, and of what a process is told that must not take the test with it. Uses the built package.

import { sqliteJournal } from '@troupe/persistence'

const { mode, directory, epoch = 1, id = 'cart/1', scope = 'default', count = Infinity, bytes = 100_000, after = 0 } = JSON.parse(process.argv[2])
const environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(() => task(), ms)
    return () => clearTimeout(timer)
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const told = (cause) => ({ code: cause?.code, message: cause?.message })
const event = (n, text = '') => ({ type: 'added', version: 1, data: JSON.stringify({ n, text }), tags: ['all'], subject: undefined, time: 1000 + n })
const run = (first, text) => ({ write: 'run', id, first, events: [event(first, text)], timers: [], scope, epoch })
const append = async (journal, first, text) => {
  const [{ is, cause }] = await journal.append([run(first, text)])
  return { is, ...(cause === undefined ? {} : told(cause)) }
}

const modes = {
  /** Takes over, and writes until it is fenced or has written so many. */
  async own(journal) {
    await journal.raise(scope, epoch)
    const [{ seq }] = await journal.heads([id])
    say({ owns: epoch, from: seq })
    for (let n = seq + 1; n <= seq + count; n++) {
      const { is } = await append(journal, n)
      if (is !== 'stored') return say({ is, at: n })
      say({ acknowledged: n })
    }
  },
  /** Writes until that fails; then says whether the journal goes on. */
  async fill(journal) {
    await journal.raise('default', epoch)
    let n = 0
    let outcome
    do outcome = await append(journal, ++n, 'x'.repeat(100_000))
    while (outcome.is === 'stored' && n < 1000)
    say({ stored: n - 1, outcome })
    say({ head: (await journal.heads([id]))[0].seq, damages: (await journal.verify()).damages })
    say({ again: await append(journal, n, 'x'.repeat(100_000)) })
  },
  /** Ends in the middle of a write, as a program does that calls exit, or in which nobody catches an error. */
  async exit(journal) {
    await journal.raise('default', epoch)
    say({ acknowledged: (await append(journal, 1)).is === 'stored' ? 1 : 0 })
    void append(journal, 2, 'x'.repeat(bytes))
    // Until the store is in the middle of it.
    if (after > 0) await new Promise((resolve) => setTimeout(resolve, after))
    if (count !== 1) process.exit(3)
    queueMicrotask(() => {
      throw new Error('nobody catches this')
    })
    await new Promise(() => {})
  },
  /** Stands still in the middle of a read, as a process does that is stopped there. */
  async 'stand-still'() {
    const { loadSqlite } = await import('@troupe/sqlite')
    const connection = (await loadSqlite()).open(`${directory}/journal.db`)
    connection.exec('begin')
    connection.prepare('select count(*) as n from heads').get()
    say({ pid: process.pid })
    process.kill(process.pid, 'SIGSTOP')
    connection.exec('commit')
    connection.close()
  },
  /** Waits for its end. */
  async 'exit-early'() {
    await new Promise(() => {})
  },
  /** Reads everything by every way. */
  async read(journal) {
    const [head] = await journal.heads([id])
    say({ head: head.seq })
    const events = []
    for await (const part of journal.replay([{ id, after: 0 }], 100)) {
      if ('damage' in part) say({ damage: told(part.damage) })
      else events.push(...part.events)
    }
    say({ events: events.length, same: events.every((one, i) => one.data === event(i + 1).data) })
    let found = 0
    for await (const batch of journal.events({ tag: 'all', batch: 100, once: true })) found += batch.length
    say({ found })
    say({ verified: await journal.verify() })
  },
}

// Ends while it opens the journal.
if (mode === 'exit-early') setTimeout(() => process.exit(3), after)

for (const place of [directory].flat())
  try {
    const journal = await sqliteJournal(`${place}/journal.db`).open(environment)
    try {
      await modes[mode](journal)
    } finally {
      await journal.close()
    }
  } catch (cause) {
    say({ failed: told(cause) })
  } finally {
    say({ done: place })
  }
