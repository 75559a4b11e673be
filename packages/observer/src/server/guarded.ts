// The gate of the observer's page as a door for pages of your own: the same rules, whatever is served behind them.

import { InvalidOption } from '@troupe/core'
import { checkFunction, checkObject, readOptions, type Table } from '@troupe/core/internal'
import { type GuardedFile, GuardedServer, type GuardedStream } from './guarded-server.ts'
import type { Page } from './page-server.ts'

/** What `serveGuarded` serves, each by its exact path, which begins with `/`. */
export interface GuardedOptions {
  /** Files, for everybody: they should be the same for all. */
  readonly files: Readonly<Record<string, GuardedFile>>
  /** Questions, for whoever has the token: given the body, JSON of at most 16 KB, as text; what they return is sent as JSON. */
  readonly questions?: Readonly<Record<string, (body: string) => unknown>> | undefined
  /** Streams of bytes, for whoever has the token. */
  readonly streams?: Readonly<Record<string, (stream: GuardedStream, body: string) => void>> | undefined
  /** The port; one that is free unless it is given. */
  readonly port?: number | undefined
  /** The token, of at least 32 characters, for a server that takes the place of another; a new one unless it is given. */
  readonly token?: string | undefined
  /** Told what a question failed with, unless that refuses it. Nobody, if left out. */
  readonly failed?: ((cause: unknown) => void) | undefined
}

type Handlers<F> = Readonly<Record<string, F>>

/** A copy of what is served by path. */
function checkPaths(option: string, value: unknown, check: (name: string, one: unknown) => unknown): Handlers<unknown> {
  checkObject(option, value)
  const checked: Record<string, unknown> = {}
  for (const [path, one] of Object.entries(value as object)) {
    if (!/^\/[\w./-]*$/.test(path)) throw new InvalidOption(`${option}.${path}`, one, 'name it by a path such as "/page.js"')
    checked[path] = check(`${option}.${path}`, one)
  }
  return checked
}
function checkFile(option: string, value: unknown): unknown {
  checkObject(option, value)
  const { type, body } = value as Partial<GuardedFile>
  if (typeof type === 'string' && body instanceof Uint8Array) return { type, body }
  throw new InvalidOption(option, value, 'use { type, body }: a content type, and bytes')
}

const table: Table<GuardedOptions> = {
  files: [(option, value) => checkPaths(option, value, checkFile), undefined, true],
  questions: (option, value) => checkPaths(option, value, checkFunction),
  streams: (option, value) => checkPaths(option, value, checkFunction),
  port: (option, value) => {
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535) return value
    throw new InvalidOption(option, value, 'use a port from 0 to 65535')
  },
  token: (option, value) => {
    if (typeof value === 'string' && /^[\w-]{32,200}$/.test(value)) return value
    throw new InvalidOption(option, '…', 'use 32 to 200 letters, digits, - and _')
  },
  failed: checkFunction,
}

/**
 * Serves files, questions and streams on this machine alone, behind the gate of the observer's page.
 *
 * Guarantees: listens on loopback addresses; requests by another `Host` than `localhost` with its port are refused; questions and streams are POSTs of
 * `application/json` with our `Origin` and the token in the header `x-troupe-token`; every answer forbids scripts of others, frames and caches; slow and
 * long requests are cut off. It does not keep the process alive. A question that throws `InvalidOption` is answered with 400, one that throws `NotAllowed` with 403, both with the
 * message; anything else with 500, and `failed` is told. Fails: with `InvalidOption` on a wrong option, with the host's error where the port is taken.
 *
 * @example
 * const page = await serveGuarded({
 *   files: { '/': { type: 'text/html', body: Buffer.from('<h1>Airlift</h1>') } },
 *   questions: { '/api/crash': (body) => airlift.crash(JSON.parse(body).drone) },
 * })
 * console.log(page.url)
 */
export async function serveGuarded(options: GuardedOptions): Promise<Page> {
  const { files, questions = {}, streams = {}, port = 0, token, failed = () => {} } = readOptions('serveGuarded', options, table)
  const server = new GuardedServer(
    { port, token, addresses: ['127.0.0.1', '::1'], hosts: ['localhost'] },
    {
      files: new Map(Object.entries(files)),
      questions: new Map(Object.entries(questions)),
      streams: new Map(Object.entries(streams).map(([path, begin]) => [path, (body: string, open: () => GuardedStream) => begin(open(), body)])),
      failed,
    },
  )
  await server.listen()
  return server
}
