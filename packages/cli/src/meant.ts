// What is said where there is no actor of a path: which ones may have been meant.

import type { Attached } from '@troupe/observer'
import { Exit, exitCodes } from './exit.ts'
import { clean } from './style.ts'

/** Ends the command; `attached` is asked once more, and closed. */
export async function noActor(attached: Attached, path: string): Promise<never> {
  const near = await meant(attached, path)
  attached.close()
  throw new Exit(exitCodes.found, `There is no actor at ${clean(path)}.${near === '' ? ' troupe tree shows those that there are.' : near}`)
}

/** A question to put behind what is said; empty where nothing is near. */
export async function meant(attached: Attached, path: string): Promise<string> {
  // A system of an earlier version does not know the question.
  const near = await attached.ask('near', { path }).catch(() => [])
  if (near.length === 0) return ''
  if (near.length === 1) return ` Did you mean ${clean(near[0]!)}?`
  return ` Did you mean one of these?\n${near.map((one) => `  ${clean(one)}`).join('\n')}`
}
