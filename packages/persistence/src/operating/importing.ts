// Text that `exportJournal` made, taken into a journal: all of it or nothing, after every line was checked.

import { InvalidOption, TroupeError } from '@troupe/core'
import { checkCan } from '@troupe/core/internal'
import type { Journal } from '../journal/port.ts'
import type { JournalRecord } from '../journal/records.ts'
import { RecordCheck } from './record-check.ts'
import { type ExportHeader, foreign, fromData, type RecordCounts, SummedLines } from './record-text.ts'

/** What is to be imported is damaged, was cut, or is something else. Nothing of it was taken. */
export class ImportRefused extends TroupeError {
  readonly code = 'import-refused'
  /** The line at which that was noticed; 1 is the first. */
  declare readonly line: number
  constructor(line: number, why: string) {
    super(`Cannot import line ${line}: ${why}. Nothing was imported; export it again, or take another copy.`)
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

/** Read to its end before the first is added: keys that are half there would be nobody's. */
async function addKeys(journal: Journal, reading: Reading): Promise<void> {
  const keys: Extract<JournalRecord, { record: 'key' }>[] = []
  for await (const some of reading.records()) for (const record of some) if (record.record === 'key') keys.push(record)
  for (const { subject, key } of keys) {
    if (key === undefined) {
      await journal.eraseKey(subject)
      continue
    }
    const held = await journal.addKey(subject, key)
    if (held.is === 'key' && Buffer.compare(held.key, key) !== 0)
      throw new ImportRefused(reading.line, `subject ${JSON.stringify(subject)} has another key in this journal; it belongs to another one`)
  }
}

/** How many records are handed over at a time. */
const batch = 1000

/** A text as records, line by line. */
class Reading {
  line = 0
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
      const problem = typeof record === 'string' ? record : this.#check.take(record)
      if (problem !== undefined) throw new ImportRefused(this.line, problem)
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
