// The files of the page, as they were built. They are read once; nothing else of the disk can be asked for.

import { readFileSync } from 'node:fs'
import { NotAllowed } from '@troupe/core'

const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
}

export interface Asset {
  readonly type: string
  readonly body: Buffer
}

/** By the path under which each is asked for. Fails where the page was not built, or was left behind by a bundler. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>()
  for (const [name, type] of Object.entries(types)) assets.set(name === 'index.html' ? '/' : `/${name}`, { type, body: read(name) })
  return assets
}

function read(name: string): Buffer {
  // Beside the one file that the package is; or, from its sources, where the build puts it.
  for (const folder of ['./page/', '../../dist/page/'])
    try {
      return readFileSync(new URL(folder + name, import.meta.url))
    } catch {}
  throw new NotAllowed(
    `The page of @troupe/observer is not there: ${name} was not found beside ${import.meta.url}. Leave @troupe/observer out of your bundle, or build it first.`,
  )
}
