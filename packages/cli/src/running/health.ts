// What a supervisor of processes asks over HTTP: /livez, whether the process should go on or be restarted, and /readyz, whether it should be given work.
// Nothing else is served.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Exit, exitCodes } from '../exit.ts'

/** Where to listen. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** `8080`, `:8080`, `127.0.0.1:8080` or `[::1]:8080`; this machine alone where no host is said. Undefined where it is none of these. */
export function addressIn(text: string): Address | undefined {
  const [, host, port] = /^(?:(\[[\da-f:.]+\]|[\w.-]+)?:)?(\d{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) return undefined
  return { host: (host ?? '127.0.0.1').replaceAll(/[[\]]/g, ''), port: Number(port) }
}

/** The health of a process; each answer is undefined if all is well. */
export interface Health {
  /** Why it should be restarted. */
  whyNotAlive(): string | undefined
  /** Why it should not be given work. */
  whyNotReady(): string | undefined
}

/** Serves both until the process ends: while the system stops, too, because that is when it is asked most. */
export async function serveHealth({ host, port }: Address, health: Health): Promise<{ readonly url: string; close(): void }> {
  const server: Server = createServer({ requestTimeout: 5000, headersTimeout: 5000, maxHeaderSize: 8192 }, (request, response) => {
    const path = request.url?.split('?', 1)[0]
    const say = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' })
      response.end(request.method === 'HEAD' ? undefined : `${text}\n`)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return say(405, 'GET or HEAD')
    if (path !== '/livez' && path !== '/readyz') return say(404, 'there are /livez and /readyz')
    const why = path === '/livez' ? health.whyNotAlive() : health.whyNotReady()
    say(why === undefined ? 200 : 503, why ?? 'ok')
  })
  server.maxConnections = 64
  server.unref()
  await new Promise<void>((done, fail) => {
    server.once('error', (cause) => fail(new Exit(exitCodes.usage, `Cannot serve health at ${host}:${port}: ${cause.message}.`)))
    server.listen(port, host, done)
  })
  const { address, port: taken, family } = server.address() as AddressInfo
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`, close: () => void server.close() }
}
