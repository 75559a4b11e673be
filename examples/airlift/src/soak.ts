// `npm run soak`: Airlift without a page, under load and faults for a given time. Says every minute how it stands, kills it at the end, and lets
// everything arrive: at last nothing is in flight and nothing lost. Memory, handles and the journal are to be where they were.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Faults } from './faults.ts'
import { flatness } from './flatness.ts'
import type { Reading } from './gauge.ts'
import { Parent } from './parent.ts'
import { sumLine } from './screen.ts'
import { Standstill } from './standstill.ts'

const usage = `Usage: npm run soak -- [options]

Airlift under load and faults: drones crash, storms, threads hang, depots are flooded, districts burn down.
At the end it is killed, comes back, and everything in flight must arrive. Exit code 1 if anything is lost or grows.

  --minutes <number>  how long (default: 10)
  --drones <number>   how many, in a hundred districts (default: 10000)
  --seed <number>     what everything is drawn from (default: 1)
  -h, --help          prints this
`
const options = {
  minutes: { type: 'string', default: '10' },
  drones: { type: 'string', default: '10000' },
  seed: { type: 'string', default: '1' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

function refuse(problem: string): never {
  process.stderr.write(`${problem}. For help: npm run soak -- --help\n`)
  return process.exit(2)
}
function read(): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] {
  try {
    return parseArgs({ options }).values
  } catch (cause) {
    const [problem = ''] = (cause as Error).message.split(/\.?\n|\. /)
    const names = Object.keys(options).map((name) => `--${name}`)
    return refuse(`${problem}; there are: ${names.join(', ')}`)
  }
}
function number(name: string, text: string, from: number, to: number, whole: boolean): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!(whole ? Number.isSafeInteger(value) : Number.isFinite(value)) || value < from || value > to)
    refuse(`--${name} takes a ${whole ? 'whole ' : ''}number from ${from} to ${to}, not '${text}'`)
  return value
}

