// Reads a SQLite journal from end to end in one transaction, and reports what is wrong: pages by `integrity_check`, rows by their checksums,
// gaps and repeats, and tables that contradict each other. Used by the worker: nothing here needs core. Memory does not grow with the journal.

import { resultCode, type SqliteConnection, type SqliteRow, sqliteResult, type SqliteStatement } from '@troupe/sqlite'
import { readRun } from '../postgres/run-text.ts'
import { fromText } from '../postgres/text.ts'
import type { FoundDamage, VerifiedRows } from './sqlite-protocol.ts'
import { eventsInRow } from './sqlite-packs.ts'
import { checked, DamagedRow, type TableName } from './sqlite-rows.ts'
import { tagsIn } from './sqlite-writes.ts'

/** How many damages are listed. */
const listed = 1000

export function verifyRows(connection: SqliteConnection, path: string): VerifiedRows {
  const verification = new Verification(connection, path)
  verification.pages()
  verification.part('heads', () => verification.heads())
  verification.part('runs', () => verification.runsWithoutHead())
  verification.part('packs', () => verification.packs())
  verification.part('run_tags', () => verification.tags())
  for (const table of ['states', 'snapshots', 'timers', 'epochs', 'offsets', 'meta', 'journal_state'] as const)
    verification.part(table, () => verification.rows(table))
  verification.part('heads', () => verification.withoutHead())
  verification.part('journal_state', () => verification.totals())
  return verification.result()
}

class Verification {
  readonly #connection: SqliteConnection
  readonly #path: string
  readonly #damages: FoundDamage[] = []
  #tag: SqliteStatement | undefined
  readonly #found = { ids: 0, events: 0, snapshots: 0, timers: 0, epochs: 0, offsets: 0, tags: 0 }

  constructor(connection: SqliteConnection, path: string) {
    this.#connection = connection
    this.#path = path
  }
  result(): VerifiedRows {
    const { ids, events, snapshots } = this.#found
    return { ids, events, snapshots, damages: this.#damages }
  }
  #report(table: string, record: string, problem: string, id?: string, seq?: number): void {
    if (this.#damages.length < listed)
      this.#damages.push({ where: `${this.#path}, ${table} of ${record}`, id: typeof id === 'string' ? fromText(id) : undefined, seq, problem })
  }
  #all(sql: string): IterableIterator<SqliteRow> {
    return this.#connection.prepare(sql).iterate()
  }

  /** Checks a part; a page that cannot be read ends that part only. */
  part(table: string, check: () => void): void {
    try {
      check()
    } catch (cause) {
      if (cause instanceof DamagedRow) this.#report(cause.table, cause.record, cause.message)
      else if (sqliteResult(cause) === undefined) throw cause
      else this.#report(table, 'some id', `SQLite says: ${(cause as Error).message}`)
    }
  }

  pages(): void {
    try {
      for (const row of this.#connection.prepare(`pragma integrity_check(${listed})`).all()) {
        const text = String(Object.values(row)[0])
        if (text !== 'ok' && this.#damages.length < listed) this.#damages.push({ where: this.#path, id: undefined, seq: undefined, problem: text })
      }
    } catch (cause) {
      const code = sqliteResult(cause)
      if (code === undefined || ((code & 0xff) !== resultCode.corrupt && (code & 0xff) !== resultCode.notADatabase)) throw cause
      this.#damages.push({ where: this.#path, id: undefined, seq: undefined, problem: `SQLite says: ${(cause as Error).message}` })
    }
  }

  /** Whether a row is what was written. */
  #isWhole(table: TableName, row: SqliteRow, record: string, id?: string, seq?: number): boolean {
    try {
      checked(table, row, () => record)
      return true
    } catch (cause) {
      this.#report(table, record, (cause as Error).message, id, seq)
      return false
    }
  }

