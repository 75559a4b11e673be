// Writes a new project. Everything is checked before the first file is written, and nothing that is there is changed.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { filesOf } from './template.ts'
import { version } from './version.ts'

/** A project that cannot be begun there, or by that name. */
export class Refused extends Error {
  readonly code = 'refused'
  override get name(): string {
    return 'Refused'
  }
}

/** What is begun, and where. */
export interface CreateOptions {
  /** The folder, made where it is not there; its last part is the name unless that is given. */
  readonly folder: string
  /** What the package is called. */
  readonly name?: string | undefined
}

/** What was written. */
export interface Created {
  readonly folder: string
  readonly name: string
  /** Paths below the folder. */
  readonly files: readonly string[]
}

/**
 * Writes a project that installs, runs, can be looked at and has a test.
 *
 * Guarantees: no file that is there is changed. Fails: with `Refused` where the folder has something in it (other than `.git`), or the name is none that a package
 * may have.
 *
 * @example
 * const { folder } = createProject({ folder: 'my-app' })
 */
export function createProject(options: CreateOptions): Created {
  const { folder: said, name: given } = (options ?? {}) as Partial<CreateOptions>
  if (typeof said !== 'string' || said.trim() === '') throw new Refused('Say which folder the project goes to, such as my-app.')
  const folder = resolve(said)
  const name = checkedName(given ?? basename(folder))
  const there = entriesOf(folder)
  if (there.length > 0) throw new Refused(`${folder} is not empty: it has ${listed(there)}. Name another folder, or empty it.`)
  const files = filesOf(name, version)
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { flag: 'wx' })
  }
  return { folder, name, files: Object.keys(files) }
}

/** Why a name is none; undefined where it is one. */
export function problemOf(name: unknown): string | undefined {
  if (typeof name === 'string' && /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/.test(name) && name.length <= 214 && name !== 'node_modules')
    return undefined
  return `${JSON.stringify(name) ?? String(name)} is no name for a package: use small letters, digits, dots and dashes, such as my-app.`
}

function checkedName(name: unknown): string {
  const problem = problemOf(name)
  if (problem !== undefined) throw new Refused(problem)
  return name as string
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((entry) => entry !== '.git')
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new Refused(`${folder} is a file. Name another folder.`)
    throw new Refused(`${folder} cannot be read: ${(cause as Error).message}.`)
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => JSON.stringify(name))
  return `${shown.join(', ')}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ''}`
}
