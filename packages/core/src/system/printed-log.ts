// The log of a system that was given none: warnings and errors as lines for people, on standard error. It tells words and numbers
// of what it is given, never what is inside of an object: a message may be anybody's secret. One line each, but for the stack of the cause.

import { Storm } from '../cell/life/storm.ts'
import { hostPrint } from '../ports/host.ts'
import type { TimerQueue } from '../queues/timers.ts'
import { messageOf, show } from '../values/errors.ts'
import { type LevelledLogger, silent } from '../values/logger.ts'

/** Lines of one system within a second; what comes beyond is summed up. */
const mostLines = 50
const longest = 200

export function printedLog(system: string, timers: TimerQueue): LevelledLogger {
  const storm = new Storm(mostLines, timers, (count) => hostPrint('warn', `warn [${system}] … and ${told(count)} more lines in the last second`))
  const print =
    (level: 'warn' | 'error') =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      if (storm.takes()) hostPrint(level, `${level} [${system}] ${lineOf(fields, message)}`)
    }
  return { ...silent, warn: print('warn'), error: print('error'), isLevelEnabled: () => false }
}

/** A number as people write it. */
export function told(count: number): string {
  return count.toLocaleString('en')
}

function lineOf({ actor, cause, ...fields }: Readonly<Record<string, unknown>>, message: string): string {
  const words = Object.entries(fields).map(([key, value]) => `${key} ${wordOf(value)}`)
  const known = words.filter((word) => !word.endsWith(' '))
  return (
    (actor === undefined ? '' : `${wordOf(actor)}: `) +
    cut(message) +
    (known.length > 0 ? ` (${known.join(', ')})` : '') +
    (cause === undefined ? '' : `\n    ${causeOf(cause).replaceAll('\n', '\n    ')}`)
  )
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return cut(value.filter((word) => typeof word === 'string').join(' '))
  if (value instanceof Error) return cut(messageOf(value))
  return typeof value === 'string' || (typeof value === 'number' && value !== 0) || typeof value === 'boolean' ? cut(String(value)) : ''
}

/** What may come from anywhere stays on its line, and within bounds. */
function cut(text: string): string {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ')
  return plain.length > longest ? `${plain.slice(0, longest)}…` : plain
}

/** What was thrown, and why that was: in words, and where the first of it came from. */
function causeOf(cause: unknown): string {
  const lines: string[] = []
  let at = cause
  try {
    for (; at instanceof Error && at.cause instanceof Error && lines.length < 9; at = at.cause) lines.push(`${at.name}: ${messageOf(at)}, because of`)
    lines.push(at instanceof Error && typeof at.stack === 'string' ? at.stack : show(at))
  } catch {
    lines.push(messageOf(at))
  }
  return lines.join('\n').slice(0, 4000)
}
