// Packages that only some commands need. They are the project's, and may not be there.

import { Exit, exitCodes } from './exit.ts'

/** Loads it; ends the command with what to install where it is not there. */
export async function sibling<T>(what: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Exit(exitCodes.usage, `${what} needs ${name}, which is not installed here: npm install ${name}`)
  }
}
