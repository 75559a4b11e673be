// The terminal: a live view where there is one, and a line now and then where there is none.

import type { NodeFacts, Nodes } from './airlift.ts'
import type { Sum } from './auditor.ts'
import type { Reading } from './gauge.ts'
import { type DronePhase, phases } from './sky.ts'
import type { TerminalMap } from './terminal-map.ts'

export const isTerminal: boolean = process.stdout.isTTY
const coloured = isTerminal && process.env['NO_COLOR'] === undefined
const paint =
  (code: string) =>
  (text: string): string =>
    coloured ? `\x1b[${code}m${text}\x1b[0m` : text
const bold = paint('1')
const dim = paint('90')
const red = paint('31')
const green = paint('32')
/** As on the page. */
const colours: Readonly<Record<DronePhase, string>> = {
  resting: '38;5;108',
  planning: '38;5;179',
  carrying: '38;5;75',
  homeward: '38;5;146',
  restarting: '38;5;203',
  stopped: '38;5;241',
}

const figure = (value: number): string => Math.round(value).toLocaleString('en')

/** `sent 12 = delivered 3 + in flight 8 + returned 1; lost 0` */
export function sumLine({ sent, delivered, inFlight, returned, lost }: Sum): string {
  return `parcels sent ${figure(sent)} = delivered ${figure(delivered)} + in flight ${figure(inFlight)} + returned ${figure(returned)}; lost ${figure(lost)}`
}
const ledgerLine = ({ ledger: { sent, handled, failed, unhandled, dropped, deadLettered, queued, stashed, inProgress, unknown } }: Reading): string =>
  `messages ${figure(sent)} = handled ${figure(handled)} + failed ${figure(failed)} + dropped ${figure(dropped)} + dead ${figure(deadLettered)} + unknown ${figure(unknown)} + under way ${figure(unhandled + queued + stashed + inProgress)}`

// Whoever reads us may stop early, as `head` does.
process.stdout.on('error', () => process.exit())

/** What the view shows. */
export interface View {
  readonly url: string | undefined
  readonly reading: Reading | undefined
  readonly map: TerminalMap | undefined
  readonly lines: readonly string[]
  readonly word: string
  readonly lives: number
}

export class Screen {
  #on = false

  /** Letters that the map may have. */
  get room(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = process.stdout
    const wide = Math.min(columns - 2, 160)
    // A letter is about twice as high as it is wide, the world 1.6 times as wide as it is high.
    return { columns: wide, rows: Math.max(4, Math.min(rows - 18, Math.round(wide / 3.2))) }
  }
  /** The other screen of the terminal, without a cursor, until `leave`. */
  enter(): void {
    if (!isTerminal || this.#on) return
    this.#on = true
    process.stdout.write('\x1b[?1049h\x1b[?25l')
  }
  leave(): void {
    if (!this.#on) return
    this.#on = false
    process.stdout.write('\x1b[?25h\x1b[?1049l')
  }

  draw(view: View): void {
    if (!this.#on) return
    const width = process.stdout.columns ?? 80
    const lines = picture(view).slice(0, (process.stdout.rows ?? 24) - 1)
    process.stdout.write(`\x1b[H${lines.map((line) => `${cut(line, width)}\x1b[K\r\n`).join('')}\x1b[J`)
  }
}

function picture({ url, reading, map, lines, word, lives }: View): string[] {
  const head = `${bold('Airlift')}  ${url === undefined ? dim('no page') : `open ${bold(url)}`}`
  if (reading === undefined) return [head, '', dim(word)]
  const { sum, drones, actors, messagesPerSecond, deliveredPerSecond, restarts, heap, loopDelay, pid } = reading
  return [
    head,
    dim(
      `process ${pid}${lives > 1 ? `, life ${lives}` : ''} · ${figure(actors)} actors · ${figure(messagesPerSecond)} messages/s · ${figure(deliveredPerSecond)} parcels/s · ${figure(restarts)} restarts · heap ${figure(heap / 1e6)} MB · loop p99 ${loopDelay.toFixed(1)} ms`,
    ),
    '',
    ...(map === undefined ? [] : map.letters.map((line, row) => ` ${painted(line, map.phases[row]!)}`)),
    '',
    ` ${phases.map((phase) => `${paint(colours[phase])('●')} ${phase} ${figure(drones[phase])}`).join('   ')}`,
    ...(reading.nodes === undefined ? [] : [` ${nodesLine(reading.nodes)}`]),
    '',
    ` ${sum.lost === 0 ? green('✓') : red('✗')} ${sumLine(sum)}`,
    ` ${dim(ledgerLine(reading))}`,
    '',
    ...lines.map((line) => dim(` ${line}`)),
    '',
    ` ${bold('x')} crash a drone  ${bold('w')} storm  ${bold('h')} hang a thread  ${bold('s')} supervision ${reading.supervised ? 'off' : 'on'}  ${reading.nodes === undefined ? `${bold('f')} flood  ${bold('k')} kill the process` : reading.nodes.facts.map(({ name }, i) => `${bold(`${i + 1}`)} kill ${name}`).join('  ')}  ${bold('q')} quit   ${word}`,
  ]
}

/** `a up 34 districts   b down   …` */
function nodesLine({ facts, owners }: Nodes): string {
  const one = ({ name, state }: NodeFacts): string =>
    `${bold(name)} ${state === 'up' ? green('up') : red(state)} ${owners.filter((owner) => owner === name).length} districts`
  return `nodes: ${facts.map(one).join('   ')}`
}

/** Letters in the colours of their phases, as few changes as there are. */
function painted(letters: string, tones: string): string {
  let text = ''
  let from = 0
  for (let i = 1; i <= letters.length; i++) {
    if (i < letters.length && tones[i] === tones[from]) continue
    text += paint(colours[phases[Number(tones[from])]!])(letters.slice(from, i))
    from = i
  }
  return text
}

/** A line that is longer than the terminal is wide would take two. */
function cut(line: string, width: number): string {
  let length = 0
  // oxlint-disable-next-line no-control-regex
  return line.replace(/\x1b\[[\d;]+m|./gsu, (part) => (part.length > 1 && part.startsWith('\x1b') ? part : ++length < width ? part : ''))
}

/** What is printed now and then where there is no terminal. */
export function summary({ reading, pages }: { readonly reading: Reading; readonly pages: number }): string {
  const { up, sum, drones, messagesPerSecond, restarts, heap } = reading
  const aloft = drones.carrying + drones.homeward
  return `${Math.round(up / 1000)} s: ${figure(aloft)} aloft, ${figure(messagesPerSecond)} messages/s, ${figure(restarts)} restarts, heap ${figure(heap / 1e6)} MB${pages > 0 ? `, ${pages} page${pages > 1 ? 's' : ''} open` : ''}; ${sumLine(sum)}`
}
export const finalLines = (reading: Reading): string[] => [
  ...reading.problems.map((problem) => `  ${problem}`),
  `${reading.sum.lost === 0 ? '✓' : '✗'} ${sumLine(reading.sum)}`,
  `  ${ledgerLine(reading)}`,
]
