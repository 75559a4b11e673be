// Which actors somebody may have meant who asked for one that is not there: those that end as it does, and those that are a slip or two away.

import { slipsBetween } from '@troupe/core/internal'

const most = 5
/** How far one is whose name alone is right. */
const sameName = 1
/** Slips that are forgiven, in one name or in the whole path. */
const slips = 2
/** So many are compared before others get a turn: there may be a hundred thousand. */
const atOnce = 500

interface Candidate {
  readonly path: string
  /** The lower the likelier. */
  readonly far: number
}

export async function nearPaths(wanted: string, all: readonly { readonly path: string }[]): Promise<readonly string[]> {
  const ending = `/${wanted.replace(/^\/?(?:user\/)?/, '')}`.toLowerCase()
  const found: Candidate[] = []
  let looked = 0
  for (const { path } of all) {
    if (++looked % atOnce === 0) await new Promise((resolve) => setImmediate(resolve))
    const far = distance(path.toLowerCase(), ending)
    if (far !== undefined) found.push({ path, far })
  }
  // Who has the very name that was asked for was meant, and else whoever is nearest; nobody else.
  const nearest = Math.max(
    sameName,
    found.reduce((least, { far }) => Math.min(least, far), Infinity),
  )
  return found
    .filter(({ far }) => far <= nearest)
    .sort((a, b) => a.far - b.far || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, most)
    .map(({ path }) => path)
}

/** Undefined where nobody would think of it. */
function distance(path: string, ending: string): number | undefined {
  if (path.endsWith(ending)) return 0
  const name = lastOf(path)
  const meant = lastOf(ending)
  if (meant === '') return undefined
  if (name === meant) return sameName
  if (name.length > 4 * meant.length || meant.length > 4 * name.length) return undefined
  // The end of a path as long as what was asked for.
  const tail = path.slice(-ending.length - slips)
  const away = Math.min(nearness(name, meant), tail.includes('/') ? nearness(path.replace(/^\/user/, ''), ending) : Infinity)
  return away === Infinity ? undefined : sameName + away
}

/** Slips between two, where half of it is right, or nearly. */
function nearness(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > slips) return Infinity
  const away = slipsBetween(a, b)
  return away > slips || away * 2 > b.length + 1 ? Infinity : away
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
