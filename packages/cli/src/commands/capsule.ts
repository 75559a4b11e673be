// Writes what led to the failure of an actor into a file, from a system that records.

import { existsSync, writeFileSync } from 'node:fs'
import type { Attached } from '@troupe/observer'
import { Exit, exitCodes } from '../exit.ts'
import { meant } from '../meant.ts'
import { clean, counted, jsonLine, type Screen, Style } from '../style.ts'

export interface CapsuleOptions {
  readonly json: boolean
  /** Where to; a name made of the path if undefined. */
  readonly to: string | undefined
}

export async function capsule(attached: Attached, screen: Screen, path: string, { json, to }: CapsuleOptions): Promise<void> {
  const found = await attached.ask('capsule', { path })
  const none = 'none' in found ? `There is no capsule: ${clean(found.none)}.` : undefined
  const near = none === undefined || (await attached.ask('inspect', { path })) !== null ? '' : await meant(attached, path)
  attached.close()
  if ('none' in found) throw new Exit(exitCodes.found, `${none}${near}`)
  if (json && to === undefined) return screen.write(jsonLine(found))
  const file = to ?? `${path.replace(/^\/user\//, '').replaceAll(/[^\w.-]+/g, '-')}.capsule.json`
  if (existsSync(file)) throw new Exit(exitCodes.usage, `${file} is there already; name another by --to.`)
  // What an actor was told may be anybody's business but others'.
  writeFileSync(file, `${JSON.stringify(found, undefined, 1)}\n`, { flag: 'wx', mode: 0o600 })
  if (json) return screen.write(jsonLine({ file, path: found.path, failure: found.failure, missing: found.missing }))
  const style = new Style(screen.colours)
  const messages = found.entries.filter(({ what }) => what === 'message').length
  const lines = [
    `${style.bold(file)}: ${clean(found.path)}, incarnation ${found.incarnation}, ${counted(messages, 'message')}`,
    `failed with ${style.red(clean(`${found.failure.name}: ${found.failure.message}`))}`,
    ...saidMissing(found.missing, style),
    style.dim(`troupe replay ${file}${found.code.url === undefined ? ' --with <module>#<name>' : ''}`),
  ]
  screen.write(`${lines.join('\n')}\n`)
}

/** Whether it is whole, and what is not in it. */
export function saidMissing(missing: readonly string[], style: Style): readonly string[] {
  if (missing.length === 0) return [style.green('whole: nothing of it is missing')]
  return [style.yellow('partial; missing:'), ...missing.map((one) => `  ${clean(one)}`)]
}
