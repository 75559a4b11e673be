// The busiest, or those in most trouble, once a second. On a terminal a picture that is drawn over itself; piped, a table.

import type { Attached, TopRow, Watched } from '@troupe/observer'
import { Painter } from '../painter.ts'
import { brief, clean, count, counted, cut, cutPath, duration, escape, jsonLine, padEnd, padStart, type Screen, Style, widthOf } from '../style.ts'

export type SortedBy = 'trouble' | 'queued' | 'busy' | 'rate'
export const sorts: readonly SortedBy[] = ['trouble', 'queued', 'busy', 'rate']

export interface TopOptions {
  readonly json: boolean
  readonly by: SortedBy
  /** How many pictures; for ever if undefined. */
  readonly count: number | undefined
}

/** Keys as they come; ends the command by `q`. */
export interface Keys {
  listen(on: (key: string) => void): () => void
}

export async function top(attached: Attached, screen: Screen, options: TopOptions, keys: Keys | undefined): Promise<void> {
  const style = new Style(screen.colours)
  const live = screen.isTTY && !options.json
  const painter = live ? new Painter(screen) : undefined
  let by = options.by
  let left = options.count ?? (live ? Infinity : 1)
  let paused = false
  let shown: Watched | undefined
  const paint = (): void => {
    if (shown !== undefined) painter?.paint(picture(attached.descriptor.system, sorted(shown, by), by, screen, style, paused))
  }
  let over = (): void => {}
  const end = new Promise<void>((resolve) => (over = resolve))
  const unlisten = keys?.listen((key) => {
    if (key === 'q' || key === '\u0003') over()
    else if (key === 's' || key === '\t') by = sorts[(sorts.indexOf(by) + 1) % sorts.length]!
    else if (key === ' ') paused = !paused
    paint()
  })
  const show = async (): Promise<void> => {
    // The first has no rates yet: there is nothing to compare it with.
    let first = true
    for await (const told of attached.watch({ rows: 200, by: 'trouble' })) {
      if (first && !live) {
        first = false
        continue
      }
      if (!paused) shown = told
      if (live) paint()
      else
        screen.write(
          options.json ? jsonLine(told) : `${picture(attached.descriptor.system, sorted(told, by), by, screen, style, false).join('\n')}\n`,
        )
      if (--left <= 0) break
    }
  }
  try {
    await Promise.race([show(), end])
  } finally {
    unlisten?.()
    painter?.close()
    attached.close()
  }
}

function sorted(told: Watched, by: SortedBy): Watched {
  if (by === 'trouble') return told
  return { ...told, rows: told.rows.toSorted((a, b) => b[by] - a[by]) }
}

const shares = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** A bar of one letter: which share of a second it took. */
function share(busy: number): string {
  return shares[busy < 1 ? 0 : Math.min(8, 1 + Math.floor((busy / 1000) * 8))]!
}

