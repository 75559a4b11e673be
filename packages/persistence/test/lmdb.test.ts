import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lmdb } from '@troupe/persistence'
import { journalContract } from './contract/contract.ts'

journalContract('lmdb()', () => {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-lmdb-'))
  return Promise.resolve({ source: lmdb(directory), dispose: () => Promise.resolve(rmSync(directory, { recursive: true, force: true })) })
})
