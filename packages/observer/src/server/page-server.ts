// Serves the page of one system, on this machine alone unless asked otherwise. Every request passes the gate first; what is refused gets
// its status, a line and a closed connection. Slow clients, long heads and long questions are cut off by limits.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { NotAllowed, TroupeError } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import type { ObservationSource } from '../source/source.ts'
import { type Asset, readAssets } from './assets.ts'
import { Desk } from './desk.ts'
import { FeedStream } from './feed-stream.ts'
import { type GateRules, longestBody, passageOf, safeHeaders } from './gate.ts'
import { Hub } from './hub.ts'
import { type CheckedPage, checkedPage, type PageOptions } from './page-options.ts'
import { BadWish, fieldsOf, viewIn } from './wishes.ts'

const feedPath = '/api/feed'
const streamsMost = 16
const connectionsMost = 128
/** Milliseconds for a head, for a whole request, and between looks at who is late. */
interface Limits {
  readonly head: number
  readonly request: number
  readonly check: number
}
const usual: Limits = { head: 5000, request: 10_000, check: 1000 }
const longestHead = 8 * 1024

/** The page of a system. */
export interface Page {
  /** To be opened in a browser. What is behind `#` is the key: whoever has it may look. */
  readonly url: string
  readonly port: number
  /** Ends all streams and frees the port. */
  close(): Promise<void>
}

/** Serves a page until it is closed, or the system has. */
export async function servePage(source: ObservationSource, options: PageOptions = {}, limits: Limits = usual): Promise<Page> {
  const checked = checkedPage(options)
  const served = new PageServer(source, checked, limits)
  await served.listen()
  void source.system.terminated.then(() => served.close())
  return served
}

class PageServer implements Page {
  readonly #source: ObservationSource
  readonly #options: CheckedPage
  readonly #limits: Limits
  readonly #assets = readAssets()
  readonly #hub: Hub
  readonly #desk: Desk
  readonly #token = randomBytes(24).toString('base64url')
  readonly #servers: Server[] = []
  readonly #streams = new Set<FeedStream>()
  /** Connections that have had an answer. */
  readonly #served = new WeakSet<object>()
  #rules: GateRules | undefined
  port = 0

  constructor(source: ObservationSource, options: CheckedPage, limits: Limits) {
    this.#source = source
    this.#options = options
    this.#limits = limits
    this.#hub = new Hub(source)
    this.#desk = new Desk(this.#hub, options)
  }

  get url(): string {
    const [host] = this.#rules!.hosts
    return `http://${host}/#${this.#token}`
  }

  /** On both loopback addresses: if another had the second, `localhost` could lead there, token and all. */
  async listen(): Promise<void> {
    const { addresses, hosts } = this.#options
    this.port = await this.#bind(addresses[0]!, this.#options.port)
    for (const address of addresses.slice(1)) await this.#bind(address, this.port).catch(unlessMissing)
    const named = new Set(hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${this.port}`)))
    this.#rules = {
      hosts: named,
      origins: new Set([...named].flatMap((host) => [`http://${host}`, `https://${host}`])),
      token: this.#token,
      files: new Set(this.#assets.keys()),
      questions: new Set([feedPath, ...Object.keys(this.#desk.answers)]),
    }
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.end('the page was closed')
    this.#hub.rest()
    await Promise.all(
      this.#servers.splice(0).map((server) => {
        const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
        server.closeAllConnections()
        return closed
      }),
    )
  }

  #bind(address: string, port: number): Promise<number> {
    const { head, request: whole, check } = this.#limits
    const server = createServer(
      {
        maxHeaderSize: longestHead,
        headersTimeout: head,
        requestTimeout: whole,
        keepAliveTimeout: head,
        connectionsCheckingInterval: check,
        insecureHTTPParser: false,
        requireHostHeader: false,
      },
      (request, response) => void this.#serve(request, response),
    )
    server.maxConnections = connectionsMost
    server.maxHeadersCount = 64
    // No other protocol is spoken here, and nobody is asked to go on with what they announce.
    server.on('upgrade', (_request, socket) => refuseSocket(socket as Socket))
    server.on('connect', (_request, socket) => refuseSocket(socket as Socket))
    for (const event of ['checkContinue', 'checkExpectation'])
      server.on(event, (_request, response: ServerResponse) => refuse(response, 417, 'nothing is expected here'))
    // A browser keeps connections ready, and one that has an answer expects no second: a word out of turn would be taken for the next answer.
    server.on('clientError', (_cause, socket) => {
      if ((socket as Socket).bytesRead === 0 || this.#served.has(socket)) socket.destroy()
      else refuseSocket(socket as Socket)
    })
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: address, port, exclusive: true }, () => {
        server.off('error', reject)
        server.unref()
        this.#servers.push(server)
        resolve((server.address() as { readonly port: number }).port)
      })
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#served.add(request.socket)
    response.on('error', () => {})
    try {
      const passage = passageOf(request, this.#rules!)
      if (passage.kind === 'refused') return refuse(response, passage.status, passage.why)
      if (passage.kind === 'file') return this.#file(request, response, this.#assets.get(passage.path)!)
      const body = await bodyOf(request)
      if (body === undefined) return refuse(response, 413, 'the question is too long')
      if (passage.path === feedPath) return await this.#feed(response, body)
      const answer = await this.#desk.answers[passage.path]!(body)
      response.writeHead(200, { ...safeHeaders, 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer ?? null))
    } catch (cause) {
      if (cause instanceof BadWish) return refuse(response, 400, cause.message)
      if (cause instanceof NotAllowed) return refuse(response, 403, cause.message)
      const { logger } = coreOf(this.#source.system)
      if (!request.destroyed || cause instanceof TroupeError) logger.error({ cause }, 'the page could not answer')
      refuse(response, 500, 'it failed; the log of the system says why')
    }
  }

  #file(request: IncomingMessage, response: ServerResponse, { type, body }: Asset): void {
    response.writeHead(200, { ...safeHeaders, 'content-type': type, 'content-length': body.length })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  async #feed(response: ServerResponse, body: string): Promise<void> {
    const view = viewIn(fieldsOf(body))
    if (this.#streams.size >= streamsMost) return refuse(response, 503, 'too many pages are open')
    const { system } = this.#source
    const core = coreOf(system)
    const stream = new FeedStream(this.#hub, response, view)
    this.#streams.add(stream)
    response.on('close', () => this.#streams.delete(stream))
    response.writeHead(200, { ...safeHeaders, 'content-type': 'application/octet-stream' })
    const clockZero = Date.now() - core.runtime.now()
    await stream.open({
      system: system.name,
      pid: process.pid,
      node: process.version,
      control: this.#options.control,
      clockZero,
    })
  }
}

/** Whole; undefined where it is too long: what is too long is not read to its end. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > longestBody) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function refuse(response: ServerResponse, status: number, why: string): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${why}\n`)
}
function refuseSocket(socket: Socket): void {
  if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  else socket.destroy()
}

/** A machine without IPv6 has no second loopback address; then nobody else has it either. */
function unlessMissing(cause: unknown): void {
  const { code } = cause as { readonly code?: string }
  if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw cause
}
