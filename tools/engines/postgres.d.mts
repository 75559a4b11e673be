export interface Postgres {
  readonly bin: string
  readonly version: string
}

export interface PostgresServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  readonly url: string
  stop(): Promise<void>
  crash(): Promise<void>
  start(): Promise<void>
  end(): Promise<void>
}

export function findPostgres(options?: { readonly fetch?: boolean }): Postgres | undefined
export function startPostgres(found: Postgres): Promise<PostgresServer>
