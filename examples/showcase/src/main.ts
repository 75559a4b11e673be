// Tells the story in a terminal, in about four seconds: chapters, trees, and every failure with what was decided.

import { setTimeout as sleep } from 'node:timers/promises'
import { ActorSystem, type Logger, type LogMethod } from '@troupe/core'
import { type Stage, tellStory } from './story.ts'

const coloured = process.stdout.isTTY && process.env['NO_COLOR'] === undefined
const paint = (code: number, text: string): string => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text)
const started = performance.now()
// Whoever reads us may stop early, as `head` does.
process.stdout.on('error', () => process.exit())

function print(mark: string, text: string): void {
  const at = ((performance.now() - started) / 1000).toFixed(2).padStart(5)
  process.stdout.write(`${paint(90, at)}  ${mark}  ${text}\n`)
}

const log =
  (level: keyof Logger, code: number): LogMethod =>
  ({ actor, to, cause, message, directive }, text) => {
    const why = cause instanceof Error ? cause.message : text
    const during = typeof message === 'string' ? `, handling ${message}` : ''
    const decided = typeof directive === 'string' ? `  → ${directive}` : ''
    print(paint(code, level.padEnd(5)), `${String(actor ?? to).replace('/user/', '')}: ${why}${during}${paint(1, decided)}`)
  }
const logger: Logger = { debug: () => {}, info: log('info', 36), warn: log('warn', 33), error: log('error', 31) }

const phases: Readonly<Record<string, number>> = { running: 32, restarting: 33, failed: 31, stopping: 35, starting: 36 }
const phaseWord = /\b(running|restarting|failed|stopping|starting)\b/g
let gap = ''
const stage: Stage = {
  chapter: (title) => {
    process.stdout.write(`${gap}${paint(1, title)}\n`)
    gap = '\n'
  },
  line: (text) => {
    print(paint(32, '·    '), text)
    gap = '\n'
  },
  tree: (text) => {
    process.stdout.write(`\n${text.replaceAll(phaseWord, (word) => paint(phases[word]!, word)).replaceAll(/^/gm, '    ')}\n\n`)
    gap = ''
  },
  wait: (ms) => sleep(ms),
}

const system = ActorSystem.create('showcase', { logger })
await tellStory(system, stage)
const report = await system.shutdown({ deadline: 2000 })
stage.line(`shutdown: ${report.stopped} actors stopped, ${report.killed.length} killed, ${report.undelivered} messages left in mailboxes`)
