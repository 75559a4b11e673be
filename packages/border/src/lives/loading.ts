// Finds the code of an actor or task on this thread.

import type { Definition } from '../values/definition.ts'
import { NotOnThread } from '../errors.ts'

/** Finds an export of a module; rejects where there is none. */
export type Load = (definition: Definition) => Promise<unknown>

const modules = new Map<string, Record<string, unknown>>()

/** The export of a module; the error says which of the two is missing. */
export async function loadExport({ url, name }: Definition): Promise<unknown> {
  // Asking the host for a module that is there costs more than making an actor.
  let loaded = modules.get(url)
  try {
    if (loaded === undefined) modules.set(url, (loaded = (await import(url)) as Record<string, unknown>))
  } catch (cause) {
    throw new NotOnThread(`Module ${url} cannot be loaded on a thread: ${cause instanceof Error ? cause.message : String(cause)}${hint(url)}`, {
      cause,
    })
  }
  if (!(name in loaded))
    throw new NotOnThread(
      `Module ${url} has no export "${name}"; it has ${Object.keys(loaded).join(', ') || 'none'}. Export the definition under the name it was given.`,
    )
  return loaded[name]
}

function hint(url: string): string {
  return /\.[cm]?tsx?$/.test(url) ? '. Threads run TypeScript from Node 22.18 on; before that, run the built JavaScript' : ''
}
