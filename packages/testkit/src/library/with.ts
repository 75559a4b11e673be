// The scenarios of the library, and those of another package where its module is named: that of threads brings its own, and
// whoever has none of it need not have it installed.

import { library } from './index.ts'
import type { LibraryScenario } from './scenario.ts'

interface Host {
  readonly process: {
    getBuiltinModule(name: 'node:url'): { pathToFileURL(path: string): { readonly href: string } }
  }
}

/** All scenarios there are; rejects where the module cannot be loaded, or exports none. */
export async function libraryWith(module: string | undefined, alone = false): Promise<readonly LibraryScenario[]> {
  if (module === undefined) return library
  const { href } = (globalThis as unknown as Host).process.getBuiltinModule('node:url').pathToFileURL(module)
  const { library: more } = (await import(href)) as { readonly library?: readonly LibraryScenario[] }
  if (!Array.isArray(more)) throw new Error(`${module} exports no library of scenarios.`)
  return [...(alone ? [] : library), ...(more as readonly LibraryScenario[])]
}
