// What the thread of a system does for a few seconds: whose turns take the time, and in which functions.

import type { Attached, FlameNode, ProfileNews } from '@troupe/observer'
import { clean, cut, cutPath, duration, jsonLine, padEnd, type Screen, Style, table } from '../style.ts'

export interface ProfileOptions {
  readonly json: boolean
  /** Milliseconds to look for. */
  readonly for: number
  /** How many kinds, and of each how many functions; and how many actors. */
  readonly most: number
}

const barWidth = 20
const functionsOf = 3

export async function profile(attached: Attached, screen: Screen, options: ProfileOptions, waitFor: (what: string) => void): Promise<void> {
  waitFor(`looking for ${duration(options.for)}`)
  const news = await attached.ask('profile', { ms: options.for })
  attached.close()
  screen.write(options.json ? jsonLine(news) : `${linesOf(news, options.most, new Style(screen.colours)).join('\n')}\n`)
}

function linesOf({ ms, idle, samples, cut: tooMany, flame, actors }: ProfileNews, most: number, style: Style): string[] {
  const busy = ms - idle
  const head = `${duration(ms)} looked at, ${percent(idle, ms)} of it with nothing to do; ${samples} ${samples === 1 ? 'sample' : 'samples'}`
  if (busy <= 0 || flame.below.length === 0) return [head]
  const bar = (part: number): string => style.cyan(padEnd('█'.repeat(Math.max(1, Math.round((part / busy) * barWidth))), barWidth))
  const kinds: string[][] = []
  for (const kind of flame.below.slice(0, most)) {
    kinds.push([cut(clean(kind.name), 40), percent(kind.ms, busy), bar(kind.ms), ''])
    for (const { name, place, self } of heaviest(kind).slice(0, functionsOf))
      kinds.push(['', style.dim(percent(self, busy)), '', `${cut(clean(name), 40)} ${style.dim(clean(place))}`.trimEnd()])
  }
  return [
    head,
    '',
    ...table(['whose turns', 'of the work', '', 'in which functions'], kinds, new Set([1]), style),
    ...(flame.below.length > most ? [style.dim(`and ${flame.below.length - most} more kinds: --most ${flame.below.length}`)] : []),
    '',
    ...table(
      ['actor', 'of the work', 'kind'],
      actors.slice(0, most).map(({ path, kind, ms: took }) => [cutPath(clean(path), 60), percent(took, busy), cut(clean(kind), 40)]),
      new Set([1]),
      style,
    ),
    ...(tooMany ? [style.yellow('There were more turns than are kept: whose the later ones were is not known. Look for a shorter time.')] : []),
  ]
}

/** Functions by the time that they took themselves, wherever they were called from. */
function heaviest(kind: FlameNode): readonly { readonly name: string; readonly place: string; readonly self: number }[] {
  const found = new Map<string, { readonly name: string; readonly place: string; self: number }>()
  const add = ({ name, place, ms, below }: FlameNode): void => {
    const key = `${name} ${place}`
    const one = found.get(key) ?? { name, place, self: 0 }
    one.self += ms - below.reduce((sum, child) => sum + child.ms, 0)
    found.set(key, one)
    for (const child of below) add(child)
  }
  for (const child of kind.below) add(child)
  return [...found.values()].filter(({ self }) => self > 0).sort((a, b) => b.self - a.self)
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((part / whole) * 100)} %`
}
