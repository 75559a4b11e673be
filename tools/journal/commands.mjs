// What can be done to a journal from a terminal. Each command opens the journal, does its work and closes it; it returns 1 where it found
// something wrong, and throws what it was refused with. None takes a journal over: a system that uses it goes on.

import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pipeline } from 'node:stream/promises'
import {
  backupLmdb,
  createPostgresSchema,
  exportJournal,
  importJournal,
  journalAt,
  kindOf,
  kindStats,
  listIds,
  openJournal,
  showId,
  snapshotKey,
} from '@troupe/persistence'
import { count, row, table, timeOf } from './text.mjs'

const isPostgres = (place) => /^postgres(ql)?:\/\//.test(place)

/** Uses an open journal. */
async function using({ journal: place, schema }, make, work) {
  const journal = await openJournal(journalAt(place, isPostgres(place) ? { schema, make } : { make }))
  try {
    return await work(journal)
  } finally {
    await journal.close()
  }
}
const say = (line) => process.stdout.write(`${line}\n`)

export const commands = {
  create: {
    about: 'makes a new one; the tables of PostgreSQL, for --role and --keeper',
    async run({ journal: place, schema, role, keeper }) {
      if (isPostgres(place)) await createPostgresSchema({ connectionString: place }, { schema, role, keeper })
      await using({ journal: place, schema }, true, ({ identity }) => say(`journal ${identity} is there`))
    },
  },
  ls: {
    about: 'lists ids',
    run: (given) =>
      using(given, false, async (journal) => {
        const rows = []
        let more = false
        for await (const id of listIds(journal, { kind: given.kind })) {
          if (rows.length === given.most) {
            more = true
            break
          }
          rows.push(id)
        }
        say(
          table(
            ['id', 'last event', 'deleted up to', 'snapshots at', 'revision'],
            rows.map(({ id, seq, deleted, snapshots, revision }) => [id, seq, deleted || '', snapshots.join(' '), revision ?? '']),
          ),
        )
        if (more) say(`… and more; --most ${given.most * 10} shows them`)
      }),
  },
  show: {
    about: 'one id with its events',
    what: '<what>, an id such as cart/42',
    needs: ['what'],
    run: (given) =>
      using(given, false, async (journal) => {
        const { head, events } = await showId(journal, given.what, { after: given.after, most: given.most })
        const { seq, deleted, snapshot, state } = head
        if (seq === 0 && state === undefined && snapshot === undefined) {
          process.stderr.write(`There is no ${given.what} in this journal. For a list: npm run journal -- ls ${given.journal}\n`)
          return 1
        }
        say(`${given.what}: last event ${seq}${deleted > 0 ? `, deleted up to ${deleted}` : ''}`)
        if (snapshot !== undefined) say(`snapshot at ${snapshot.seq}, version ${snapshot.version}, ${timeOf(snapshot.time)}: ${snapshot.data}`)
        if (state !== undefined)
          say(`state of revision ${state.revision}, version ${state.version}, ${timeOf(state.time)}: ${state.data ?? 'cleared'}`)
        for (const { seq: number, type, version, time, tags, subject, data } of events)
          say(
            row(
              number,
              timeOf(time),
              `${type}@${version}`,
              data,
              tags.map((tag) => `#${tag}`).join(' '),
              subject === undefined ? '' : `of ${subject}`,
            ),
          )
        if (events.length > 0 && events.at(-1).seq < seq) say(`… up to ${seq}; --after ${events.at(-1).seq} goes on`)
        return 0
      }),
  },
  verify: {
    about: 'reads everything and checks it',
    run: (given) =>
      using(given, false, async (journal) => {
        const { ids, events, snapshots, damages } = await journal.verify()
        for (const { where, problem } of damages) say(`DAMAGED  ${where}: ${problem}`)
        say(
          `${count(ids, 'id')}, ${count(events, 'event')}, ${count(snapshots, 'snapshot')}: ${damages.length === 0 ? 'all as it was written' : count(damages.length, 'damage')}`,
        )
        return damages.length === 0 ? 0 : 1
      }),
  },
  stats: {
    about: 'sizes, by kind',
    run: (given) =>
      using(given, false, async (journal) => {
        const { ids, events, snapshots, bytes } = await journal.stats()
        say(`journal ${journal.identity}${bytes === undefined ? '' : `, ${(bytes / 1e6).toFixed(1)} MB`}`)
        const kinds = await kindStats(journal)
        const rows = kinds.map((of) => [of.kind, of.ids, of.events, of.deleted, of.snapshots, of.states])
        say(table(['kind', 'ids', 'events', 'deleted', 'snapshots', 'states'], [...rows, ['in all', ids, events, '', snapshots, '']]))
      }),
  },
  snapshot: {
    about: 'takes a snapshot of one id, of what is stored',
    what: '<what>, an id such as cart/42',
    needs: ['what', 'with'],
    async run(given) {
      const exported = Object.values(await import(pathToFileURL(resolve(given.with)).href))
      const name = kindOf(given.what)
      const kind = exported.find((one) => typeof one === 'function' && (one.kind ?? one.persistence?.kind) === name)
      if (kind === undefined) throw new Error(`${given.with} exports no kind ${name}.`)
      return using(given, false, async (journal) => {
        const seq = await snapshotKey(journal, kind, given.what.slice(name.length + 1), { scope: given.scope })
        say(`a snapshot of ${given.what} stands for its events up to ${seq}`)
      })
    },
  },
  erase: {
    about: 'deletes the key of a subject, for ever',
    what: '<what>, a subject',
    needs: ['what'],
    run: (given) =>
      using(given, false, async (journal) => {
        const { is } = await journal.key(given.what)
        if (is === 'none') {
          process.stderr.write(`The journal has no subject ${JSON.stringify(given.what)}; nothing was erased.\n`)
          return 1
        }
        if (is === 'key') await journal.eraseKey(given.what)
        say(is === 'key' ? `${given.what} is erased: what was kept of it can no longer be read` : `${given.what} was erased before`)
        return 0
      }),
  },
  export: {
    about: 'writes all of it as text to --to, or to standard output',
    run: (given) =>
      using(given, false, async (journal) => {
        if (given.to !== undefined && existsSync(given.to)) throw new Error(`${given.to} is there already; name another file.`)
        const target = given.to === undefined ? process.stdout : createWriteStream(given.to, { flags: 'wx', mode: 0o600, flush: true })
        await pipeline(exportJournal(journal, { keys: given.keys }), target, { end: given.to !== undefined })
        if (given.to !== undefined) say(`exported to ${given.to}`)
      }),
  },
  import: {
    about: 'takes what was exported, from --from, or from standard input, into a new one',
    run(given) {
      if (given.from !== undefined && !existsSync(given.from)) throw new Error(`There is no file ${given.from}.`)
      return using(given, true, async (journal) => {
        const { from, time, counts } = await importJournal(journal, given.from === undefined ? process.stdin : createReadStream(given.from))
        say(`imported ${count(counts.id, 'id')}, ${count(counts.event, 'event')}, ${count(counts.key, 'key')} of journal ${from}, exported ${time}`)
      })
    },
  },
  backup: {
    about: 'copies a directory of LMDB that is in use to --to',
    needs: ['to'],
    async run({ journal: place, to, keys }) {
      if (isPostgres(place)) throw new Error('PostgreSQL is backed up by its own means: pg_dump, or archiving. For a text: export.')
      if (keys === 'only') throw new Error('Only keys are copied by export --keys only.')
      await backupLmdb(place, to, { keys })
      say(`copied to ${to}`)
    },
  },
}
