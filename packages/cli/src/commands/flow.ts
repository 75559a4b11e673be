// Who sends how much to whom, by kind: sampled for a few seconds.

import type { Attached } from '@troupe/observer'
import { clean, count, cut, jsonLine, padEnd, type Screen, Style, table } from '../style.ts'

export interface FlowOptions {
  readonly json: boolean
  /** Milliseconds to look for. */
  readonly for: number
  /** How many lines. */
  readonly most: number
}

const barWidth = 20

export async function flow(attached: Attached, screen: Screen, options: FlowOptions): Promise<void> {
  let began: number | undefined
  let edges: readonly { readonly from: string; readonly to: string; readonly type: string; readonly otherTypes: number; readonly rate: number }[] = []
  for await (const told of attached.watch({ flow: true })) {
    began ??= told.at
    edges = told.flow ?? []
    if (told.at - began >= options.for) break
  }
  attached.close()
  const sorted = edges.toSorted((a, b) => b.rate - a.rate)
  if (options.json) return screen.write(jsonLine(sorted))
  if (sorted.length === 0) return screen.write('Nobody sent anything.\n')
  const style = new Style(screen.colours)
  const most = sorted[0]!.rate
  const rows = sorted
    .slice(0, options.most)
    .map(({ from, to, type, otherTypes, rate }) => [
      cut(clean(from), 40),
      '→',
      cut(clean(to), 40),
      `${count(rate)}/s`,
      style.cyan(padEnd('█'.repeat(Math.max(1, Math.round((rate / most) * barWidth))), barWidth)),
      `${cut(clean(type), 40)}${otherTypes > 0 ? style.dim(` and ${otherTypes} other ${otherTypes === 1 ? 'type' : 'types'}`) : ''}`,
    ])
  screen.write(`${table(['from', '', 'to', 'about', '', 'most of it'], rows, new Set([3]), style).join('\n')}\n`)
  if (sorted.length > rows.length) screen.write(`${style.dim(`and ${sorted.length - rows.length} more ways: --most ${sorted.length}`)}\n`)
}
