// The events of a run as one row: what they have in common once, what differs as lists, and the data of each as a line, so that people can
// read it, and the view `events` take it apart.
//
//   head  {"type":"added","version":1,"times":[1700000000000,1700000000001]}    "type" of all, or "types" of each; so with all but the data
//   data  {"type":"added","by":1}⏎{"type":"added","by":2}⏎                       a line that is cut has no end, and is told

import type { StoredEvent } from '../../values/stored.ts'
import { fromText, toLine, toText } from './text.ts'

interface RunHead {
  readonly type?: string
  readonly types?: readonly string[]
  readonly version?: number
  readonly versions?: readonly number[]
  readonly time?: number
  readonly times?: readonly number[]
  /** Of all; none where neither is there. */
  readonly tags?: readonly string[]
  readonly tagsOfEach?: readonly (readonly string[])[]
  /** Of all; none where neither is there. */
  readonly subject?: string | null
  readonly subjects?: readonly (string | null)[]
}

export function writeRun(events: readonly StoredEvent[]): { readonly head: string; readonly data: string } {
  const [{ type, version, time, tags, subject }] = events as readonly [StoredEvent]
  let data = ''
  let [types, versions, times, subjects, tagsOfEach] = [false, false, false, false, false]
  for (const event of events) {
    data += `${toLine(event.data)}\n`
    types ||= event.type !== type
    versions ||= event.version !== version
    times ||= event.time !== time
    subjects ||= event.subject !== subject
    tagsOfEach ||= event.tags !== tags && (event.tags.length > 0 || tags.length > 0)
  }
  const head: RunHead = {
    ...(types ? { types: events.map((event) => toText(event.type)) } : { type: toText(type) }),
    ...(versions ? { versions: events.map((event) => event.version) } : { version }),
    ...(times ? { times: events.map((event) => event.time) } : { time }),
    ...(tagsOfEach ? { tagsOfEach: events.map((event) => event.tags.map(toText)) } : tags.length > 0 ? { tags: tags.map(toText) } : {}),
    ...(subjects ? { subjects: events.map((event) => optional(event.subject)) } : subject === undefined ? {} : { subject: toText(subject) }),
  }
  return { head: JSON.stringify(head), data }
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}

const none: readonly string[] = []
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)
const isMaybeText = (value: unknown): value is string | null => value === null || isText(value)

/** The events of a row that has so many; throws a `SyntaxError` that says what is wrong where that is not what it has. */
export function readRun(head: string, data: string, count: number): StoredEvent[] {
  const lines = data.split('\n')
  if (lines.pop() !== '') throw new SyntaxError('its data is cut')
  if (lines.length !== count) throw new SyntaxError(`its data has ${lines.length} events, and it says ${count}`)
  const parsed = parse(head)
  const column = <T>(name: string, all: unknown, each: unknown, is: (value: unknown) => value is T): ((i: number) => T) => {
    if (each === undefined && is(all)) return () => all
    if (Array.isArray(each) && each.length === count && each.every(is)) return (i) => each[i]!
    throw new SyntaxError(`its head does not say the ${name} of ${count} events`)
  }
  const types = column('type', parsed.type, parsed.types, isText)
  const versions = column('version', parsed.version, parsed.versions, isNumber)
  const times = column('time', parsed.time, parsed.times, isNumber)
  const tags = column('tags', parsed.tags ?? none, parsed.tagsOfEach, isTexts)
  const subjects = column('subject', parsed.subject ?? null, parsed.subjects, isMaybeText)
  // Most runs have events of one kind without tags and subjects, and no text that is escaped: nothing is looked up or copied for each event.
  const isPlain = parsed.tags === undefined && parsed.tagsOfEach === undefined && parsed.subjects === undefined && !data.includes('\u0001')
  if (isPlain && parsed.types === undefined && parsed.versions === undefined) {
    const [type, version, subject] = [fromText(types(0)), versions(0), maybe(subjects(0))]
    if (parsed.times !== undefined) return lines.map((line, i) => ({ type, version, data: line, tags: none, subject, time: parsed.times![i]! }))
    const time = times(0)
    return lines.map((line) => ({ type, version, data: line, tags: none, subject, time }))
  }
  return lines.map((line, i) => ({
    type: fromText(types(i)),
    version: versions(i),
    data: fromText(line),
    tags: tags(i).map(fromText),
    subject: maybe(subjects(i)),
    time: times(i),
  }))
}

function parse(head: string): RunHead {
  let parsed: unknown
  try {
    parsed = JSON.parse(head)
  } catch {
    // Told below: what is no JSON is no head.
  }
  if (typeof parsed !== 'object' || parsed === null) throw new SyntaxError('its head cannot be read')
  return parsed
}

function maybe(text: string | null): string | undefined {
  return text === null ? undefined : fromText(text)
}

/** Where the time of a run is in its head, if that is a whole number; as `writeRun` writes it. */
export function timeIn(head: string): { readonly from: number; readonly to: number } | undefined {
  // No text of the user looks like it: there, a quote is escaped.
  const from = head.indexOf(',"time":') + 8
  let to = from
  for (let code = head.charCodeAt(to); code >= 48 && code <= 57; code = head.charCodeAt(to)) to++
  const end = head[to]
  return from > 8 && to > from && (end === ',' || end === '}') ? { from, to } : undefined
}

/** Numbers with more digits may not be what `Number` makes of them. */
const maxDigits = 15

/** Reads runs of one event whose heads differ in the time only, as those of an actor mostly do, and parses such a head once. Others are read as ever. */
export class SimilarHeads {
  /** No head begins with it. */
  #before = '\0'
  #after = ''
  #event: StoredEvent | undefined

  read(head: string, data: string, count: number): StoredEvent[] {
    return count === 1 ? [this.readOne(head, data)] : readRun(head, data, count)
  }

  /** The event of a run of one; throws as `readRun` does. */
  readOne(head: string, data: string): StoredEvent {
    const from = this.#before.length
    let to = from
    let time = 0
    for (let code = head.charCodeAt(to); code >= 48 && code <= 57; code = head.charCodeAt(++to)) time = time * 10 + code - 48
    const isSimilar =
      to > from && to - from <= maxDigits && head.length - to === this.#after.length && head.endsWith(this.#after) && head.startsWith(this.#before)
    // More than one line is more than one event.
    if (!isSimilar || data.indexOf('\n') !== data.length - 1 || data === '') return this.#parse(head, data)
    const { type, version, tags, subject } = this.#event!
    return { type, version, data: fromText(data.slice(0, -1)), tags, subject, time }
  }
  #parse(head: string, data: string): StoredEvent {
    const event = readRun(head, data, 1)[0]!
    const time = timeIn(head)
    if (time !== undefined) {
      this.#before = head.slice(0, time.from)
      this.#after = head.slice(time.to)
      this.#event = event
    }
    return event
  }
}