  /** Every id with its runs, in order: no gap, no repeat, and up to where the head says. */
  heads(): void {
    const runs = this.#connection.prepare('select * from runs where id = ? order by first')
    for (const head of this.#all('select h.*, (select revision from states s where s.id = h.id) as stored from heads h order by id')) {
      this.#found.ids++
      const id = head['id'] as string
      if (!this.#isWhole('heads', head, id, id)) continue
      const [seq, deleted, revision] = [head['seq'], head['deleted'], head['revision']] as [number, number, number]
      if ((head['stored'] ?? 0) !== revision)
        this.#report('states', id, `its revision is ${String(head['stored'] ?? 'missing')}, and its head says ${revision}`, id)
      let next = deleted + 1
      for (const run of runs.iterate(id)) next = this.#run(run, id, next, seq, deleted)
      if (next <= seq) this.#report('runs', `${id}#${next}`, `events ${next} to ${seq} are missing`, id, next)
    }
  }
  /** One run, where `next` is expected; returns what is expected after it. */
  #run(run: SqliteRow, id: string, next: number, seq: number, deleted: number): number {
    const [first, last] = [run['first'], run['last']] as [number, number]
    const name = `${id}#${first}`
    if (first > next) this.#report('runs', `${id}#${next}`, `events ${next} to ${first - 1} are missing`, id, next)
    else if (first < next && first > deleted) this.#report('runs', name, `event ${first} is there twice`, id, first)
    if (last > seq) this.#report('runs', name, `it goes on to ${last}, and the head says ${seq}`, id, first)
    this.#found.events += Math.max(0, last - Math.max(first, deleted + 1) + 1)
    if (this.#isWhole('runs', run, name, id, first)) this.#content(run, name, id, first, last)
    return Math.max(next, last + 1)
  }
  #content(run: SqliteRow, name: string, id: string, first: number, last: number): void {
    try {
      readRun(run['head'] as string, run['data'] as string, last - first + 1)
    } catch (cause) {
      return this.#report('runs', name, (cause as Error).message, id, first)
    }
    this.#tag ??= this.#connection.prepare('select 1 from run_tags where tag = ? and position = ?')
    for (const one of tagsIn(run['head'] as string)) {
      this.#found.tags++
      if (this.#tag.get(one, run['position']!) === undefined) this.#report('run_tags', name, `the tag ${JSON.stringify(one)} is missing`, id, first)
    }
  }

  runsWithoutHead(): void {
    for (const run of this.#all('select id, first from runs r where not exists (select 1 from heads h where h.id = r.id)'))
      this.#report('runs', `${String(run['id'])}#${String(run['first'])}`, 'there is no head for it', run['id'] as string, run['first'] as number)
  }
  /** Copies of what `runs` has, of which nothing is read that is not whole. */
  packs(): void {
    for (const pack of this.#all('select p.*, (select seq from heads h where h.id = p.id) as seq from packs p')) {
      const [id, first, last] = [pack['id'], pack['first'], pack['last']] as [string, number, number]
      const name = `${id}#${first}`
      if (!this.#isWhole('packs', pack, name, id, first)) continue
      if (eventsInRow(id, pack) === undefined) this.#report('packs', name, 'it cannot be read', id, first)
      if (last > ((pack['seq'] ?? 0) as number))
        this.#report('packs', name, `it goes on to ${last}, and the head says ${String(pack['seq'])}`, id, first)
    }
  }
  tags(): void {
    const count = this.#connection.prepare('select count(*) as n from run_tags').get()!['n'] as number
    // The tags of runs that cannot be read are not known.
    if (count > this.#found.tags && this.#damages.length === 0)
      this.#report('run_tags', 'some tag', `there are ${count} rows, and runs have ${this.#found.tags} tags`)
  }
  rows(table: TableName): void {
    for (const row of this.#all(`select * from ${table}`)) {
      const id = (row['id'] ?? undefined) as string | undefined
      const name = String(row['id'] ?? row['scope'] ?? row['projection'] ?? row['key'] ?? 'the journal')
      if (table === 'snapshots' || table === 'timers' || table === 'epochs' || table === 'offsets') this.#found[table]++
      this.#isWhole(table, row, table === 'snapshots' ? `${name}#${String(row['seq'])}` : name, id)
    }
  }
  withoutHead(): void {
    for (const table of ['states', 'snapshots'])
      for (const row of this.#all(`select id from ${table} t where not exists (select 1 from heads h where h.id = t.id)`))
        this.#report(table, String(row['id']), 'there is no head for it', row['id'] as string)
  }
  totals(): void {
    const row = this.#connection.prepare('select * from journal_state where one = 1').get()
    if (row === undefined) return this.#report('journal_state', 'the journal', 'its row is missing')
    for (const name of ['ids', 'events', 'snapshots', 'timers', 'epochs', 'offsets'] as const)
      if (row[name] !== this.#found[name] && this.#damages.length === 0)
        this.#report('journal_state', 'the journal', `it says ${String(row[name])} ${name}, and there are ${this.#found[name]}`)
    const top = this.#connection.prepare('select max(position) as top from runs').get()!['top'] as number | null
    if ((top ?? 0) > (row['position'] as number))
      this.#report('journal_state', 'the journal', `it says position ${String(row['position'])}, and there is ${top}`)
  }
}
