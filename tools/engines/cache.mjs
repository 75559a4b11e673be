// Where engines that were fetched are kept, outside of the repository, and how their programs are run once. PostgreSQL refuses to run as
// root, so that what root fetches must be readable by another user: it does not go below root's home.

import { execFileSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const root = process.getuid?.() === 0

/** The folder for `engine`, made where it is missing; refused when somebody else owns it, who could put another program there. */
export function cacheFolder(engine) {
  const { TROUPE_ENGINES, XDG_CACHE_HOME } = process.env
  const caches = root ? tmpdir() : (XDG_CACHE_HOME ?? join(homedir(), '.cache'))
  const folder = join(TROUPE_ENGINES ?? join(caches, 'troupe-engines'), engine)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  for (const place of [join(folder, '..'), folder])
    if (process.getuid !== undefined && statSync(place).uid !== process.getuid())
      throw new Error(`${place} belongs to another user. Set TROUPE_ENGINES to a folder of your own.`)
  return folder
}

/** What a program prints; undefined where it cannot be run. */
export function printed(program, args, options = {}) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 600_000, ...options })
  } catch {
    return undefined
  }
}

/** The folders in which programs are looked for. */
export function searchPath() {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
}

/** A version as numbers, found in what a program says of itself. */
export function versionIn(text) {
  const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text ?? '')
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)]
}

/** Whether version `a` is `b` or newer. */
export function isAtLeast(a, b) {
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i] > b[i]
  return true
}
