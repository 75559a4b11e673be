// A journal as text: see record-text.ts for what it looks like.

import { checkOneOf, checkSignal, readOptions, type Table } from '@troupe/core/internal'
import type { Journal } from '../journal/port.ts'
import { JournalDamaged } from '../values/errors.ts'
import { RecordCheck } from './record-check.ts'
import { type ExportedKeys, type ExportHeader, firstLine, SummedLines, toData } from './record-text.ts'

/** Options of `exportJournal`. */
export interface ExportOptions {
  /**
   * Keys of subjects: `with` all else (default); `without` them, so that what is erased later is erased in this copy too; `only` them, for
   * a copy that is replaced where the other is kept.
   */
  readonly keys?: ExportedKeys | undefined
  /** Ends the export with its reason when it is aborted; none if left out. */
  readonly signal?: AbortSignal | undefined
}

const table: Table<ExportOptions> = { keys: [checkOneOf, ['with', 'without', 'only']], signal: checkSignal }

/**
 * Everything that a journal has at this moment, as text that `importJournal` takes, into any kind of journal.
 *
 * Guarantees: one moment, also of a journal that is written to meanwhile; the order of all events is kept. Fails with `JournalDamaged`
 * where something cannot be read or is missing: half a copy is none; with `InvalidOption`, and with the reason of its signal.
 *
 * @example
 * await pipeline(exportJournal(journal), createWriteStream('journal.txt'))
 */
export function exportJournal(journal: Journal, options: ExportOptions = {}): AsyncIterable<string> {
  const { keys = 'with', signal } = readOptions('exportJournal', options, table)
  return texts(journal, keys, signal)
}

async function* texts(journal: Journal, keys: ExportedKeys, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const lines = new SummedLines()
  const check = new RecordCheck()
  const header: ExportHeader = { identity: journal.identity, time: new Date().toISOString(), keys }
  yield `${firstLine}\n${lines.write(header)}\n`
  for await (const some of journal.records(signal)) {
    let text = ''
    for (const record of some) {
      if (keys !== 'with' && (record.record === 'key') !== (keys === 'only')) continue
      const problem = check.take(record)
      if (problem !== undefined) throw new JournalDamaged(journal.identity, 'its records', problem)
      text += `${lines.write(toData(record))}\n`
    }
    if (text !== '') yield text
  }
  const missing = check.end()
  if (missing !== undefined) throw new JournalDamaged(journal.identity, 'its records', missing)
  yield `${lines.write({ end: check.counts })}\n`
}
