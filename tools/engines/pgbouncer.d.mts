import type { PostgresServer } from './postgres.mjs'

export interface Pgbouncer {
  readonly program: string
  readonly version: string
}

export interface PgbouncerServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  end(): Promise<void>
}

export function findPgbouncer(): Pgbouncer | undefined
export function startPgbouncer(found: Pgbouncer, server: PostgresServer, options?: { readonly connections?: number }): Promise<PgbouncerServer>
