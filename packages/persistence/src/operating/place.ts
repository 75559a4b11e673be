// Journals opened without a system, by whoever looks after them: named as a person names them, and taken over by nobody.

import { existsSync } from 'node:fs'
import { checkBoolean, checkCan, checkText, readOptions, type Table } from '@troupe/core/internal'
import type { Journal, JournalEnvironment, JournalSource } from '../journal/port.ts'
import { postgres } from '../journal/postgres/postgres.ts'
import { sqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { JournalUnavailable } from '../values/errors.ts'

/** How a journal is named besides its place. */
export interface PlaceOptions {
  /** The schema of a journal in PostgreSQL; `troupe` unless told. */
  readonly schema?: string | undefined
  /** Whether one may be made where there is none; a journal that is missing is refused unless told. */
  readonly make?: boolean | undefined
}

const table: Table<PlaceOptions> = { schema: checkText, make: checkBoolean }

/**
 * The journal at a place: `postgres://…` is a database, anything else the file of a SQLite journal.
 *
 * Guarantees: nothing is opened yet. Fails with `InvalidOption`; opening fails as `JournalSource` says, and with `JournalUnavailable`
 * where there is no file and none may be made.
 *
 * @example
 * const journal = await openJournal(journalAt('./data/shop.db'))
 */
export function journalAt(place: string, options: PlaceOptions = {}): JournalSource {
  checkText('place', place)
  const { schema, make = false } = readOptions('journalAt', options, table)
  if (/^postgres(ql)?:\/\//.test(place)) return postgres({ connectionString: place }, { schema })
  const source = sqliteJournal(place)
  if (make) return source
  return {
    ...source,
    open(environment) {
      if (existsSync(place)) return source.open(environment)
      return Promise.reject(
        new JournalUnavailable(source.name, `there is no file ${place}; name one that exists, or create it by journalAt(place, { make: true })`),
      )
    },
  }
}

const quiet = (): void => undefined
const environment: JournalEnvironment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
}

/**
 * Opens a journal without a system: to look at it, to check it, to copy it.
 *
 * Guarantees: takes nothing over; a system that writes to it goes on. Its `close` is owed. Fails as `JournalSource.open` does.
 *
 * @example
 * const journal = await openJournal(sqliteJournal('./data/shop.db'))
 * console.log(await journal.stats(), (await journal.verify()).damages)
 * await journal.close()
 */
export function openJournal(source: JournalSource): Promise<Journal> {
  checkCan('source', source, ['a journal, such as sqliteJournal(file)', 'open'])
  return source.open(environment)
}
