// The terminal: lines that stay, and a panel below them that is drawn again and again. Where there is no terminal only lines are printed.

export const isTerminal: boolean = process.stdout.isTTY
const coloured = isTerminal && process.env['NO_COLOR'] === undefined
type Paint = (text: string) => string
const paint =
  (code: number): Paint =>
  (text) =>
    coloured ? `\x1b[${code}m${text}\x1b[0m` : text
export const bold: Paint = paint(1)
export const dim: Paint = paint(90)
export const red: Paint = paint(31)
export const green: Paint = paint(32)
export const yellow: Paint = paint(33)

export const figure = (value: number): string => Math.round(value).toLocaleString('en')
export const right = (text: string | number, width: number): string => (typeof text === 'number' ? figure(text) : text).padStart(width)

// Whoever reads us may stop early, as `head` does.
process.stdout.on('error', () => process.exit())

let drawn = 0

/** Replaces the panel. */
export function panel(lines: readonly string[]): void {
  if (!isTerminal) return
  const width = process.stdout.columns ?? 80
  wipe()
  process.stdout.write(lines.map((line) => `${cut(line, width)}\n`).join(''))
  drawn = lines.length
}
/** Prints a line above the panel, which goes. */
export function say(line = ''): void {
  wipe()
  process.stdout.write(`${line}\n`)
}
/** What the panel shows stays. */
export function keep(): void {
  drawn = 0
}
function wipe(): void {
  if (drawn > 0) process.stdout.write(`\x1b[${drawn}A\x1b[0J`)
  drawn = 0
}

/** A line that is longer than the terminal is wide would take two, and the next picture would be off. */
function cut(line: string, width: number): string {
  let length = 0
  // oxlint-disable-next-line no-control-regex
  return line.replace(/\x1b\[\d+m|./gsu, (part) => (part.length > 1 && part.startsWith('\x1b') ? part : ++length < width ? part : ''))
}
