// A journal for the time of one command: found by its place, opened without taking it over, closed at the end. A system that uses it goes on.

import type * as persistence from '@troupe/persistence'
import type { Journal } from '@troupe/persistence'
import { Exit, exitCodes } from '../../exit.ts'
import { sibling } from '../../siblings.ts'
import { clean, jsonLine, type Screen } from '../../style.ts'

/** Which journal, and how it is told. */
export interface Place {
  /** A file of SQLite, or the address of a database. */
  readonly journal: string
  readonly schema: string
  readonly json: boolean
}

type Persistence = typeof persistence

export function isPostgres(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place)
}

/** The package that knows journals; it is the project's. */
export function loadPersistence(): Promise<Persistence> {
  return sibling('journal', '@troupe/persistence', () => import('@troupe/persistence'))
}

/** Does something; what it is refused with ends the command in one line. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Exit) throw cause
    throw new Exit(exitCodes.found, clean(cause instanceof Error ? cause.message : String(cause)))
  }
}

/** Uses a journal. `make`: where there is none, one is made. */
export function using<T>({ journal: place, schema }: Place, make: boolean, work: (journal: Journal, all: Persistence) => Promise<T>): Promise<T> {
  return told(async () => {
    const all = await loadPersistence()
    const journal = await all.openJournal(all.journalAt(place, isPostgres(place) ? { schema, make } : { make }))
    try {
      return await work(journal, all)
    } finally {
      await journal.close()
    }
  })
}

/** One JSON value a line, or what a person reads. */
export function say(screen: Screen, { json }: Place, value: object, text: () => string): void {
  screen.write(json ? jsonLine(value) : `${text()}\n`)
}

/** 1 id, 2,000 ids. */
export function some(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`
}
