// Packs: copies of 16 consecutive events of an id as one row, made when they were written as many rows. An actor that commits one event at a time
// is replayed from packs at most three times slower than one whose events were written together. Only replay reads them. `runs` has everything: a
// pack that is missing or damaged costs time, and nothing else. Used by the worker too: nothing here needs core.

import type { SqliteRow, SqliteStatement } from '@troupe/sqlite'
import type { StoredEvent } from '../../values/stored.ts'
import { readRun, SimilarHeads, timeIn, writeRun } from '../postgres/run-text.ts'
import type { RunRow } from './sqlite-protocol.ts'
import { crcOf, entityTypeOf, sumOf } from './sqlite-rows.ts'

/** How many events a pack has: those after a multiple of it. */
export const eventsInPack = 16
/** From how many rows on it is worth a pack, up to how many events and bytes of each. */
const [fewestRuns, mostEvents, longestRun] = [4, 7, 4000]
/** How many characters of events wait for the rest of their pack. */
const mostWaiting = 4_000_000

type Prepare = (sql: string) => SqliteStatement

/** The first events of a pack, each of which was a row of its own; their heads differ in the time. */
interface Begun {
  readonly before: string
  readonly after: string
  next: number
  times: string
  data: string
}

/** Makes packs of what is written. */
export class Packing {
  readonly #sql: Prepare
  /** By id; those that waited longest come first. */
  readonly #begun = new Map<string, Begun>()
  #waiting = 0
  #isOff = false

  constructor(sql: Prepare) {
    this.#sql = sql
  }

  /** A run was inserted. If it completes a pack, that is inserted too. */
  wrote(run: RunRow): void {
    if (this.#isOff) return
    try {
      this.#add(run)
    } catch (cause) {
      // Whatever is wrong with packs must not keep an event from being stored: the transaction is tried again without them.
      this.#isOff = true
      throw cause
    }
  }
  #add({ id, first, last, head, data }: RunRow): void {
    if (last - first >= mostEvents) return this.#forget(id)
    const place = (first - 1) % eventsInPack
    const begun = this.#begun.get(id)
    const time = first === last && data.length < longestRun ? timeIn(head) : undefined
    const [before, after] = time === undefined ? ['', ''] : [head.slice(0, time.from), head.slice(time.to)]
    if (time !== undefined && begun !== undefined && begun.next === first && begun.before === before && begun.after === after) {
      begun.next++
      begun.times += `,${head.slice(time.from, time.to)}`
      begun.data += data
      this.#waiting += data.length
      if (place === eventsInPack - 1) this.#complete(id, begun)
      else if (this.#waiting > mostWaiting) this.#forgetOldest()
      return
    }
    if (begun !== undefined) this.#forget(id)
    if (time !== undefined && place === 0) {
      this.#begun.set(id, { before, after, next: first + 1, times: head.slice(time.from, time.to), data })
      this.#waiting += data.length
    } else this.#readBack(id, first, last)
  }
  /** Nothing that waits may be used: the transaction was rolled back, or another writer may have been there. */
  clear(): void {
    this.#begun.clear()
    this.#waiting = 0
  }
  #forget(id: string): void {
    const begun = this.#begun.get(id)
    if (begun === undefined) return
    this.#begun.delete(id)
    this.#waiting -= begun.data.length
  }
  #forgetOldest(): void {
    for (const id of this.#begun.keys()) {
      if (this.#waiting <= mostWaiting / 2) break
      this.#forget(id)
    }
  }

  #complete(id: string, begun: Begun): void {
    this.#forget(id)
    const { before, after, next, times, data } = begun
    // "time" of one becomes "times" of each.
    this.#insert(id, next - 1, `${before.slice(0, -2)}s":[${times}]${after}`, data)
  }
  /** Out of rows, where they were not all seen, or are not all alike. */
  #readBack(id: string, first: number, last: number): void {
    const before = first - 1 - ((first - 1) % eventsInPack)
    const until = before + eventsInPack
    if (last < until) return
    const found = this.#sql('select count(*) as n from runs where id = ? and first > ? and first <= ?').get(id, before, until)
    if ((found!['n'] as number) < fewestRuns) return
    // What is not whole is not copied; whoever replays it finds out.
    const events = readShortRuns(this.#sql, id, before + 1, until)
    if (events === undefined) return
    const { head, data } = writeRun(events)
    this.#insert(id, until, head, data)
  }
  #insert(id: string, last: number, head: string, data: string): void {
    const first = last - eventsInPack + 1
    this.#sql('insert or replace into packs values (?, ?, ?, ?, ?, ?)').run(id, first, last, head, data, sumOf('packs', id, first, last, head, data))
  }
}

