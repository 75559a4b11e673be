// Reads an LMDB journal from end to end, as it is at one moment, and says what is wrong with it: sums, gaps, repeats, and what heads say against
// what is there. What is written meanwhile is no part of it, and no damage.

import type { Damage, Verified } from '../../values/stored.ts'
import { lastNumber, numberKey, type Opened, readText, textKey } from './bytes.ts'
import type { LmdbFile, Table, TableView } from './file.ts'
import type { SubjectKeyFiles } from '../sqlite/subject-key-files.ts'
import { checkPages } from './pages.ts'
import { countOf, readRun } from './run-text.ts'
import type { LogHead } from './writes.ts'

/** How many records are read before the loop has its turn. */
const step = 500

export async function verifyFile(file: LmdbFile, keys: SubjectKeyFiles, signal: AbortSignal | undefined): Promise<Verified> {
  const view = file.freeze()
  try {
    return await verifyView(file, view, keys, signal)
  } finally {
    view.end()
  }
}

async function verifyView(file: LmdbFile, view: TableView, keys: SubjectKeyFiles, signal: AbortSignal | undefined): Promise<Verified> {
  const damages: Damage[] = []
  for (const { page, problem } of await checkPages(file.path, signal))
    damages.push({ where: `${file.path}, page ${page}`, id: undefined, seq: undefined, problem })
  // LMDB would end the process, or go round in circles, where a page is not what it should be.
  if (damages.length > 0) return { ids: 0, events: 0, snapshots: 0, damages }
  /** Runs that are there and cannot be read: they are not missing besides. */
  const unread = new Set<string>()
  const report = (table: Table, problem: string, record: string, id?: string, seq?: number): void => {
    if (damages.length < 1000) damages.push({ where: `${file.path}, ${table.name} of ${record}`, id, seq, problem })
  }
  /** All records of a table that can be read. */
  async function* records(table: Table, name: (key: Buffer) => [record: string, id?: string, seq?: number]) {
    let start: Buffer | undefined
    for (;;) {
      signal?.throwIfAborted()
      const some = [...table.range({ ...(start === undefined ? {} : { start }), limit: step })]
      for (const { key, value } of some) {
        const where = name(key)
        try {
          yield { key, where, record: table.open(key, value, () => where[0]) }
        } catch (cause) {
          unread.add(where[0])
          report(table, cause instanceof SyntaxError ? 'it cannot be read' : 'its sum does not match', ...where)
        }
      }
      if (some.length < step) return
      start = Buffer.concat([some.at(-1)!.key, Buffer.from([0])])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const byText = (key: Buffer): [string, string] => [readText(key).text, readText(key).text]
  const byNumber = (key: Buffer): [string, string, number] => {
    const id = readText(key).text
    return [`${id}#${lastNumber(key)}`, id, lastNumber(key)]
  }
  const { heads, runs, snapshots, states, log, owners, offsets, meta, timers, due } = view.tables
  const known = new Map<string, { readonly seq: number; readonly deleted: number; next: number }>()
  for await (const { where, record } of records(heads, byText)) {
    const [seq, deleted] = record.head as [number, number]
    known.set(where[0], { seq, deleted, next: deleted + 1 })
  }
  let events = 0
  for await (const { where, record } of records(runs, byNumber)) {
    const [name, id, first] = where as [string, string, number]
    const count = countOf(record.head)
    const head = known.get(id)
    if (head === undefined) {
      report(runs, 'there is no head for it', name, id, first)
      continue
    }
    const end = first + count
    if (first > head.next && !unread.has(`${id}#${head.next}`))
      report(runs, `events ${head.next} to ${first - 1} are missing`, `${id}#${head.next}`, id, head.next)
    else if (first < head.next && first > head.deleted) report(runs, `event ${first} is there twice`, name, id, first)
    if (readRun(record.head, record.text).length !== count) report(runs, 'it is cut', name, id, first)
    // A reader of all events goes by groups, and would pass it over.
    if (end - 1 > head.deleted && !isNamed(view, record, id, first, count)) report(runs, `group ${record.group} does not name it`, name, id, first)
    events += Math.max(0, end - Math.max(first, head.deleted + 1))
    head.next = Math.max(head.next, end)
    if (end - 1 > head.seq) report(runs, `it goes on to ${end - 1}, and the head says ${head.seq}`, name, id, first)
  }
  for (const [id, { seq, next }] of known)
    if (next <= seq && !unread.has(`${id}#${next}`)) report(runs, `events ${next} to ${seq} are missing`, `${id}#${next}`, id, next)
  let kept = 0
  for await (const _ of records(snapshots, byNumber)) kept++
  for (const table of [states, owners, offsets]) for await (const _ of records(table, byText)) continue
  for await (const _ of records(meta, (key) => [key.toString()])) continue
  for await (const _ of records(timers, (key) => [readText(key).text, readText(key).text])) continue
  for await (const _ of records(due, (key) => [readText(key, 8).text, readText(key, 8).text])) continue
  for await (const { where, record } of records(log, (key) => [`group ${lastNumber(key)}`]))
    for (const entry of (record.head as LogHead).entries) {
      if (entry === 0) continue
      const [id, first, count] = entry
      const head = known.get(id)
      if (head !== undefined && first + count - 1 <= head.deleted) continue
      if ([...runs.keys({ start: numberKey(textKey(id), first), end: numberKey(textKey(id), first + 1) })].length === 0)
        report(log, `it names ${id}#${first}, which is not there`, where[0], id, first)
    }
  for await (const where of keys.damaged())
    if (damages.length < 1000) damages.push({ where, id: undefined, seq: undefined, problem: 'it is not a key' })
  return { ids: known.size, events, snapshots: kept, damages }
}

/** Whether the log names a run; a record of the log that cannot be read is told by itself. */
function isNamed({ tables }: TableView, { group, place }: Opened, id: string, first: number, count: number): boolean {
  let found: Opened | undefined
  try {
    found = tables.log.get(numberKey(Buffer.alloc(0), group), () => `group ${group}`)
  } catch {
    return true
  }
  const entry = (found?.head as LogHead | undefined)?.entries[place]
  return entry !== undefined && entry !== 0 && entry[0] === id && entry[1] === first && entry[2] === count
}
