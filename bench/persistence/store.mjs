// The store of a side of bench:persistence, what it is opened with, and the event that all write.

import { createPostgresSchema, postgres, sqliteJournal } from '@troupe/persistence'
import { nothing } from './nothing.mjs'

export const environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(() => task(), ms)
    return () => clearTimeout(timer)
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}

export const event = { type: 'added', version: 1, data: '{"type":"added","by":1}', tags: [], subject: undefined, time: 1_700_000_000_000 }

/** The journal of a side; what is behind a dash says what is done with it. */
export async function sourceOf(store, { folder, url }) {
  if (store.startsWith('sqlite')) return sqliteJournal(`${folder}/journal.db`)
  if (store.startsWith('none')) return nothing()
  const schema = `bench_${process.pid}`
  await createPostgresSchema({ connectionString: url }, { schema })
  return postgres({ connectionString: url }, { schema })
}
