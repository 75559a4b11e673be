// Records as lines of text. The first line says what the text is; every other one begins with a sum over itself and all before it, so that
// a line that was changed, lost, doubled or moved is noticed there; the last one counts them all, so that a text that was cut is noticed too.
//
//   troupe journal export 1
//   5e2f01aa {"identity":"…","time":"2026-01-31T12:00:00.000Z","keys":"with"}
//   0c1b22d3 {"record":"event","id":"cart/1","seq":1,"type":"added",…}
//   9a0f12c4 {"end":{"ids":1,"events":1,…}}

import { crc32 } from 'node:zlib'
import type { JournalRecord } from '../journal/records.ts'

const mark = 'troupe journal export '
export const formatVersion = 1
export const firstLine: string = `${mark}${formatVersion}`

/** Which keys of subjects an export has. */
export type ExportedKeys = 'with' | 'without' | 'only'

/** What the second line says. */
export interface ExportHeader {
  /** Of the journal that was exported. */
  readonly identity: string
  readonly time: string
  readonly keys: ExportedKeys
}

/** How many records of each sort there are. */
export type RecordCounts = Readonly<Record<JournalRecord['record'], number>>

/** Adds sums to lines, or checks them. */
export class SummedLines {
  #sum = crc32(firstLine)
  write(content: unknown): string {
    const text = JSON.stringify(content)
    return `${this.#next(text)} ${text}`
  }
  /** What a line holds; undefined where its sum is not what it should be. */
  read(line: string): unknown {
    const text = line.slice(9)
    if (line[8] !== ' ' || line.slice(0, 8) !== this.#next(text)) return undefined
    return JSON.parse(text) as unknown
  }
  #next(text: string): string {
    this.#sum = crc32(text, this.#sum)
    return this.#sum.toString(16).padStart(8, '0')
  }
}

/** Why a first line is not one that can be read; undefined where it is. */
export function foreign(line: string): string | undefined {
  if (line === firstLine) return undefined
  return line.startsWith(mark)
    ? `it has version ${JSON.stringify(line.slice(mark.length))} of the format, and this version of Troupe reads ${formatVersion}`
    : 'it is not the export of a journal'
}

export function toData(record: JournalRecord): unknown {
  switch (record.record) {
    case 'key':
      return { ...record, key: record.key === undefined ? null : Buffer.from(record.key).toString('base64') }
    case 'timer':
      return { ...record, due: written(record.due) }
    case 'id':
    case 'place':
      return record
    default:
      return { ...record, time: written(record.time) }
  }
}

/** JSON has no number that is infinite. */
function written(number: number): number | string {
  return Number.isFinite(number) ? number : String(number)
}

type Check = (value: unknown) => boolean
const text: Check = (value) => typeof value === 'string'
const whole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const real: Check = (value) => typeof value === 'number' || value === 'Infinity' || value === '-Infinity' || value === 'NaN'
const texts: Check = (value) => Array.isArray(value) && value.every(text)
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value)

const fields: Readonly<Record<JournalRecord['record'], Readonly<Record<string, Check>>>> = {
  id: { id: text, seq: whole, deleted: whole },
  event: { id: text, seq: whole, type: text, version: whole, data: text, tags: texts, subject: maybe(text), time: real },
  state: { id: text, revision: whole, version: whole, data: maybe(text), subject: maybe(text), time: real },
  snapshot: { id: text, seq: whole, version: whole, data: text, time: real },
  timer: { id: text, key: text, due: real },
  key: { subject: text, key: maybe(text) },
  place: { projection: text, id: maybe(text), seq: whole },
}

/** The record that a line holds, or what is wrong with it. */
export function fromData(data: unknown): JournalRecord | string {
  const found = data as Record<string, unknown>
  const kind = found['record']
  if (typeof kind !== 'string' || !Object.hasOwn(fields, kind)) return `there is no record ${JSON.stringify(kind)}`
  const checks = fields[kind as JournalRecord['record']]
  const record: Record<string, unknown> = { record: kind }
  for (const [name, check] of Object.entries(checks)) {
    if (!check(found[name])) return `its ${name} is ${JSON.stringify(found[name])}`
    record[name] = found[name] ?? undefined
  }
  for (const name of ['time', 'due']) if (typeof record[name] === 'string') record[name] = Number(record[name])
  if (kind === 'key' && record['key'] !== undefined) record['key'] = new Uint8Array(Buffer.from(record['key'] as string, 'base64'))
  return record as unknown as JournalRecord
}
