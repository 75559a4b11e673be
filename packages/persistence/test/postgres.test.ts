// The contract against a real PostgreSQL, as a role that may do what the journal must do and nothing else.

import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { createPostgresSchema, postgres } from '@troupe/persistence'
import { findPostgres, type PostgresServer, startPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { journalContract } from './contract/contract.ts'

const found = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')

describe.skipIf(found === undefined)('with PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Pool
  let app: pg.Pool
  let made = 0
  beforeAll(async () => {
    server = await startPostgres(found!)
    const { host, port, user, password, database } = server
    admin = new pg.Pool({ host, port, user, password, database, max: 2 })
    await admin.query("create role app login password 'app'")
    app = new pg.Pool({ host, port, user: 'app', password: 'app', database, max: 20 })
    for (const pool of [admin, app]) pool.on('error', () => undefined)
  })
  afterAll(async () => {
    await app?.end()
    await admin?.end()
    await server?.end()
  })

  journalContract('postgres()', async () => {
    const schema = `journal ${++made}`
    await createPostgresSchema(admin, { schema, role: 'app', keeper: 'app' })
    return {
      source: postgres(app, { schema }),
      dispose: async () => void (await admin.query(`drop schema "${schema}" cascade`)),
    }
  })
})
