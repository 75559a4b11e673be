// A file that was saved elsewhere, shown as a trace: a capsule, what `troupe trace --json` wrote, or a run of the simulator. Whatever it holds is
// checked, and shown as text. Pure.

import type { TraceNews } from '../../src/server/desk.ts'

/** What was opened, and what is to be said of it. */
export interface Opened {
  readonly trace: TraceNews
  readonly title: string
  readonly note: string
  /** Its times are places in the order of what happened, and no milliseconds. */
  readonly inSteps?: true
}

type Span = TraceNews['spans'][number]
type Fields = Readonly<Record<string, unknown>>

const spansMost = 40
const longestText = 200

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const text = (value: unknown, otherwise: string): string => (typeof value === 'string' && value !== '' ? value.slice(0, longestText) : otherwise)
const time = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** Undefined where it is none of these. */
export function openedFrom(content: string): Opened | undefined {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return undefined
  }
  const file = fieldsOf(value)
  if (file['troupe'] === 'capsule' && Array.isArray(file['entries'])) return ofCapsule(file, file['entries'].map(fieldsOf))
  if (file['troupe'] === 'run' && Array.isArray(file['events'])) return ofRun(file, file['events'].map(fieldsOf))
  return Array.isArray(file['spans']) && file['spans'].length > 0 ? ofTrace(file, file['spans'].map(fieldsOf)) : undefined
}

function ofCapsule(file: Fields, entries: readonly Fields[]): Opened {
  const path = text(file['path'], 'an actor')
  const failure = fieldsOf(file['failure'])
  const shown = entries.slice(-spansMost)
  const failedAt = time(failure['at'])
  const spans = shown.map((entry, id): Span => {
    const at = time(entry['at']) ?? 0
    const answer = entry['what'] === 'answer'
    // When its handler ended is not in the file; when it failed is.
    const done = id === shown.length - 1 ? Math.max(at, failedAt ?? at) : at
    const from = answer ? text(entry['type'], 'somebody') : entry['what'] === 'signal' ? 'the system' : text(entry['sender'], 'outside')
    const type = answer ? (entry['ok'] === false ? 'no answer' : 'answer') : text(entry['type'], 'message')
    return {
      trace: 0,
      id,
      parent: undefined,
      from: 'outside',
      to: 1,
      type,
      how: answer ? 'answer' : 'tell',
      sentAt: at,
      takenAt: at,
      returnedAt: done,
      doneAt: done,
      fromName: from,
      toName: path,
    }
  })
  const during = typeof failure['during'] === 'string' ? ` at ${text(failure['during'], '')}` : ''
  const missing = Array.isArray(file['missing']) ? file['missing'].length : 0
  return {
    trace: { id: -1, type: path, at: spans[0]?.sentAt ?? 0, leftOut: entries.length - shown.length, spans },
    title: `Capsule of ${path}`,
    note: `It failed${during}: ${text(failure['name'], 'Error')}: ${text(failure['message'], '')}. ${missing === 0 ? 'It is whole' : 'It is partial'}: troupe replay runs it again. How long a message waited, and was handled, is not in it.`,
  }
}

const ways = new Set<unknown>(['tell', 'ask', 'forward', 'answer'])

function ofTrace(file: Fields, all: readonly Fields[]): Opened {
  const shown = all.slice(0, spansMost)
  const spans = shown.map((span, id): Span => {
    const sentAt = time(span['sentAt']) ?? 0
    return {
      trace: 0,
      id,
      parent: time(span['parent']),
      from: 'outside',
      to: 1,
      type: text(span['type'], 'message'),
      how: ways.has(span['how']) ? (span['how'] as Span['how']) : 'tell',
      sentAt,
      takenAt: time(span['takenAt']),
      returnedAt: time(span['returnedAt']),
      doneAt: time(span['doneAt']),
      fromName: text(span['fromName'], 'outside'),
      toName: text(span['toName'], 'somebody'),
    }
  })
  const type = text(file['type'], 'message')
  const leftOut = (time(file['leftOut']) ?? 0) + all.length - shown.length
  return {
    trace: { id: -1, type, at: time(file['at']) ?? spans[0]!.sentAt, leftOut, spans },
    title: `Trace of ${type}`,
    note: 'From a file: it is not of the system that you look at.',
  }
}

/** What is shown of a run beside its messages, each at the actor that it happened to. */
const signs: Readonly<Record<string, string>> = {
  phase: '',
  signal: '',
  fault: '⚡ ',
  timer: '⏲ ',
  dead: '✝ ',
  dropped: '✗ ',
  stash: 'stashed ',
  note: '‼ ',
}

/** Events of the simulator: what was sent and handled becomes one message; time stands still in a run, so their order is what is drawn. */
function ofRun(file: Fields, events: readonly Fields[]): Opened {
  const all: Span[] = []
  /** Those that were sent and are not handled yet, by their detail, which has the number of the message. */
  const waiting = new Map<string, Span>()
  const handled = new Map<string, Span>()
  for (const [at, event] of events.entries()) {
    const what = text(event['what'], '')
    const detail = text(event['detail'], what)
    const actor = text(event['actor'], 'outside')
    const to = text(event['to'], actor)
    if (what === 'handle') {
      const sent = waiting.get(detail)
      if (sent === undefined) continue
      waiting.delete(detail)
      handled.set(detail, Object.assign(sent, { takenAt: at, returnedAt: at + 1, doneAt: at + 1 }))
    } else if (what === 'done') Object.assign(handled.get(detail) ?? {}, { returnedAt: at, doneAt: at })
    else if (what === 'send' || signs[what] !== undefined) {
      const [ended, of] = what === 'dead' || what === 'dropped' ? [true, waiting.get(detail)] : [false, undefined]
      if (of !== undefined) Object.assign(of, { takenAt: at, returnedAt: at, doneAt: at })
      const message = what === 'send'
      const span: Span = {
        trace: 0,
        id: all.length,
        parent: undefined,
        from: 'outside',
        to: 1,
        type: message ? detail.replace(/^\(moved\) /, '') : `${signs[what]}${detail}`,
        how: message ? (detail.startsWith('(moved) ') ? 'forward' : 'tell') : 'answer',
        sentAt: at,
        takenAt: message ? undefined : at,
        returnedAt: message ? undefined : at,
        doneAt: message ? undefined : at,
        fromName: ended ? to : actor,
        toName: to,
      }
      all.push(span)
      if (message) waiting.set(span.type, span)
    }
  }
  const shown = all.slice(-spansMost)
  const scenario = text(file['scenario'], 'a scenario')
  const where = typeof file['actor'] === 'string' ? `${text(file['actor'], '')}: ` : ''
  return {
    trace: { id: -1, type: scenario, at: shown[0]?.sentAt ?? 0, leftOut: all.length - shown.length, spans: shown },
    title: `Run of ${scenario}, seed ${time(file['seed']) ?? 'unknown'}`,
    note: `It broke a promise: ${text(file['promise'], 'unknown')}. ${where}${text(file['text'], '')}. Time stands still in most steps of a run: drawn is the order in which things happened.`,
    inSteps: true,
  }
}