const given = read()
if (given.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const minutes = number('minutes', given.minutes, 0.1, 100_000, false)
const drones = number('drones', given.drones, 100, 50_000, true)
if (drones % 100 !== 0) refuse(`--drones takes a multiple of 100, as many for each district, not '${given.drones}'`)
const seed = number('seed', given.seed, 0, 2 ** 31, true)

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const figure = (value: number): string => Math.round(value).toLocaleString('en')
const directory = mkdtempSync(join(tmpdir(), 'troupe-soak-'))
const journalSize = (): number => readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0

/** What is kept of one minute, or of as much as a short run calls one. */
interface Window {
  readonly heap: number
  readonly rss: number
  readonly handles: number
  readonly journal: number
}
const windows: Window[] = []
/** Seconds of a window: a minute, or a twelfth of a short run. */
const span = Math.max(1, Math.min(60, Math.round(minutes * 5)))
let readings: Reading[] = []
let last: Reading | undefined
type Phase = 'flying' | 'killed' | 'draining' | 'over'
let phase = 'flying' as Phase
let second = 0
const faults = new Faults(seed, drones, 100)
const world = { columns: 10, rows: 10, dronesEach: drones / 100, seed }

const parent: Parent = new Parent(
  // Twice in a window: the lowest heap of it is what lives.
  { type: 'begin', world, directory, threads: 2, collectEvery: Math.max(1, Math.round(span / 2)) },
  {
    told: (report) => {
      if (report.type === 'ready') {
        say(`${figure(drones)} drones fly, ${Math.round(report.ms)} ms after the start`)
        if (phase === 'killed') drain()
      } else if (report.type === 'reading') heard(report.reading)
    },
    gone: (how) => say(`the process was ended by ${how}; another goes on where it was`),
  },
)
say(
  '   minute   heap MB   rss MB  handles  journal MB  messages/s  parcels/s  restarts  threads lost  loop p99  depot p50/p99  planner p50/p99 ms  lost',
)

const standstill = new Standstill()

/** The soak's own clock: it stands still with the machine, and goes on however slow the process that flies has become. */
function tick(): void {
  standstill.look()
  if (phase !== 'flying' || last === undefined) return
  for (const deed of faults.at(second++)) parent.do(deed)
  if (second % span === 0) {
    minute()
    readings = []
  }
  if (second < minutes * 60) return
  phase = 'killed'
  // Whoever was down when the process is killed is up when it is back; whoever carried something goes on.
  parent.do({ what: 'kill' })
}
const clock = setInterval(tick, 1000)

function heard(reading: Reading): void {
  last = reading
  if (phase === 'draining' && reading.sum.inFlight === 0) {
    phase = 'over'
    return parent.stop()
  }
  if (!standstill.takeStale() && phase === 'flying') readings.push(reading)
}
/** Everybody is supervised, and no more parcels come: what is in flight arrives. */
function drain(): void {
  phase = 'draining'
  parent.close()
}
/** Of the life before the kill. */
let rereads = 0

/** Windows in which nothing was said at all. */
let silent = 0

function minute(): void {
  if (readings.length === 0) {
    silent++
    say(`${(second / 60).toFixed(1).padStart(9)}  nothing was said`)
    return
  }
  const { sum, restarts, threadsLost, handles } = last!
  const mean = (of: (reading: Reading) => number): number => readings.reduce((total, one) => total + of(one), 0) / readings.length
  const all = (of: (reading: Reading) => number): number[] => readings.map(of)
  const window = {
    heap: Math.min(...all(({ heap }) => heap)),
    rss: Math.min(...all(({ rss }) => rss)),
    handles: Math.min(...all((one) => one.handles)),
    journal: journalSize(),
  }
  windows.push(window)
  rereads = last!.rereads
  const times = (of: (reading: Reading) => number): string => `${percentile(all(of), 0.5).toFixed(1)}/${percentile(all(of), 0.99).toFixed(0)}`
  const cells: readonly (readonly [string, number])[] = [
    [(second / 60).toFixed(1), 9],
    [figure(window.heap / 1e6), 10],
    [figure(window.rss / 1e6), 9],
    [figure(handles), 9],
    [figure(window.journal / 1e6), 12],
    [figure(mean(({ messagesPerSecond }) => messagesPerSecond)), 12],
    [figure(mean(({ deliveredPerSecond }) => deliveredPerSecond)), 11],
    [figure(restarts), 10],
    [figure(threadsLost), 14],
    [percentile(all(({ loopDelay }) => loopDelay), 0.5).toFixed(1), 10],
    [times(({ askDepot }) => askDepot), 15],
    [times(({ askPlanner }) => askPlanner), 20],
    [figure(sum.lost), 6],
  ] // prettier-ignore
  say(cells.map(([text, width]) => text.padStart(width)).join(''))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => parent.stop())
const { stopped, why } = await parent.ended
clearInterval(clock)
rmSync(directory, { recursive: true, force: true })
if (stopped === undefined) {
  process.stderr.write(`The soak ended: ${why}\n`)
  process.exit(1)
}
const { sum, problems, ledger } = stopped.reading
for (const problem of problems) say(`  ${problem}`)
say('')
say(`${sum.lost === 0 && sum.inFlight === 0 ? '✓' : '✗'} ${sumLine(sum)}`)
const { sent: messages, handled, failed, dropped, deadLettered, unknown } = ledger
say(
  `  since the kill: messages ${figure(messages)}, handled ${figure(handled)}, failed ${figure(failed)}, dropped ${figure(dropped)}, dead ${figure(deadLettered)}, unknown ${figure(unknown)}`,
)
if (rereads > 0) say(`  the auditor came too late for events, and began anew with the books, ${figure(rereads)} times: the machine was too busy`)
if (standstill.count > 0)
  say(`  the machine stood still ${figure(standstill.count)} times, for ${figure(standstill.ms / 1000)} s in all, which are not counted`)
if (silent > 0) say(`✗ nothing was said in ${figure(silent)} of ${figure(silent + windows.length)} spans of ${span} s`)
let well = silent === 0 && sum.lost === 0 && (phase !== 'over' || sum.inFlight === 0)
/** What may be added without being called growth. */
const free: Readonly<Record<keyof Window, number>> = { heap: 8e6, rss: 40e6, handles: 3, journal: 20e6 }
for (const name of ['heap', 'rss', 'handles', 'journal'] as const) {
  const { flat, before, after } = flatness(windows.map((window) => window[name]), free[name]) // prettier-ignore
  const shown = (value: number): string => (name === 'handles' ? figure(value) : `${figure(value / 1e6)} MB`)
  say(`${flat ? '✓' : '✗'} ${name} ${flat ? 'flat' : 'grows'}: ${shown(before)} in the second third, ${shown(after)} in the last`)
  well &&= flat
}
process.exitCode = well ? 0 : 1
