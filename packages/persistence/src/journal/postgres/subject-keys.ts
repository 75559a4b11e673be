// The keys of subjects in a PostgreSQL journal. Those that are looked for, or given, while a query is under way are one query after it, so that many new
// subjects cost few round trips and few flushes.

import type { Keyless, SubjectKey } from '../port.ts'
import { fromText, toText } from './text.ts'

/** How many subjects one query has. */
const atOnce = 5000

type Query = <Row>(text: string, ...values: readonly unknown[]) => Promise<readonly Row[]>

export class SubjectKeys {
  readonly #query: Query
  readonly #table: string
  readonly #found: Together<string, SubjectKey>
  readonly #given: Together<readonly [subject: string, key: Uint8Array], SubjectKey>

  constructor(query: Query, schema: string) {
    this.#query = query
    this.#table = `${schema}.keys`
    this.#found = new Together((subjects) => this.#findAll(subjects))
    this.#given = new Together((all) => this.#addAll(all))
  }

  find(subject: string): Promise<SubjectKey> {
    return this.#found.add(toText(subject))
  }
  add(subject: string, key: Uint8Array): Promise<SubjectKey> {
    return this.#given.add([toText(subject), key])
  }
  async erase(subject: string): Promise<void> {
    await this.#query(`insert into ${this.#table} values ($1, null) on conflict (subject) do update set key = null`, toText(subject))
  }
  async keyless(subjects: readonly string[]): Promise<readonly Keyless[]> {
    const rows = await this.#query<{ subject: string; erased: boolean }>(
      `select s.subject, k.subject is not null as erased from unnest($1::text[]) as s(subject) left join ${this.#table} k on k.subject = s.subject where k.key is null`,
      subjects.map((subject) => toText(subject)),
    )
    return rows.map(({ subject, erased }) => ({ subject: fromText(subject), is: erased ? 'erased' : 'none' }))
  }

  async #findAll(subjects: readonly string[]): Promise<readonly SubjectKey[]> {
    const rows = await this.#query<{ subject: string; key: Buffer | null }>(`select subject, key from ${this.#table} where subject = any($1)`, [
      ...new Set(subjects),
    ])
    const bySubject = new Map(rows.map(({ subject, key }) => [subject, key]))
    return subjects.map((subject) => {
      const key = bySubject.get(subject)
      return key === undefined ? { is: 'none' } : key === null ? { is: 'erased' } : { is: 'key', key: new Uint8Array(key) }
    })
  }
  async #addAll(all: readonly (readonly [subject: string, key: Uint8Array])[]): Promise<readonly SubjectKey[]> {
    // In one order: two processes that give the same subjects keys would wait for each other.
    await this.#query(
      `insert into ${this.#table} select g.subject, decode(g.key, 'hex') from unnest($1::text[], $2::text[]) with ordinality as g(subject, key, n) order by g.subject, g.n on conflict do nothing`,
      all.map(([subject]) => subject),
      all.map(([, key]) => Buffer.from(key).toString('hex')),
    )
    return this.#findAll(all.map(([subject]) => subject))
  }
}

/** Does something for all that have come while it was done for others. */
class Together<T, R> {
  readonly #work: (all: readonly T[]) => Promise<readonly R[]>
  #waiting: { readonly one: T; readonly resolve: (result: R) => void; readonly reject: (cause: unknown) => void }[] = []
  #isWorking = false
  /** How many of those that wait are tried each by itself. */
  #alone = 0

  constructor(work: (all: readonly T[]) => Promise<readonly R[]>) {
    this.#work = work
  }
  add(one: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ one, resolve, reject })
      if (!this.#isWorking) void this.#workOff()
    })
  }
  async #workOff(): Promise<void> {
    this.#isWorking = true
    // Those that come in the same turn, too.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, this.#alone > 0 ? 1 : atOnce)
      if (this.#alone > 0) this.#alone--
      try {
        const results = await this.#work(some.map(({ one }) => one))
        for (const [i, { resolve }] of some.entries()) resolve(results[i]!)
      } catch (cause) {
        // One that the server cannot take, such as a subject that is too long, must not fail the others: each is tried alone.
        if (some.length > 1 && isUnfit(cause)) {
          this.#waiting.unshift(...some)
          this.#alone = some.length
        } else for (const { reject } of some) reject(cause)
      }
    }
    this.#isWorking = false
  }
}

/** What PostgreSQL would say of it at any time: data that it cannot keep, or too much of it. */
function isUnfit(cause: unknown): boolean {
  const said = (cause as { readonly cause?: { readonly code?: unknown } }).cause?.code
  return typeof said === 'string' && /^(22|54)/.test(said)
}
