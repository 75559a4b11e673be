// Where the bank keeps its journal: a folder of this machine, or a PostgreSQL server that is started for the occasion.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPostgresSchema, type JournalSource, postgres, sqliteJournal } from '@troupe/persistence'

/** Where it is, as another process can be told. */
export type Place = { readonly directory: string } | { readonly url: string }

export interface Store {
  readonly place: Place
  /** In words. */
  readonly name: string
  /** Lets go of it; what nobody asked to keep is removed. */
  end(): Promise<void>
}

/** The file of the journal in a folder. */
export function fileIn(directory: string): string {
  return join(directory, 'bank.db')
}

export function journalAt(place: Place): JournalSource {
  return 'directory' in place ? sqliteJournal(fileIn(place.directory)) : postgres({ connectionString: place.url })
}

/** What `tools/engines` of this repository offers. */
interface Engine {
  readonly findPostgres: () => { readonly version: string } | undefined
  readonly startPostgres: (found: { readonly version: string }) => Promise<{ readonly url: string; end(): Promise<void> }>
}

export async function openStore(store: 'sqlite' | 'postgres', data: string | undefined): Promise<Store> {
  if (store === 'sqlite') {
    const directory = data ?? mkdtempSync(join(tmpdir(), 'troupe-bank-'))
    return {
      place: { directory },
      name: `SQLite in ${fileIn(directory)}`,
      end: () => Promise.resolve(data === undefined ? rmSync(directory, { recursive: true, force: true }) : undefined),
    }
  }
  const { findPostgres, startPostgres } = (await import(new URL('../../../tools/engines/postgres.mjs', import.meta.url).href)) as Engine
  const found = findPostgres()
  if (found === undefined) throw new Error('No PostgreSQL was found; npm run engines -- --only postgres fetches one.')
  const server = await startPostgres(found)
  await createPostgresSchema({ connectionString: server.url })
  return { place: { url: server.url }, name: `PostgreSQL ${found.version}`, end: () => server.end() }
}
