// A file that was saved elsewhere, shown as a trace: a capsule, or what `troupe trace --json` wrote. Whatever it holds is checked, and shown as text.
// Pure.

import type { TraceNews } from '../../src/server/desk.ts'

/** What was opened, and what is to be said of it. */
export interface Opened {
  readonly trace: TraceNews
  readonly title: string
  readonly note: string
}

type Span = TraceNews['spans'][number]
type Fields = Readonly<Record<string, unknown>>

const spansMost = 40
const longestText = 200

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const text = (value: unknown, otherwise: string): string => (typeof value === 'string' && value !== '' ? value.slice(0, longestText) : otherwise)
const time = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** Undefined where it is neither. */
export function openedFrom(content: string): Opened | undefined {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return undefined
  }
  const file = fieldsOf(value)
  if (file['troupe'] === 'capsule' && Array.isArray(file['entries'])) return ofCapsule(file, file['entries'].map(fieldsOf))
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
