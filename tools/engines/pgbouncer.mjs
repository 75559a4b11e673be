// A real pgbouncer for tests: found, and run in front of a PostgreSQL in a temporary folder, never as root. It is not fetched: Debian has it.

import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printed, searchPath, versionIn } from './cache.mjs'
import { endProgram, freePort, startProgram } from './server.mjs'

/** The user that runs it where we are root: pgbouncer refuses that. */
const nobody = 65_534

export function findPgbouncer() {
  for (const folder of ['/usr/sbin', ...searchPath()]) {
    const program = join(folder, 'pgbouncer')
    const version = existsSync(program) ? versionIn(printed(program, ['--version'])) : undefined
    if (version !== undefined) return { program, version: version.join('.') }
  }
  return undefined
}

/** Pools transactions on `connections` connections to a server that `startPostgres` started; every client is that server's user. */
export async function startPgbouncer(found, server, { connections = 3 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-pgbouncer-'))
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
postgres = host=${server.host} port=${server.port} dbname=${server.database} user=${server.user} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
server_round_robin = 1
`,
  )
  const running = await startProgram(found.program, [settings], /process up/, { cwd: folder, ...user })
  return {
    host: '127.0.0.1',
    port,
    user: server.user,
    database: 'postgres',
    end: async () => {
      await endProgram(running, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
