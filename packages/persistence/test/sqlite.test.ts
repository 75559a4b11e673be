import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteJournal } from '@troupe/persistence'
import { journalContract } from './contract/contract.ts'

journalContract('sqliteJournal()', () => {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-sqlite-'))
  return Promise.resolve({
    source: sqliteJournal(join(directory, 'journal.db')),
    dispose: () => Promise.resolve(rmSync(directory, { recursive: true, force: true })),
  })
})
