// The scenarios of the library, and those of another package where its module is named: that of threads brings its own, and
// whoever has none of it need not have it installed.

import { library } from './index.ts'
import type { LibraryScenario } from './scenario.ts'

interface Host {
  readonly process: {
    getBuiltinModule(name: 'node:url'): { pathToFileURL(path: string): { readonly href: string } }
  }
}

/** All scenarios there are, those of modules named with commas between them too; rejects where one cannot be loaded, or exports none. */
export async function libraryWith(module: string | undefined, alone = false): Promise<readonly LibraryScenario[]> {
  if (module === undefined) return library
  const all = alone ? [] : [...library]
  for (const path of module.split(',')) {
    const { href } = (globalThis as unknown as Host).process.getBuiltinModule('node:url').pathToFileURL(path)
    const { library: more } = (await import(href)) as { readonly library?: readonly LibraryScenario[] }
    if (!Array.isArray(more)) throw new Error(`${path} exports no library of scenarios.`)
    all.push(...(more as readonly LibraryScenario[]))
  }
  return all
}
