// The module of the user: found, loaded and looked at before anything runs. Its default export is the application: a behavior, which becomes the
// root of the system, or a function that is given the system. What it exports as `options` is what the system is made with.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Actor, type ActorSystem, type Behavior, behaviorOfClass, type SystemOptions } from '@troupe/core'
import { BehaviorNode, BehaviorWithOptions, requireCore } from '@troupe/core/internal'
import { Exit, exitCodes } from '../exit.ts'

/** What is run. */
export interface Program {
  readonly file: string
  /** What the system is called unless that is said. */
  readonly name: string
  readonly options: SystemOptions
  readonly main:
    | { readonly is: 'behavior'; readonly root: Behavior<never> }
    | { readonly is: 'function'; readonly start: (system: ActorSystem) => unknown }
}

/** Loads it; ends the command where there is nothing that can be run. */
export async function loadProgram(path: string): Promise<Program> {
  const file = fileOf(path)
  const exported = await loadModule(file)
  const options = exported['options'] ?? {}
  if (typeof options !== 'object')
    throw new Exit(exitCodes.usage, `${path} exports options that are no object: export the options of ActorSystem.create.`)
  return { file, name: nameFor(file), options, main: mainOf(path, exported['default']) }
}

/** The module at a path, as Node loads it. */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const exported = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
    // Two cores in one process would be two of every class: said here, and not by what goes wrong then.
    requireCore('@troupe/cli', 1)
    return exported
  } catch (cause) {
    const { code, message } = cause as { readonly code?: string; readonly message?: string }
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[mc]?tsx?$/.test(file))
      throw new Exit(exitCodes.usage, `${file} is TypeScript, which this Node does not load by itself: compile it and run what comes of it.`)
    throw new Exit(exitCodes.usage, `${file} cannot be loaded: ${(cause as Error).stack ?? message ?? String(cause)}`)
  }
}

/** The file that is meant; a folder means what Node would take of it. */
export function fileOf(path: string): string {
  const file = resolve(path)
  if (!existsSync(file)) throw new Exit(exitCodes.usage, `There is no module ${path}.`)
  if (!statSync(file).isDirectory()) return file
  const index = ['index.js', 'index.mjs'].map((name) => join(file, name)).find((one) => existsSync(one))
  if (index === undefined) throw new Exit(exitCodes.usage, `${path} is a folder without index.js: name the module that exports the application.`)
  return index
}

function mainOf(path: string, exported: unknown): Program['main'] {
  const remedy =
    'Export by default the behavior that is the root of the application, such as supervisor(…), or a function that is given the system and spawns what there is.'
  if (exported === undefined) throw new Exit(exitCodes.usage, `${path} has no default export. ${remedy}`)
  if (exported instanceof BehaviorNode || exported instanceof BehaviorWithOptions) return { is: 'behavior', root: exported as Behavior<never> }
  if (typeof exported !== 'function') throw new Exit(exitCodes.usage, `The default export of ${path} is neither a behavior nor a function. ${remedy}`)
  if (exported.prototype instanceof Actor) return { is: 'behavior', root: behaviorOfClass(exported as new () => Actor) }
  if ('url' in exported && 'options' in exported)
    throw new Exit(
      exitCodes.usage,
      `The default export of ${path} is a definition of defineActor: call it with its arguments, and export what it gives.`,
    )
  return { is: 'function', start: exported as (system: ActorSystem) => unknown }
}

/** As the package says that it is in, else as the file is called. */
function nameFor(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest)) {
      try {
        const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name?: unknown }
        if (typeof name === 'string' && name !== '') return name.replace(/^@[^/]*\//, '')
      } catch {}
      break
    }
    if (dirname(folder) === folder) break
  }
  return basename(file, extname(file))
}