/** The events of a pack, if it is what was written. */
export function eventsInRow(id: string, row: SqliteRow): StoredEvent[] | undefined {
  const { first, last, head, data, crc } = row as unknown as { first: number; last: number; head: string; data: string; crc: number }
  if (sumOf('packs', id, first, last, head, data) !== crc) return undefined
  try {
    return readRun(head, data, last - first + 1)
  } catch {
    return undefined
  }
}

/**
 * The events of packs that follow each other, from the one that has an event on, all of which SQLite gives as one text. Ends before what is missing, damaged
 * or long; undefined if that is the first one.
 */
export function readPacks(
  sql: Prepare,
  id: string,
  from: number,
  until: number,
): { readonly first: number; readonly events: StoredEvent[] } | undefined {
  const first = from - ((from - 1) % eventsInPack)
  const found = sql(
    `select group_concat(first || ' ' || crc || ' ' || head || char(10) || data, '') as rows from (
      select * from packs where id = ? and first >= ? and first <= ? and octet_length(data) < ${eventsInPack * longestRun} order by first)`,
  ).get(id, first, until)
  const rows = found?.['rows']
  if (typeof rows !== 'string') return undefined
  const events: StoredEvent[] = []
  for (let at = 0, next = first; at < rows.length; next += eventsInPack) {
    const header = rows.indexOf('\n', at)
    const [begin, crc] = rows.slice(at, header).split(' ', 2) as [string, string]
    const head = rows.slice(at + begin.length + crc.length + 2, header)
    let end = header + 1
    for (let n = 0; n < eventsInPack && end > 0; n++) end = rows.indexOf('\n', end) + 1
    const data = rows.slice(header + 1, end)
    if (end === 0 || Number(begin) !== next || crcOf(`packs\0${id}\0${begin}\0${next + eventsInPack - 1}\0${head}\0${data}`) !== Number(crc)) break
    try {
      for (const event of readRun(head, data, eventsInPack)) events.push(event)
    } catch {
      break
    }
    at = end
  }
  return events.length === 0 ? undefined : { first, events }
}

const heads = new SimilarHeads()

/**
 * Events out of short rows, all of which SQLite gives as one text: to take them one by one takes four times as long. Undefined if some are missing,
 * long or damaged: then they are read one by one, which says what is wrong.
 */
export function readShortRuns(sql: Prepare, id: string, from: number, until: number): StoredEvent[] | undefined {
  const found = sql(
    `select group_concat(position || ' ' || first || ' ' || last || ' ' || crc || ' ' || head || char(10) || data, '') as rows from (
      select * from runs where id = ? and first >= ifnull((select max(first) from runs where id = ? and first <= ?), ?) and first <= ?
        and octet_length(data) < ${longestRun} order by first)`,
  ).get(id, id, from, from, until)
  const rows = found?.['rows']
  if (typeof rows !== 'string') return undefined
  const prefix = (position: string): string => `runs\0${position}\0${id}\0${entityTypeOf(id)}\0`
  const events: StoredEvent[] = []
  let next = from
  for (let at = 0; at < rows.length;) {
    const header = rows.indexOf('\n', at)
    const [position, first, last, crc] = rows.slice(at, header).split(' ', 4) as [string, string, string, string]
    const head = rows.slice(at + position.length + first.length + last.length + crc.length + 4, header)
    const [begin, end] = [Number(first), Number(last)]
    if (begin > next || end < next) return undefined
    at = header + 1
    let after = at
    for (let n = begin; n <= end && after > 0; n++) after = rows.indexOf('\n', after) + 1
    // A line that is cut.
    if (after === 0) return undefined
    const data = rows.slice(at, after)
    at = after
    if (crcOf(`${prefix(position)}${first}\0${last}\0${head}\0${data}`) !== Number(crc)) return undefined
    try {
      const one = heads.read(head, data, end - begin + 1)
      for (let n = next - begin; n < one.length && begin + n <= until; n++) events.push(one[n]!)
    } catch {
      return undefined
    }
    next = end + 1
  }
  return next > until ? events : undefined
}
