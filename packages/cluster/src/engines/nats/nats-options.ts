// What `nats()` is given, and what of it is refused before anything is sent.

import { InvalidOption } from '@troupe/core'
import { checkBoolean, checkFinite, checkList, checkPart, checkString, checkText, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import { EngineRefused } from '../../values/errors.ts'

/** Files or texts in PEM form; all may be left out where the server's certificate is signed by somebody whom the host trusts. */
export interface NatsTls {
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The handshake comes before the server's first word. */
  readonly handshakeFirst?: boolean | undefined
}

/** Who a node is to its NATS server; one of the ways that the server takes. */
export interface NatsCredentials {
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly token?: string | undefined
  /** The text of a `.creds` file. */
  readonly creds?: string | undefined
}

/** Where the NATS servers are, and how they are spoken to. */
export interface NatsOptions {
  /** `nats://host:port` or `tls://host:port`; `nats://127.0.0.1:4222` if left out. */
  readonly servers?: string | readonly string[] | undefined
  /** How the connection is encrypted. Needed for a server on another machine, unless `insecure` is true; none if left out. */
  readonly tls?: NatsTls | undefined
  /** Who this node is to the server; nobody in particular if left out. */
  readonly credentials?: NatsCredentials | undefined
  /** Lets everything be read and changed by whoever is on the way; for a network that is protected otherwise. */
  readonly insecure?: boolean | undefined
  /** On how many servers the registry is kept, where this node is the first to make it; 1 if left out. */
  readonly replicas?: number | undefined
  /** How long an operation of the registry waits for its answer; 2,000 ms if left out. */
  readonly timeout?: number | undefined
}

const tlsTable: Table<NatsTls> = {
  caFile: checkText,
  certFile: checkText,
  keyFile: checkText,
  ca: checkText,
  cert: checkText,
  key: checkText,
  handshakeFirst: checkBoolean,
}

const credentialsTable: Table<NatsCredentials> = { user: checkText, password: checkString, token: checkText, creds: checkText }

const table: Table<NatsOptions> = {
  servers: checkServers,
  tls: [checkPart, tlsTable],
  credentials: [checkPart, credentialsTable],
  insecure: checkBoolean,
  replicas: [checkWhole, 1],
  timeout: [checkFinite, 'above'],
}

export interface NatsSettings extends NatsOptions {
  readonly servers: readonly string[]
  readonly timeout: number
  readonly replicas: number
}

/** The options as they are used; refuses what would send secrets in the clear. */
export function natsSettings(options: NatsOptions): NatsSettings {
  const read = readOptions('nats', options, table)
  const servers = read.servers === undefined ? ['nats://127.0.0.1:4222'] : [read.servers].flat()
  const byScheme = servers.some((server) => server.startsWith('tls://'))
  const tls = read.tls ?? (byScheme ? {} : undefined)
  const far = tls === undefined && read.insecure !== true ? servers.find((server) => !isLoopback(hostOf(server))) : undefined
  if (far !== undefined)
    throw new EngineRefused(
      'nats',
      'insecure',
      `Cannot use the NATS server ${far} without TLS: whoever is on the way could read and change everything. ` +
        'Give nats() the option tls, or, on a network that is protected otherwise, insecure: true.',
    )
  const { tls: _tls, ...rest } = read
  return { ...rest, ...(tls === undefined ? {} : { tls }), servers, timeout: read.timeout ?? 2_000, replicas: read.replicas ?? 1 }
}

function checkServers(option: string, value: unknown): unknown {
  const rule = 'addresses such as nats://127.0.0.1:4222 or tls://nats.example.org:4222'
  const list = typeof value === 'string' ? [value] : checkList<string>(option, value, (one) => typeof one === 'string', rule)
  for (const server of list)
    if (!/^(?:(?:nats|tls):\/\/)?(?:\[[\da-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?$/.test(server)) throw new InvalidOption(option, server, `use ${rule}`)
  if (list.length === 0) throw new InvalidOption(option, value, `use at least one of ${rule}`)
  return list
}

function hostOf(server: string): string {
  const rest = server.replace(/^\w+:\/\//, '')
  return rest.startsWith('[') ? rest.slice(1, rest.indexOf(']')) : rest.replace(/:\d+$/, '')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
