// Where running systems can be found: a directory that belongs to one user and that nobody else may open, with a socket and a descriptor for
// each. Who may open the files may look: there is no other authentication. Made or found as it has to be, or refused.

import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { NotAllowed } from '@troupe/core'

/** A path that is longer cannot be a socket: what the system keeps of it is cut off. */
const longestPath = 103

/** What is written beside a socket. */
export interface Descriptor {
  readonly protocol: 1
  readonly system: string
  readonly id: number
  readonly pid: number
  readonly socket: string
  /** When it was opened, as an ISO time. */
  readonly since: string
  /** The program, as it was started. */
  readonly program: string
}

const onWindows = process.platform === 'win32'

/** The directory of this user; `TROUPE_RUNTIME_DIR` says another. */
export function runtimeDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const said = env['TROUPE_RUNTIME_DIR']
  if (said !== undefined && said !== '') return said
  if (onWindows) return join(env['LOCALAPPDATA'] ?? tmpdir(), 'troupe')
  const own = env['XDG_RUNTIME_DIR']
  return own !== undefined && own !== '' ? join(own, 'troupe') : join('/tmp', `troupe-${userInfo().uid}`)
}

/** Makes it where it is not there; refuses one that others could have made, or may open. */
export function openDirectory(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return guarded(path)
}

/** One that is there, and nobody else's; from now on nobody else opens it. */
function guarded(path: string): string {
  if (onWindows) return path
  const found = lstatSync(path)
  const uid = process.getuid?.()
  if (!found.isDirectory() || found.uid !== uid)
    throw new NotAllowed(`${path} is not a directory of yours: nothing is opened in it. Remove it, or set TROUPE_RUNTIME_DIR to one that is.`)
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700)
  return path
}

/** Where the socket of a system goes. */
export function socketPath(directory: string, pid: number, id: number): string {
  if (onWindows) return `\\\\.\\pipe\\troupe-${pid}-${id}-${Math.random().toString(36).slice(2)}`
  const path = join(directory, `${pid}-${id}.sock`)
  if (Buffer.byteLength(path) > longestPath)
    throw new NotAllowed(`${path} is too long for a socket, which takes ${longestPath} bytes. Set TROUPE_RUNTIME_DIR to a shorter directory.`)
  return path
}

const descriptorPath = (directory: string, pid: number, id: number): string => join(directory, `${pid}-${id}.json`)

/** In one step, so that nobody reads half of it. */
export function writeDescriptor(directory: string, descriptor: Descriptor): void {
  const path = descriptorPath(directory, descriptor.pid, descriptor.id)
  writeFileSync(`${path}.new`, JSON.stringify(descriptor, undefined, 1), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

export function removeDescriptor(directory: string, { pid, id, socket }: Pick<Descriptor, 'pid' | 'id' | 'socket'>): void {
  rmSync(descriptorPath(directory, pid, id), { force: true })
  if (!onWindows) rmSync(socket, { force: true })
}

/**
 * The systems of this user that can be looked at now, the oldest first.
 *
 * Guarantees: what those left behind that were killed is cleared away; what is no descriptor is passed over. Fails: never; where there is no directory
 * there is nothing in it, and none is made.
 *
 * @example
 * for (const { system, pid } of listSystems()) console.log(system, pid)
 */
export function listSystems(directory: string = runtimeDirectory()): readonly Descriptor[] {
  const found: Descriptor[] = []
  let names: readonly string[]
  try {
    names = readdirSync(guarded(directory)).filter((name) => /^\d+-\d+\.json$/.test(name))
  } catch {
    return []
  }
  for (const name of names) {
    const descriptor = readDescriptor(join(directory, name))
    if (descriptor === undefined) continue
    if (isAlive(descriptor.pid)) found.push(descriptor)
    else removeDescriptor(directory, { ...descriptor, socket: onWindows ? '' : join(directory, `${descriptor.pid}-${descriptor.id}.sock`) })
  }
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1))
}

function readDescriptor(path: string): Descriptor | undefined {
  try {
    const read = JSON.parse(readFileSync(path, 'utf8')) as Partial<Descriptor>
    const { protocol, system, id, pid, socket, since, program } = read
    const whole = protocol === 1 && [system, socket, since, program].every((text) => typeof text === 'string')
    return whole && Number.isSafeInteger(pid) && Number.isSafeInteger(id) ? (read as Descriptor) : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    // Somebody else's, then, and so it lives.
    return (cause as { code?: unknown }).code === 'EPERM'
  }
}
