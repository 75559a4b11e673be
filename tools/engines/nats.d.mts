export interface Nats {
  readonly program: string
  readonly version: string
}

export interface NatsServer {
  readonly port: number
  readonly url: string
  readonly folder: string
  readonly pid: number
  stop(): Promise<void>
  kill(): Promise<void>
  pause(): void
  resume(): void
  start(): Promise<void>
  end(): Promise<void>
}

export function findNats(options?: { readonly fetch?: boolean }): Nats | undefined
export function startNats(found: Nats, options?: { readonly config?: string; readonly tls?: boolean }): Promise<NatsServer>
