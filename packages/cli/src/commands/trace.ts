// Follows the next message of a type, and all that comes of it: how long each waited, and how long it was handled.

import type { Attached, NamedSpan, NamedTrace } from '@troupe/observer'
import { Exit, exitCodes } from '../exit.ts'
import { brief, clean, counted, duration, jsonLine, type Screen, Style, table } from '../style.ts'

export interface TraceOptions {
  readonly json: boolean
  readonly next: string
  /** Milliseconds to wait for the message, and then for what comes of it. */
  readonly within: number
  readonly settle: number
}

export async function trace(attached: Attached, screen: Screen, options: TraceOptions, waitFor: (what: string) => void): Promise<void> {
  waitFor(`waiting for the next ${brief(options.next)}, up to ${duration(options.within)}`)
  const found = await follow(attached, options)
  attached.close()
  if (found === undefined)
    throw new Exit(
      exitCodes.found,
      `No message ${brief(options.next)} was sent within ${options.within / 1000} s. Types are as troupe flow shows them; answers are followed with their questions.`,
    )
  screen.write(options.json ? jsonLine(found) : `${linesOf(found, new Style(screen.colours)).join('\n')}\n`)
}

async function follow(attached: Attached, { next, within, settle }: TraceOptions): Promise<NamedTrace | undefined> {
  // Samples are taken as long as somebody wants them.
  const rounds = attached.watch({ traces: true })[Symbol.asyncIterator]()
  const first = (await rounds.next()).value
  if (first === undefined) return undefined
  let id: number | undefined
  let refused: unknown
  attached.ask('traceNext', { type: next }).then(
    (number) => (id = number),
    (cause: unknown) => (refused = cause),
  )
  let since: number | undefined
  let found: NamedTrace | undefined
  for (;;) {
    const { value: told } = await rounds.next()
    if (told === undefined) break
    if (refused !== undefined) throw new Exit(exitCodes.usage, `${brief(next)} cannot be followed: ${(refused as Error).message}`)
    if (id === undefined && told.at - first.at > within) break
    if (id === undefined) continue
    const began: number = (since ??= told.at)
    found = (await attached.ask('trace', { trace: id })) ?? undefined
    if (told.at - began > settle || (found !== undefined && found.spans.every((span) => span.how === 'answer' || span.doneAt !== undefined))) break
  }
  return found
}

interface Row {
  readonly span: NamedSpan
  readonly depth: number
  readonly queued: number
}

function linesOf({ spans, leftOut, type }: NamedTrace, style: Style): string[] {
  const [first] = spans
  if (first === undefined) return [`${clean(type)}: nothing is known of it`]
  const rows: Row[] = []
  const below = (parent: number | undefined, depth: number): void => {
    for (const span of spans)
      if (span.parent === parent && depth < 50) {
        rows.push({ span, depth, queued: (span.takenAt ?? span.sentAt) - span.sentAt })
        below(span.id, depth + 1)
      }
  }
  below(undefined, 0)
  const all = rows.reduce((sum, { queued, span }) => sum + queued + handled(span), 0)
  const ms = (n: number): string => (n < 10 ? n.toFixed(2) : n.toFixed(1))
  const cells = rows.map(({ span, depth, queued }) => {
    const share = all > 0 ? Math.round(((queued + handled(span)) / all) * 100) : 0
    const state =
      span.takenAt === undefined && span.how !== 'answer'
        ? style.yellow('still queued')
        : span.doneAt === undefined && span.how !== 'answer'
          ? style.yellow('still handled')
          : ''
    return [
      ms(span.sentAt - first.sentAt),
      `${'  '.repeat(depth)}${clean(span.toName)}`,
      clean(span.type),
      span.how === 'answer' ? '' : ms(queued),
      span.how === 'answer' ? '' : ms(handled(span)),
      `${span.how === 'tell' ? '' : style.dim(`(${span.how})`)} ${state} ${share >= 20 ? style.red(`◀ ${share} %`) : ''}`.trim(),
    ]
  })
  const lines = table(['ms', 'actor', 'message', 'queued', 'handled', ''], cells, new Set([0, 3, 4]), style)
  if (first.setBy !== undefined)
    lines.push(style.dim(`a timer sent it, ${ms(first.sentAt - first.setBy.at)} ms after it was set by the handler of ${clean(first.setBy.type)}`))
  if (leftOut > 0) lines.push(style.dim(`and ${counted(leftOut, 'message')} not followed`))
  return lines
}

function handled({ takenAt, doneAt, returnedAt }: NamedSpan): number {
  const end = doneAt ?? returnedAt
  return takenAt === undefined || end === undefined ? 0 : end - takenAt
}
