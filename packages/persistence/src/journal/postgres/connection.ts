// The way to a PostgreSQL server: one query at a time on a connection of a pool, with a deadline, and with an answer to what matters when
// it fails: whether the server may have done it all the same.

import { any, can, checkString, checkText, checkUpTo, checkWhole, isThenable, readOptions, type Table } from '@troupe/core/internal'
import type { Pool } from 'pg'
import { JournalRefused, JournalUnavailable } from '../../values/errors.ts'
import type { JournalEnvironment } from '../port.ts'

/** What is used of a connection of `pg`. */
export interface PostgresClient {
  query(query: { readonly text: string; readonly values?: unknown[]; readonly name?: string }): Promise<{ readonly rows: readonly unknown[] }>
  release(destroy?: boolean): void
  on(event: 'error' | 'notification', listener: (cause: unknown) => void): unknown
  removeListener(event: 'error' | 'notification', listener: (cause: unknown) => void): unknown
}

/** What is used of a pool of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  on?(event: 'error', listener: (cause: unknown) => void): unknown
  removeListener?(event: 'error', listener: (cause: unknown) => void): unknown
}

/** How to reach a server: what `pg` takes. The journal makes a pool of it, and ends that with itself. */
export interface PostgresConfig {
  readonly connectionString?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly database?: string | undefined
  readonly ssl?: boolean | object | undefined
  /** Connections at most; 10 unless told. */
  readonly max?: number | undefined
}

const table: Table<PostgresConfig> = {
  connectionString: checkText,
  host: checkText,
  port: [checkUpTo, 65_535],
  user: checkText,
  password: checkString,
  database: checkText,
  ssl: any,
  max: [checkWhole, 1],
}

/** A pool as it is, or a configuration whose parts are what they should be. Whoever needs more of `pg` gives a pool. */
export function checkWay(whose: string, way: PostgresPool | PostgresConfig): PostgresPool | PostgresConfig {
  return can(way, 'connect') ? way : readOptions(whose, way as PostgresConfig, table)
}

/** Where a way leads, as far as it says; never with a name or a password. */
export function placeOf(way: PostgresPool | PostgresConfig): string {
  const config = (can(way, 'connect') ? (way as { options?: PostgresConfig }).options : way) as PostgresConfig | undefined
  const { connectionString, host = 'localhost', port = 5432, database = '' } = config ?? {}
  if (connectionString === undefined) return `${host}:${port}/${database}`
  try {
    const { hostname, port: said, pathname } = new URL(connectionString)
    return `${hostname || host}:${said || port}${pathname}`
  } catch {
    return `${host}:${port}/${database}`
  }
}

/** A query that failed. */
export class QueryFailed extends Error {
  /** Whether it may have been done: the connection broke after it was sent. */
  readonly unknown: boolean
  /** PostgreSQL's own code, where it answered. */
  readonly state: string | undefined
  constructor(unknown: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.unknown = unknown
    const { code, severity } = cause as { code?: unknown; severity?: unknown }
    this.state = severity === undefined ? undefined : String(code)
  }
}

/** A query that had no answer by its deadline. */
class NoAnswer extends Error {
  constructor(ms: number) {
    super(`PostgreSQL did not answer within ${ms} ms`)
  }
}

