// The last steps of a run as a sequence diagram in plain text: a column for each actor, time downwards.
//
//   step   ms │ outside        a              b
//     12    5 │ ●──add#3──────▶
//     13    5 │                ■ add#3

import type { TraceEvent } from './trace.ts'

const width = 18

/** The last `rows` events up to a step, in columns; actors that play no part in them have none. */
export function diagramOf(events: readonly TraceEvent[], nameOf: (uid: number) => string, upTo: number = Infinity, rows: number = 40): string {
  const shown = events.filter((e) => e.step <= upTo && e.what !== 'time' && e.what !== 'act' && e.what !== 'done').slice(-rows)
  const actors = [...new Set(shown.flatMap((e) => [e.actor, e.to]))].filter((uid) => uid !== 0).sort((a, b) => a - b)
  const columns = [0, ...actors]
  const head = columns.map((uid) => fit(uid === 0 ? 'outside' : nameOf(uid), width)).join('')
  const lines = [`${'step'.padStart(6)} ${'ms'.padStart(6)} │ ${head}`.trimEnd()]
  let lastAt = -1
  for (const event of shown) {
    const time = event.at === lastAt ? '' : String(Math.round(event.at * 10) / 10)
    lastAt = event.at
    lines.push(`${String(event.step).padStart(6)} ${time.padStart(6)} │ ${rowOf(event, columns)}`.trimEnd())
  }
  return lines.join('\n')
}

function rowOf(event: TraceEvent, columns: readonly number[]): string {
  const from = columns.indexOf(event.actor)
  const to = columns.indexOf(event.to)
  const label = labelOf(event)
  if (
    event.to !== 0 &&
    to !== from &&
    (event.what === 'send' || event.what === 'watch' || event.what === 'unwatch' || event.what === 'spawn' || event.what === 'fault')
  ) {
    const left = Math.min(from, to)
    const span = (Math.max(from, to) - left) * width
    const text = ` ${label} `
    const body = text.length > span - 2 ? text.slice(0, span - 3) + '…' : text
    const line = body.padStart(Math.floor((span - 1 + body.length) / 2), '─').padEnd(span - 1, '─')
    return ' '.repeat(left * width) + (from < to ? `●${line}▶` : `◀${line}●`)
  }
  return ' '.repeat(Math.max(from, 0) * width) + label
}

function labelOf(event: TraceEvent): string {
  switch (event.what) {
    case 'send':
      return event.detail
    case 'handle':
      return `■ ${event.detail}`
    case 'signal':
      return `□ ${event.detail}`
    case 'phase':
      return `[${event.detail}]`
    case 'dead':
      return `✝ ${event.detail}`
    case 'dropped':
      return `✗ ${event.detail}`
    case 'timer':
      return `⏲ ${event.detail}`
    case 'cancel':
      return `⏲ ${event.detail} cancelled`
    case 'fault':
      return `⚡ ${event.detail}`
    case 'note':
      return `‼ ${event.detail}`
    default:
      return event.detail === '' ? event.what : `${event.what} ${event.detail}`
  }
}

function fit(text: string, columns: number): string {
  return text.length < columns ? text.padEnd(columns) : `…${text.slice(text.length - columns + 2)} `
}
