// Plots as SVG, written by hand: horizontal bars on a logarithmic scale, and lines over logarithmic axes. They read on
// white and on dark pages alike, since they bring their own background.

import { short } from './statistics.ts'

const ink = '#1f2933'
const faint = '#d5dbe1'
const colours = ['#c2410c', '#6b7280', '#2563eb', '#15803d', '#9333ea', '#b45309', '#0e7490', '#be185d']
const font = 'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"'

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const text = (x: number, y: number, content: string, options = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${options}>${escape(content)}</text>`

function frame(width: number, height: number, title: string, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}" ${font} font-size="12" fill="${ink}">
<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>
${text(16, 26, title, 'font-size="15" font-weight="600"')}
${body}
</svg>
`
}

/** Powers of ten that hold all values. */
function decades(values: readonly number[]): [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.ceil(Math.log10(Math.max(...values)) - 1e-9)
  return [low, Math.max(high, low + 1)]
}

export interface BarGroup {
  readonly label: string
  readonly bars: readonly { readonly label: string; readonly value: number; readonly ours: boolean }[]
}

/** Groups of bars; ours stands out. */
export function bars(title: string, note: string, groups: readonly BarGroup[]): string {
  const left = 205
  const right = 90
  const width = 860
  const row = 17
  const values = groups.flatMap((g) => g.bars.map((b) => b.value))
  if (values.length === 0) return frame(width, 60, title, '')
  const [low, high] = decades(values)
  const x = (value: number): number => left + ((Math.log10(value) - low) / (high - low)) * (width - left - right)
  const parts: string[] = [text(16, 44, note, 'fill="#52606d"')]
  const top = 72
  const height = top + groups.reduce((h, g) => h + 28 + g.bars.length * row, 0) + 16
  for (let d = low; d <= high; d++) {
    const at = x(10 ** d)
    parts.push(`<line x1="${at.toFixed(1)}" y1="${top - 4}" x2="${at.toFixed(1)}" y2="${height - 12}" stroke="${faint}"/>`)
    parts.push(
      text(
        at,
        top - 8,
        short(10 ** d)
          .replace('.00', '')
          .replace('.0', ''),
        'text-anchor="middle" fill="#7b8794" font-size="11"',
      ),
    )
  }
  let y = top
  for (const group of groups) {
    parts.push(text(16, y + 17, group.label, 'font-weight="600"'))
    y += 22
    for (const bar of group.bars) {
      const end = x(bar.value)
      parts.push(text(left - 8, y + 12, bar.label, `text-anchor="end" ${bar.ours ? 'font-weight="600"' : ''}`))
      parts.push(
        `<rect x="${left}" y="${y + 2}" width="${Math.max(2, end - left).toFixed(1)}" height="${row - 4}" rx="2" fill="${bar.ours ? colours[0] : '#9aa5b1'}"/>`,
      )
      parts.push(text(end + 6, y + 12, short(bar.value), 'font-size="11"'))
      y += row
    }
    y += 6
  }
  return frame(width, height, title, parts.join('\n'))
}

export interface Line {
  readonly label: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

/** Lines over two logarithmic axes. */
export function lines(title: string, xLabel: string, yLabel: string, all: readonly Line[]): string {
  const width = 640
  const height = 360
  const [left, right, top, bottom] = [70, 110, 56, 48]
  const drawn = all.filter((l) => l.points.length > 0)
  if (drawn.length === 0) return frame(width, 60, title, '')
  const [x0, x1] = decades(drawn.flatMap((l) => l.points.map((p) => p.x)))
  const [y0, y1] = decades(drawn.flatMap((l) => l.points.map((p) => p.y)))
  const x = (v: number): number => left + ((Math.log10(v) - x0) / (x1 - x0)) * (width - left - right)
  const y = (v: number): number => height - bottom - ((Math.log10(v) - y0) / (y1 - y0)) * (height - top - bottom)
  const parts: string[] = []
  for (let d = y0; d <= y1; d++) {
    parts.push(`<line x1="${left}" y1="${y(10 ** d).toFixed(1)}" x2="${width - right}" y2="${y(10 ** d).toFixed(1)}" stroke="${faint}"/>`)
    parts.push(
      text(
        left - 8,
        y(10 ** d) + 4,
        short(10 ** d)
          .replace('.00', '')
          .replace('.0', ''),
        'text-anchor="end" fill="#52606d"',
      ),
    )
  }
  for (let d = x0; d <= x1; d++)
    parts.push(
      text(
        x(10 ** d),
        height - bottom + 18,
        short(10 ** d)
          .replace('.00', '')
          .replace('.0', ''),
        'text-anchor="middle" fill="#52606d"',
      ),
    )
  parts.push(text((left + width - right) / 2, height - 10, xLabel, 'text-anchor="middle"'))
  parts.push(text(left - 54, top - 14, yLabel, 'fill="#52606d"'))
  // Labels at the end of lines, pushed apart where they would overlap.
  let lowest = -Infinity
  const ends = drawn.map((line, i) => ({ line, i, y: y(line.points.at(-1)!.y) })).toSorted((a, b) => a.y - b.y)
  for (const end of ends) {
    const colour = colours[end.i % colours.length]!
    const path = end.line.points.map((p, k) => `${k === 0 ? 'M' : 'L'}${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(' ')
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="2.5"/>`)
    for (const p of end.line.points) {
      parts.push(`<circle cx="${x(p.x).toFixed(1)}" cy="${y(p.y).toFixed(1)}" r="3.5" fill="${colour}"/>`)
    }
    lowest = Math.max(end.y + 4, lowest + 15)
    parts.push(
      text(x(end.line.points.at(-1)!.x) + 10, lowest, `${end.line.label} ${short(end.line.points.at(-1)!.y)}`, `fill="${colour}" font-weight="600"`),
    )
  }
  return frame(width, height, title, parts.join('\n'))
}