/** A colour for what it is like, and the number beside it, for those who do not see colours. */
export function picture(system: string, told: Watched, by: SortedBy, screen: Screen, style: Style, paused: boolean): string[] {
  const width = Math.max(20, screen.columns)
  const { metrics, findings } = told
  const facts = [
    style.bold(clean(system)),
    counted(told.actors, 'actor'),
    `${count(told.messagesPerSecond)} msg/s`,
    told.queued > 1000 ? style.yellow(`${count(told.queued)} queued`) : `${count(told.queued)} queued`,
    counted(metrics.supervision.restarts, 'restart'),
    counted(metrics.messages.deadLettered, 'dead letter'),
    style.dim(`watching costs ${(told.spent / 10).toFixed(1)} %`),
  ]
  // What matters least stands last, and is left out whole where there is no room.
  while (facts.length > 1 && widthOf(facts.join(' · ')) > width) facts.pop()
  const lines = [fitted(facts.join(style.dim(' · ')), width), '']
  const most = screen.isTTY ? 4 : findings.length
  for (const { severity, title, subject, sentence } of findings.slice(0, most)) {
    const mark = severity === 'error' ? style.red('■') : style.yellow('▲')
    const named = cut(clean(subject), 36)
    lines.push(
      `${mark} ${style.bold(title)} ${style.cyan(named)}  ${cut(clean(sentence), Math.max(10, width - 6 - widthOf(title) - widthOf(named)))}`,
    )
  }
  if (findings.length > most) lines.push(style.dim(`  and ${findings.length - most} more: troupe doctor`))
  if (findings.length === 0) lines.push(`${style.green('✓')} nothing needs you`)
  if (told.lost > 0) lines.push(style.yellow(`${counted(told.lost, 'observation')} lost`))
  lines.push('', ...rowsOf(told.rows, by, width, style))
  // Piped there is no width to keep to.
  if (!screen.isTTY) return lines
  const room = Math.max(3, screen.rows - 1)
  const shown = lines.slice(0, room).map((line) => fitted(line, width))
  while (shown.length < room) shown.push('')
  const state = paused ? style.inverse(' paused ') : ''
  return [...shown, fitted(`${style.dim(`q quit · s sort (${by}) · space pause`)} ${state}`, width)]
}

function rowsOf(rows: readonly TopRow[], by: SortedBy, width: number, style: Style): string[] {
  // As wide as the longest that is shown, as far as there is room: what an actor does is worth more than the beginning of its path.
  const longest = rows.reduce((most, row) => Math.max(most, row.path.length), 0)
  const path = Math.max(20, Math.min(longest, 60, width - 62))
  const title = (name: string, column: SortedBy | undefined): string => (column === by ? style.bold(`${name} ↓`) : style.dim(name))
  const head = [
    padEnd(title('actor', by === 'trouble' ? 'trouble' : undefined), path),
    padEnd(style.dim('phase'), 10),
    padStart(title('queued', 'queued'), 8),
    padStart(title('msg/s', 'rate'), 7),
    padStart(title('cpu ms/s', 'busy'), 10),
    ...(path + 43 <= width ? [style.dim('doing')] : []),
  ].join(' ')
  const lines = rows.map((row) => {
    const { phase, queued, rate, busy, pending, restarts, stashed, label, thread } = row
    const doing = [
      pending === undefined ? '' : style.yellow(`pending ${duration(pending)}`),
      stashed > 0 ? `${count(stashed)} stashed` : '',
      restarts > 0 ? `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}` : '',
      thread >= 0 ? style.dim(`thread ${thread}`) : '',
      label === undefined ? '' : style.dim(brief(label)),
    ].filter((word) => word !== '')
    const paint = queued > 1000 ? (t: string) => style.red(t) : queued > 100 ? (t: string) => style.yellow(t) : (t: string) => t
    return fitted(
      [
        padEnd(cutPath(clean(row.path), path), path),
        padEnd(phase === 'running' ? style.green(phase) : style.red(phase), 10),
        padStart(paint(queued === 0 ? '' : count(queued)), 8),
        padStart(rate < 0.5 ? '' : count(rate), 7),
        padStart(busy < 0.05 ? '' : `${busy < 10 ? busy.toFixed(1) : Math.round(busy)} ${share(busy)}`, 10),
        doing.join(', '),
      ].join(' '),
      width,
    )
  })
  return lines.length === 0 ? [style.dim('nobody has anything to do; troupe tree shows all')] : [head, ...lines]
}

/** A line that is too long is cut where that is not in the midst of a colour. */
function fitted(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  let seen = 0
  let out = ''
  for (const part of line.split(new RegExp(`(${escape.source})`))) {
    if (part.startsWith('\u001B')) out += part
    else {
      const letters = Array.from(part).slice(0, Math.max(0, width - 1 - seen))
      out += letters.join('')
      seen += letters.length
    }
  }
  return `${out}…`
}
