// The definitions of this thread by their names, for threads whose program has its actors in it and loads no module: in a bundle the
// address of every module is that of the application, and whoever loaded it would run that again.

import type { Definition } from '../values/definition.ts'
import { NotOnThread } from '../errors.ts'

/** By name, what was defined under it; two where a name was given twice. */
const named = new Map<string, readonly unknown[]>()

/** Lets it be found by its name; the same once more does not count. */
export function register(name: string, what: unknown): void {
  const before = named.get(name)
  if (before === undefined) named.set(name, [what])
  else if (!before.includes(what)) named.set(name, [before[0], what])
}

/** Throws where a name means two definitions, for then nobody can tell which is wanted. */
export function refuseTwice(name: string): void {
  if ((named.get(name)?.length ?? 0) > 1)
    throw new NotOnThread(`Two definitions are named "${name}", and threads with a worker entry find them by name. Give each a name of its own.`)
}

/** What was defined under the name of the definition; nothing is loaded. */
export async function findRegistered({ name }: Definition): Promise<unknown> {
  refuseTwice(name)
  const found = named.get(name)
  if (found !== undefined) return found[0]
  throw new NotOnThread(
    `The worker entry knows no "${name}"; it knows ${[...named.keys()].join(', ') || 'none'}. Import the module that defines it into that entry, without a top-level await before it.`,
  )
}
