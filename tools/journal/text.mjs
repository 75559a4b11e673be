// Figures and tables for a terminal.

export const count = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

/** When something was persisted, as far as the writer's clock was a clock. */
export function timeOf(time) {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}

export const row = (...parts) => parts.filter((part) => part !== '').join('  ')

/** Columns as wide as their widest cell; numbers stand to the right. */
export function table(titles, rows) {
  const texts = rows.map((cells) => cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : String(cell))))
  const widths = titles.map((title, i) => Math.max(title.length, ...texts.map((cells) => cells[i].length)))
  const numeric = titles.map((_, i) => rows.some((cells) => typeof cells[i] === 'number'))
  const line = (cells) =>
    cells
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd()
  return [titles, ...texts].map(line).join('\n')
}