/** The connection for code of users, whose queries have the deadline too. */
function boundedClient(client: PostgresClient, bounded: <A>(asked: Promise<A>) => Promise<A>): PostgresClient {
  const query = (...given: Parameters<PostgresClient['query']>): unknown => {
    const asked: unknown = client.query(...given)
    // A query with a callback, or a cursor, is left to its caller.
    return isThenable(asked) ? bounded(asked as Promise<unknown>) : asked
  }
  return new Proxy(client, {
    get(target, key) {
      if (key === 'query') return query
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** The longest pause, in ms, of a transaction that copies a journal: it waits for the reader or the source of the copy. */
export const longestPause = 600_000

/** A server that says one of these was about to go, or does not know itself. */
const doubtful = /^(57P0|08|58|XX)/

export async function poolOf(
  name: string,
  way: PostgresPool | PostgresConfig,
): Promise<{ readonly pool: PostgresPool; readonly end: () => Promise<void> }> {
  if ('connect' in way && typeof way.connect === 'function') return { pool: way, end: listening(way) }
  let make: typeof Pool
  try {
    make = (await import('pg')).default.Pool
  } catch (cause) {
    throw new JournalRefused(name, 'the package pg is not installed; npm install pg', cause)
  }
  const pool = new make({ connectionTimeoutMillis: 10_000, ...way })
  // A connection that breaks while nobody uses it is replaced by the pool.
  pool.on('error', () => undefined)
  return { pool: pool as unknown as PostgresPool, end: () => pool.end() }
}

/** Pools of users that journals use, and by how many. */
const used = new WeakMap<PostgresPool, number>()
const ignored = (): void => undefined

/**
 * Listens to the errors of a pool that is not ours, for as long as a journal uses it: without a listener a connection that breaks while it is idle
 * ends the process. The pool replaces it by itself. One listener serves all journals, so that Node does not take them for a leak.
 */
function listening(pool: PostgresPool): () => Promise<void> {
  if (!can(pool, 'on', 'removeListener')) return () => Promise.resolve()
  const users = used.get(pool) ?? 0
  used.set(pool, users + 1)
  if (users === 0) pool.on!('error', ignored)
  let over = false
  return () => {
    if (over) return Promise.resolve()
    over = true
    const left = used.get(pool)! - 1
    used.set(pool, left)
    if (left === 0) pool.removeListener!('error', ignored)
    return Promise.resolve()
  }
}

/** A pooler gave the statement to another connection of the server than the one that knows its name, or to one that knows another by that name. */
const isUnknownName = /^(26000|42P05)$/

export class Connections {
  readonly name: string
  /** Named statements are parsed and planned once per connection. */
  #named = true
  readonly #pool: PostgresPool
  readonly #environment: Pick<JournalEnvironment, 'after'>
  readonly #deadline: number

  constructor(name: string, pool: PostgresPool, environment: Pick<JournalEnvironment, 'after'>, deadline: number) {
    this.name = name
    this.#pool = pool
    this.#environment = environment
    this.#deadline = deadline
  }

  /** Runs one query by itself. Rejects with `QueryFailed`. */
  async query<Row>(text: string, values: unknown[] = [], name?: string): Promise<readonly Row[]> {
    const ask = (named: string | undefined): Promise<readonly Row[]> => this.use(async (run) => (await run(text, values, named)) as readonly Row[])
    if (name === undefined || !this.#named) return ask(undefined)
    try {
      return await ask(name)
    } catch (cause) {
      if (!(cause instanceof QueryFailed) || !isUnknownName.test(cause.state ?? '')) throw cause
      // It was refused before it ran. From now on without names: behind such a pooler the next one would be refused too.
      this.#named = false
      return ask(undefined)
    }
  }

  /**
   * The statement that begins a transaction. If nothing is asked in it for `idle` ms, the server ends it and frees its locks: its client may have
   * vanished behind a network that fell silent.
   */
  beginning(mode = '', idle: number = this.#deadline): string {
    return `begin ${mode}; set local idle_in_transaction_session_timeout = ${Math.min(Math.ceil(idle), 2 ** 31 - 1)}`
  }

  /** Uses one connection for several queries; one on which any failed for lack of an answer is not used again. */
  async use<T>(
    work: (run: (text: string, values?: unknown[], name?: string) => Promise<readonly unknown[]>, client: PostgresClient) => Promise<T>,
  ): Promise<T> {
    let broken = false
    const breaks = (): void => void (broken = true)
    // The answer may still come later, so the connection cannot be used again.
    const bounded = async <A>(asked: Promise<A>): Promise<A> => {
      try {
        return await this.#within(asked)
      } catch (cause) {
        if (!(cause instanceof NoAnswer)) throw cause
        broken = true
        throw new QueryFailed(true, cause)
      }
    }
    let client: PostgresClient
    try {
      client = await this.#within(this.#connect(breaks), (late) => {
        late.removeListener('error', breaks)
        late.release()
      })
    } catch (cause) {
      throw cause instanceof JournalRefused ? cause : new QueryFailed(false, cause)
    }
    try {
      return await work(
        async (text, values, name) => {
          // Such as the rollback of a transaction that is lost with its connection.
          if (broken) throw new QueryFailed(false, new Error('the connection to PostgreSQL is broken'))
          try {
            return (await bounded(client.query({ text, ...(values === undefined ? {} : { values }), ...(name === undefined ? {} : { name }) }))).rows
          } catch (cause) {
            if (cause instanceof QueryFailed) throw cause
            const failed = new QueryFailed(false, cause)
            if (failed.state !== undefined && !doubtful.test(failed.state)) throw failed
            broken = true
            throw new QueryFailed(true, cause)
          }
        },
        boundedClient(client, bounded),
      )
    } catch (cause) {
      if (!(cause instanceof QueryFailed) || cause.state === undefined) broken ||= cause instanceof QueryFailed
      throw cause
    } finally {
      client.removeListener('error', breaks)
      client.release(broken)
    }
  }

  /**
   * A connection to which `breaks` listens. A pool of `pg` is asked for it by a callback, which is called while it is handed out: one that the server
   * ends together with its greeting says so before a promise could resolve, and an error without a listener ends the process.
   */
  #connect(breaks: () => void): Promise<PostgresClient> {
    return new Promise((resolve, reject) => {
      let given: PostgresClient | undefined
      const take = (client: PostgresClient | undefined): void => {
        if (client === undefined || client === given) return
        if (!can(client, 'query', 'release', 'on', 'removeListener'))
          return reject(new JournalRefused(this.name, 'its pool gives something that is no connection; use a pool of pg'))
        given = client
        client.on('error', breaks)
        resolve(client)
      }
      const pool = this.#pool as unknown as { connect(done: (cause: unknown, client?: PostgresClient) => void): unknown }
      const promised = pool.connect((cause, client) => (client === undefined ? reject(cause) : take(client)))
      // Other pools know no callback.
      if (can(promised, 'then')) (promised as Promise<PostgresClient>).then(take, reject)
    })
  }

  /** Nothing is waited for longer than the deadline; what comes later is given to `late`. */
  #within<T>(promise: Promise<T>, late: (value: T) => void = () => undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      let over = false
      const cancel = this.#environment.after(this.#deadline, () => {
        over = true
        reject(new NoAnswer(this.#deadline))
      })
      promise.then(
        (value) => {
          if (over) return late(value)
          cancel()
          resolve(value)
        },
        (cause: unknown) => {
          if (over) return
          cancel()
          reject(cause)
        },
      )
    })
  }

  /** What a read or an opening that failed rejects with. */
  errorOf(cause: unknown): unknown {
    if (!(cause instanceof QueryFailed)) return cause
    const refused = cause.state !== undefined && /^(42|3F|0A)/.test(cause.state)
    return refused
      ? new JournalRefused(this.name, `${cause.message}; ${remedyOf(cause.state)}`, cause.cause)
      : new JournalUnavailable(this.name, `PostgreSQL cannot be used now (${cause.message})`, cause.cause)
  }
}

/** By what PostgreSQL says: somebody who may not, something that is not there, or no schema. */
function remedyOf(state: string | undefined): string {
  if (state === '42501')
    return 'this user may not do that: createPostgresSchema grants a role what reading and writing take, and a keeper what deleting and erasing take besides; connect as one of those, or as who may create'
  if (state === '42704') return 'create what is not there first, such as a role by create role'
  return 'create the schema by createPostgresSchema, and grant its role to this user'
}
