// How things look: colours where somebody sees them, and numbers as people read them. Piped into a file there is nothing but text.

/** What is written to: standard output, or a test. */
export interface Screen {
  readonly isTTY: boolean
  readonly columns: number
  readonly rows: number
  /** Whether colours are seen. */
  readonly colours: boolean
  write(text: string): void
  /** Resolves when there is room for more; for those who write more than fits into memory. */
  ready?(): Promise<unknown>
}

export class Style {
  readonly #on: boolean
  constructor(colours: boolean) {
    this.#on = colours
  }
  #wrap(code: string, text: string): string {
    return this.#on ? `\u001B[${code}m${text}\u001B[0m` : text
  }
  bold(text: string): string {
    return this.#wrap('1', text)
  }
  dim(text: string): string {
    return this.#wrap('2', text)
  }
  red(text: string): string {
    return this.#wrap('31', text)
  }
  yellow(text: string): string {
    return this.#wrap('33', text)
  }
  green(text: string): string {
    return this.#wrap('32', text)
  }
  cyan(text: string): string {
    return this.#wrap('36', text)
  }
  inverse(text: string): string {
    return this.#wrap('7', text)
  }
}

/** How colours are written. */
export const escape: RegExp = new RegExp(String.raw`\u001B\[[\d;]*m`, 'g')
/** What a terminal must not be told by the name of an actor or the text of an error: commands, and letters that turn the order of others around. */
const control = /\p{Cc}|[\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

export function clean(text: string): string {
  return text.replaceAll(control, '�')
}

/** A copy of an answer in which every text is clean, so that no command can print one as it came. */
export function cleaned<T>(value: T): T {
  if (typeof value === 'string') return clean(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cleaned) as T
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cleaned(part)])) as T
}

/** Clean, and as long as one reads at most: a kind, a label or the type of a message may be of any length. */
export function brief(text: string, most = 200): string {
  return cut(clean(text.slice(0, 2 * most)), most)
}

/** One line of JSON. What a terminal must not be told is escaped in it, and means the same. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll(control, (letter) => `\\u${letter.codePointAt(0)!.toString(16).padStart(4, '0')}`)}\n`
}

/** Lines stay lines. */
export function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n')
}

export function widthOf(text: string): number {
  return Array.from(text.replaceAll(escape, '')).length
}

/** Cut to a width, with a mark where something is missing; text without colours only. */
export function cut(text: string, width: number): string {
  const letters = Array.from(text)
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** The end is what tells paths apart. */
export function cutPath(path: string, width: number): string {
  const letters = Array.from(path)
  return letters.length <= width ? path : `…${letters.slice(letters.length - Math.max(0, width - 1)).join('')}`
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

/** 34, 1.4 k, 257 k, 1.2 M. */
export function count(n: number): string {
  if (n < 1000) return String(Math.round(n))
  if (n < 10_000) return `${(n / 1000).toFixed(1)} k`
  return n < 1_000_000 ? `${Math.round(n / 1000)} k` : `${(n / 1_000_000).toFixed(1)} M`
}

/** 1 id, 2.0 k ids. */
export function counted(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`
}

/** 4 µs, 12 ms, 11 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 0.0005) return '0'
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`
  if (ms < 1000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

/** What does not fit is left out in the midst: both ends tell paths apart. */
export function cutMiddle(text: string, width: number): string {
  const letters = Array.from(text)
  if (letters.length <= width) return text
  const head = Math.floor((width - 1) / 3)
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (width - 1 - head)).join('')}`
}

/** Letters of a column at most. */
const widest = 100

/** Columns that are as wide as what is in them, up to a limit; numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: ReadonlySet<number>, style: Style): string[] {
  // What has colours was made here, and is short.
  const cells = rows.map((row) => row.map((cell) => (cell.includes('\u001B') ? cell : cutMiddle(cell, widest))))
  const widths = head.map((title, i) => cells.reduce((most, row) => Math.max(most, widthOf(row[i] ?? '')), widthOf(title)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (right.has(i) ? padStart(cell, widths[i]!) : padEnd(cell, widths[i]!)))
      .join('  ')
      .trimEnd()
  return [style.dim(line(head)), ...cells.map(line)]
}
