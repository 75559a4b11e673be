// `npm start`: starts the process that flies, shows in the terminal how it stands, and sees to it that it goes on until it is told to stop.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNatsServer } from './nats-server.ts'
import { airliftCommand } from './options.ts'
import { Parent } from './parent.ts'
import type { Reading } from './gauge.ts'
import type { Report } from './runner.ts'
import { finalLines, isTerminal, Screen, summary } from './screen.ts'
import type { TerminalMap } from './terminal-map.ts'

const { world, threads, cluster: count, port, open, headless, seconds, data } = airliftCommand()
const directory = data ?? mkdtempSync(join(tmpdir(), 'troupe-airlift-'))
const screen = new Screen()
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Seconds between two lines, and how long it goes on without anybody who looks, where there is no terminal. */
const lineEvery = 10
const unseenFor = 120

const shown: { url: string | undefined; reading: Reading | undefined; map: TerminalMap | undefined; lines: readonly string[]; word: string } = {
  url: undefined,
  reading: undefined,
  map: undefined,
  lines: [],
  word: 'starting …',
}
const server = count === undefined ? undefined : await startNatsServer()
const cluster = server && { count: count!, servers: server.url }
if (count !== undefined)
  say(
    server === undefined
      ? 'No NATS server was found: all is in one process. npm run engines -- --only nats fetches one.'
      : `${count} nodes, each a process, on NATS ${server.version}`,
  )
let seen = performance.now()
let lined = performance.now()
let everReady = false

const parent: Parent = new Parent(
  { type: 'begin', world, directory, threads, cluster, page: headless ? undefined : { port }, map: isTerminal ? screen.room : undefined },
  {
    told: heard,
    gone: (how) => {
      shown.word = `ended by ${how}; another begins`
      if (!isTerminal) say(`the process was ended by ${how}; another goes on where it was`)
    },
  },
)
screen.enter()
draw()

function draw(): void {
  screen.draw({ ...shown, lives: parent?.lives ?? 1 })
}
function heard(report: Report): void {
  switch (report.type) {
    case 'ready': {
      shown.url = report.url
      shown.word = parent.lives > 1 ? `back after ${Math.round(report.ms)} ms` : ''
      if (!isTerminal) say(readyLine(report.ms, report.url))
      if (open && !everReady && report.url !== undefined) openBrowser(report.url)
      if (!everReady && seconds !== undefined && Number.isFinite(seconds)) setTimeout(() => parent.stop(), seconds * 1000).unref()
      everReady = true
      seen = performance.now()
      if (!isTerminal && seconds === undefined) say(`no terminal: ends by itself when no page was open for ${unseenFor} seconds; --forever goes on`)
      return
    }
    case 'map':
      shown.map = report.map
      return draw()
    case 'reading': {
      shown.reading = report.reading
      shown.lines = report.lines
      if (report.pages > 0) seen = performance.now()
      draw()
      if (isTerminal) return
      if (performance.now() - lined >= lineEvery * 1000) {
        lined = performance.now()
        say(summary(report))
      }
      if (seconds === undefined && performance.now() - seen > unseenFor * 1000) parent.stop()
      return
    }
    default:
  }
}
function readyLine(ms: number, url: string | undefined): string {
  const drones = (world.columns * world.rows * world.dronesEach).toLocaleString('en')
  return `${drones} drones fly, ${Math.round(ms)} ms after the start${url === undefined ? '' : `: ${url}`}`
}
/** The way of each system; whoever has none has the URL before them. */
function openBrowser(url: string): void {
  const [program, ...args] = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }[process.platform as string] ?? ['xdg-open']
  spawn(program!, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => (shown.word = `${program} is not there; open the URL yourself`))
    .unref()
}

/** Milliseconds in which a wish to stop is still the same one: npm and `timeout` send a signal on that the whole group gets as well. */
const sameWish = 1000
let asked: number | undefined
const stop = (): void => {
  asked ??= performance.now()
  // Whoever asks again has no patience.
  if (performance.now() - asked > sameWish) parent.force('it was killed, as was asked for twice; what was told is in the journal')
  shown.word = 'stopping …'
  draw()
  parent.stop()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

if (isTerminal && process.stdin.isTTY) {
  let supervised = true
  const any = (most: number): number => Math.floor(Math.random() * most)
  const keys: Readonly<Record<string, () => void>> = {
    x: () => parent.do({ what: 'crash', drone: any(world.columns * world.rows * world.dronesEach) }),
    w: () => parent.do({ what: 'storm', x: 200 + any(1200), y: 150 + any(700) }),
    h: () => parent.do({ what: 'hang' }),
    f: () => parent.do({ what: 'flood' }),
    s: () => parent.do({ what: 'supervision', on: (supervised = !supervised) }),
    k: () => parent.do({ what: 'kill' }),
    ...Object.fromEntries(
      Array.from({ length: cluster?.count ?? 0 }, (_, i) => [`${i + 1}`, () => parent.do({ what: 'node', name: 'abcdefgh'[i] })]),
    ),
    q: stop,
    '\u0003': stop,
  }
  process.stdin.setRawMode(true).setEncoding('utf8').resume()
  process.stdin.on('data', (text: string) => keys[text]?.())
}

const { stopped, why } = await parent.ended
screen.leave()
if (isTerminal && process.stdin.isTTY) process.stdin.setRawMode(false).pause()
if (stopped === undefined) {
  process.stderr.write(`Airlift ended: ${why}\n`)
  process.exitCode = 1
} else {
  for (const line of finalLines(stopped.reading)) say(line)
  say(
    `  ${stopped.stopped.toLocaleString('en')} actors stopped in ${Math.round(stopped.ms)} ms${stopped.killed > 0 ? `, ${stopped.killed} of them killed` : ''}`,
  )
  if (data !== undefined) say(`  kept in ${data}: what is in flight goes on the next time`)
  if (stopped.reading.sum.lost !== 0) process.exitCode = 1
}
await server?.end()
if (data === undefined) rmSync(directory, { recursive: true, force: true })
