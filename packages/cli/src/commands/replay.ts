// Lets a failure happen again, from its capsule: alone, on virtual time. Or writes the test that does.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Capsule, readCapsule } from '@troupe/observer/capsule'
import type { Replayable } from '@troupe/testkit'
import { causeOf } from '../cause.ts'
import { Exit, exitCodes } from '../exit.ts'
import { fileOf, loadModule } from '../running/user-module.ts'
import { sibling } from '../siblings.ts'
import { clean, cleanLines, counted, jsonLine, type Screen, Style } from '../style.ts'
import { saidMissing } from './capsule.ts'

export interface ReplayOptions {
  readonly json: boolean
  /** A module and, behind `#`, the name of an export; what the capsule says if undefined. */
  readonly with: string | undefined
  /** Writes a test where it is the same failure: where to, or true for a name made of the file's. */
  readonly asTest: string | true | undefined
}

/** The code of the actor: a module, and the name under which it exports it. */
interface Code {
  readonly file: string
  readonly name: string
}

/** The exit code: 0 where the same failure was seen, or the test was written. */
export async function replay(file: string, screen: Screen, options: ReplayOptions): Promise<number> {
  const capsule = read(file)
  const code = codeOf(capsule, options.with)
  const { replayCapsule } = await sibling('replay', '@troupe/testkit', () => import('@troupe/testkit'))
  const exported = (await loadModule(code.file))[code.name]
  if (exported === undefined) throw new Exit(exitCodes.usage, `${code.file} exports no ${code.name}. Say another by --with <module>#<name>.`)
  const replayed = await replayCapsule(capsule, exported as Replayable).catch((cause: unknown) => {
    throw new Exit(exitCodes.usage, `${file} cannot be replayed with ${code.name} of ${code.file}. ${causeOf(cause)}`)
  })
  const { outcome, failure, given, messages, missing } = replayed
  // A test of what does not happen would be green, and say nothing.
  if (options.asTest !== undefined && outcome === 'same') return writeTest(file, { ...capsule, missing }, code, options, screen)
  if (options.json) screen.write(jsonLine({ outcome, failure: failure === undefined ? null : causeOf(failure), given, messages, missing }))
  else {
    const style = new Style(screen.colours)
    const before = `${capsule.failure.name}: ${capsule.failure.message}`
    const lines = {
      same: [`${style.red('■')} the same failure at message ${given} of ${messages}: ${clean(before)}`],
      another: [`${style.yellow('▲')} another failure at message ${given} of ${messages}: ${causeOf(failure)}`, `  then it was ${clean(before)}`],
      none: [`${style.green('✓')} no failure in ${counted(messages, 'message')}`, `  then it was ${clean(before)}`],
    }[outcome]
    const stack = failure instanceof Error && outcome !== 'none' ? [style.dim(cleanLines(failure.stack ?? ''))] : []
    const untested = options.asTest === undefined ? [] : ['no test was written: it does not reproduce the failure']
    screen.write(`${[...lines, ...stack, ...saidMissing(missing, style), ...untested].join('\n')}\n`)
  }
  return outcome === 'same' ? exitCodes.fine : exitCodes.found
}

function read(file: string): Capsule {
  if (!existsSync(file)) throw new Exit(exitCodes.usage, `There is no file ${file}.`)
  try {
    return readCapsule(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Exit(exitCodes.usage, `${file} is no capsule: ${(cause as Error).message}`)
  }
}

function codeOf({ code, path }: Capsule, given: string | undefined): Code {
  const [module, name = code.name ?? 'default'] = given?.split('#') ?? []
  if (module !== undefined && module !== '') return { file: fileOf(module), name }
  if (code.url === undefined || code.name === undefined)
    throw new Exit(
      exitCodes.usage,
      `The capsule of ${path} does not say where its code is: it was not defined by defineActor. Say it by --with <module>#<name>.`,
    )
  const file = code.url.startsWith('file:') ? fileURLToPath(code.url) : ''
  if (!existsSync(file))
    throw new Exit(exitCodes.usage, `The code of ${path} was in ${code.url}, which is not here. Say where it is by --with <module>#<name>.`)
  return { file, name: code.name }
}

function writeTest(file: string, capsule: Capsule, code: Code, { asTest, json }: ReplayOptions, screen: Screen): number {
  const to = asTest === true ? `${basename(file).replace(/(\.capsule)?\.json$/, '')}.test.ts` : asTest!
  if (existsSync(to)) throw new Exit(exitCodes.usage, `${to} is there already; name another by --as-test <file>.`)
  try {
    mkdirSync(dirname(resolve(to)), { recursive: true })
    writeFileSync(to, testOf(file, to, capsule, code), { flag: 'wx' })
  } catch (cause) {
    throw new Exit(exitCodes.usage, `Cannot write ${to}: ${(cause as Error).message}.`)
  }
  if (json) screen.write(jsonLine({ file: to }))
  else screen.write(`${to}: red until the failure is mended\n`)
  return exitCodes.fine
}

/** A program of its own: what it is given stands in it, and a capsule that is deleted takes nothing away. */
function testOf(file: string, to: string, capsule: Capsule, { file: module, name }: Code): string {
  const place = relative(dirname(resolve(to)), module).replaceAll('\\', '/')
  const from = place.startsWith('.') ? place : `./${place}`
  const imported = name === 'default' ? 'actor' : `{ ${name} as actor }`
  const { path, system, failure, made, missing } = capsule
  const said = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ')
  return `// Written by troupe replay of ${said(basename(file))}: ${said(path)} of ${said(system)} failed, ${made}.
// ${said(`${failure.name}: ${failure.message}`)}
${missing.map((one) => `// Not in it: ${said(one)}\n`).join('')}
import { readCapsule } from '@troupe/observer/capsule'
import { replayCapsule } from '@troupe/testkit'
import { test } from 'vitest'
import ${imported} from ${JSON.stringify(from)}

const capsule = readCapsule(${JSON.stringify(JSON.stringify(capsule, undefined, 1)).replaceAll('\\n', '\\n" +\n  "')})

test(${JSON.stringify(`${said(path)} goes on where it failed with ${failure.name}`)}, async () => {
  const { failure } = await replayCapsule(capsule, actor)
  if (failure !== undefined) throw failure
})
`
}
