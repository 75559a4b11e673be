// Text that `exportJournal` made, taken into a journal: all of it or nothing, after every line was checked.

import { InvalidOption, TroupeError } from '@troupe/core'
import { checkCan } from '@troupe/core/internal'
import { isSealed } from '../gate/keyring.ts'
import type { Journal, SubjectKey } from '../journal/port.ts'
import type { JournalRecord } from '../journal/records.ts'
import { decode } from '../values/codec.ts'
import { RecordCheck } from './record-check.ts'
import { type ExportHeader, foreign, fromData, type RecordCounts, SummedLines } from './record-text.ts'

/** The text of an import is damaged, was cut, or is something else. The message says what of it was imported: nothing, as a rule. */
export class ImportRefused extends TroupeError {
  readonly code = 'import-refused'
  /** The line at which that was noticed; 1 is the first. */
  declare readonly line: number
  constructor(line: number, why: string, keys = 0) {
    const imported = keys === 0 ? 'Nothing was imported' : `${keys === 1 ? '1 key before it was' : `${keys} keys before it were`} imported`
    super(`Cannot import line ${line}: ${why}. ${imported}; export it again, or take another copy.`)
    this.line = line
  }
}

/** What was imported. */
export interface Imported {
  /** The identity of the journal that was exported; the one that it was imported into has its own. */
  readonly from: string
  /** When it was exported. */
  readonly time: string
  readonly counts: RecordCounts
}

/**
 * Takes what `exportJournal` wrote into a journal that has nothing yet. An export of keys only is added to a journal that has the rest; a
 * subject that is erased there stays so.
 *
 * Guarantees: all or nothing; events keep their numbers and their order; projections go on where they stood. The journal keeps its own
 * identity, because it is another one. Fails with `ImportRefused` where the text is damaged, cut or foreign, and with `JournalRefused`
 * where something would be overwritten.
 *
 * @example
 * await importJournal(journal, createReadStream('journal.txt'))
 */
export async function importJournal(journal: Journal, text: AsyncIterable<string | Uint8Array>): Promise<Imported> {
  checkCan('journal', journal, ['an open journal', 'restore'])
  if (!isText(text)) throw new InvalidOption('text', text, 'use an async iterable of text, such as a stream that reads a file')
  const reading = new Reading(text)
  const header = await reading.header()
  if (header.keys === 'only') await addKeys(journal, reading)
  else await journal.restore(reading.records())
  return { from: header.identity, time: header.time, counts: reading.counts }
}

function isText(text: unknown): boolean {
  try {
    return typeof (text as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'
  } catch {
    return false
  }
}

/** Reads the text to its end, and compares every key with the journal, before it adds the first one: a refused import leaves the journal as it was. */
async function addKeys(journal: Journal, reading: Reading): Promise<void> {
  const keys: { readonly line: number; readonly subject: string; readonly key: Uint8Array | undefined }[] = []
  for await (const some of reading.records())
    // The line after the last record of a batch is not read yet.
    for (const [i, record] of some.entries()) if (record.record === 'key') keys.push({ ...record, line: reading.taken - some.length + i + 1 })
  const refuseOther = ({ line, subject, key }: (typeof keys)[number], held: SubjectKey, imported: number): void => {
    if (key !== undefined && held.is === 'key' && Buffer.compare(held.key, key) !== 0)
      throw new ImportRefused(line, `subject ${JSON.stringify(subject)} has another key in this journal; it belongs to another one`, imported)
  }
  for (const one of keys) refuseOther(one, await journal.key(one.subject), 0)
  for (const [imported, one] of keys.entries())
    if (one.key === undefined) await journal.eraseKey(one.subject)
    // Another process may have given it a key since it was compared.
    else refuseOther(one, await journal.addKey(one.subject, one.key), imported)
}

/** How many records are handed over at a time. */
const batch = 1000

/** A text as records, line by line. */
class Reading {
  line = 0
  /** The line of the last record that was taken. */
  taken = 0
  readonly #lines: AsyncGenerator<string>
  readonly #sums = new SummedLines()
  readonly #check = new RecordCheck()

  constructor(text: AsyncIterable<string | Uint8Array>) {
    this.#lines = linesOf(text)
  }
  get counts(): RecordCounts {
    return this.#check.counts
  }
  async #next(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next()
    if (done === true) return undefined
    this.line++
    return value
  }
  /** What a line holds, its sum checked. */
  #content(line: string): Record<string, unknown> {
    let content: unknown
    try {
      content = this.#sums.read(line)
    } catch {
      content = undefined
    }
    if (typeof content !== 'object' || content === null)
      throw new ImportRefused(this.line, 'its sum does not match, so that it is not what was written')
    return content as Record<string, unknown>
  }

  async header(): Promise<ExportHeader> {
    const first = await this.#next()
    const problem = first === undefined ? 'there is nothing' : foreign(first)
    if (problem !== undefined) throw new ImportRefused(1, problem)
    const second = await this.#next()
    if (second === undefined) throw new ImportRefused(1, 'the text ends here')
    return this.#content(second) as unknown as ExportHeader
  }

  async *records(): AsyncGenerator<readonly JournalRecord[]> {
    let some: JournalRecord[] = []
    for (;;) {
      const line = await this.#next()
      if (line === undefined) throw new ImportRefused(this.line, 'the text ends here, and its last line is missing')
      const content = this.#content(line)
      if ('end' in content) {
        await this.#end(content['end'])
        if (some.length > 0) yield some
        return
      }
      const record = fromData(content)
      const problem = typeof record === 'string' ? record : (this.#check.take(record) ?? undecodable(record))
      if (problem !== undefined) throw new ImportRefused(this.line, problem)
      this.taken = this.line
      some.push(record as JournalRecord)
      if (some.length < batch) continue
      yield some
      some = []
    }
  }
  async #end(counts: unknown): Promise<void> {
    const missing = this.#check.end()
    if (missing !== undefined) throw new ImportRefused(this.line, missing)
    if (JSON.stringify(counts) !== JSON.stringify(this.counts)) throw new ImportRefused(this.line, 'it counts other records than there are')
    if ((await this.#next()) !== undefined) throw new ImportRefused(this.line, 'there is something after the end')
  }
}

/** Says which data no actor could read: it would be noticed only when the actor starts, and the export may be gone by then. */
function undecodable(record: JournalRecord): string | undefined {
  if (record.record !== 'event' && record.record !== 'state' && record.record !== 'snapshot') return undefined
  const { data } = record
  if (data === undefined) return undefined
  try {
    if (!isSealed(data)) decode(data)
    else if (typeof (JSON.parse(data) as { v?: unknown }).v !== 'string') return `the sealed data of the ${nameOf(record)} has no text`
    return undefined
  } catch (cause) {
    return `the data of the ${nameOf(record)} cannot be decoded (${(cause as Error).message})`
  }
}
function nameOf(record: Extract<JournalRecord, { record: 'event' | 'state' | 'snapshot' }>): string {
  return `${record.record} ${record.id}${record.record === 'state' ? '' : `#${record.seq}`}`
}

async function* linesOf(text: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of text) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}
