// A server for pages of this machine alone: files, questions and streams behind the gate. Every request passes it first; what is refused gets
// its status, a line and a closed connection. Slow clients, long heads and long questions are cut off by limits. What is asked, and what is
// answered, is up to whoever serves.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { InvalidOption, NotAllowed } from '@troupe/core'
import { type GateRules, longestBody, passageOf, safeHeaders } from './gate.ts'
import { BadWish } from './wishes.ts'

const connectionsMost = 128
const longestHead = 8 * 1024

/** Milliseconds for a head, for a whole request, and between looks at who is late. */
export interface Limits {
  readonly head: number
  readonly request: number
  readonly check: number
}
const usual: Limits = { head: 5000, request: 10_000, check: 1000 }

/** A file that is served as it is. */
export interface GuardedFile {
  /** Its `Content-Type`. */
  readonly type: string
  readonly body: Uint8Array
}

/** What is sent to one client until either ends it. */
export interface GuardedStream {
  /** Bytes that have been written and not left yet: whoever writes to a slow client looks here. */
  readonly waiting: number
  /** Resolves once it is over, whoever ended it. */
  readonly closed: Promise<void>
  write(bytes: Uint8Array): void
  /** Ends it once what was written has left. */
  end(): void
  /** Ends it at once. */
  drop(): void
}

/** What is served, all of it by its exact path. */
export interface Served {
  readonly files: ReadonlyMap<string, GuardedFile>
  readonly questions: ReadonlyMap<string, (body: string) => unknown>
  /** Each is given the stream; what it throws before it has written refuses the request. */
  readonly streams: ReadonlyMap<string, (body: string, open: () => GuardedStream) => unknown>
  /** Told what failed besides refusals. */
  readonly failed: (cause: unknown) => void
}

export interface Place {
  readonly port: number
  readonly addresses: readonly string[]
  readonly hosts: readonly string[]
  readonly token?: string | undefined
}

export class GuardedServer {
  readonly token: string
  readonly #place: Place
  readonly #served: Served
  readonly #limits: Limits
  readonly #servers: Server[] = []
  /** Connections that have had an answer. */
  readonly #answered = new WeakSet<object>()
  #rules: GateRules | undefined
  port = 0

  constructor(place: Place, served: Served, limits: Limits = usual) {
    this.token = place.token ?? randomBytes(24).toString('base64url')
    this.#place = place
    this.#served = served
    this.#limits = limits
  }

  get url(): string {
    const [host] = this.#rules!.hosts
    return `http://${host}/#${this.token}`
  }

  /** Binds both loopback addresses: if another program had the second, `localhost` could lead there, token and all. Without both, neither. */
  async listen(): Promise<void> {
    const { port } = this.#place
    for (let tries = port === 0 ? 8 : 1; ; tries--) {
      try {
        return await this.#bindAll(port)
      } catch (cause) {
        await this.close()
        // A port that the system chose for the first address may be taken on the second.
        if (tries === 1 || (cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
      }
    }
  }

  async #bindAll(port: number): Promise<void> {
    const { addresses, hosts } = this.#place
    this.port = await this.#bind(addresses[0]!, port)
    // Before the others are bound: requests come from now on.
    const named = new Set(hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${this.port}`)))
    this.#rules = {
      hosts: named,
      origins: new Set([...named].flatMap((host) => [`http://${host}`, `https://${host}`])),
      token: this.token,
      files: new Set(this.#served.files.keys()),
      questions: new Set([...this.#served.questions.keys(), ...this.#served.streams.keys()]),
    }
    for (const address of addresses.slice(1)) await this.#bind(address, this.port).catch(unlessMissing)
  }

  async close(): Promise<void> {
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
      if ((socket as Socket).bytesRead === 0 || this.#answered.has(socket)) socket.destroy()
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
    this.#answered.add(request.socket)
    response.on('error', () => {})
    try {
      const passage = passageOf(request, this.#rules!)
      if (passage.kind === 'refused') return refuse(response, passage.status, passage.why)
      if (passage.kind === 'file') return sendFile(request, response, this.#served.files.get(passage.path)!)
      const body = await bodyOf(request)
      if (body === undefined) return refuse(response, 413, 'the question is too long')
      const stream = this.#served.streams.get(passage.path)
      if (stream !== undefined) return void (await stream(body, () => opened(response)))
      const answer = await this.#served.questions.get(passage.path)!(body)
      response.writeHead(200, { ...safeHeaders, 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer ?? null))
    } catch (cause) {
      if (cause instanceof Busy) return refuse(response, 503, cause.message)
      if (cause instanceof BadWish || cause instanceof InvalidOption) return refuse(response, 400, cause.message)
      if (cause instanceof NotAllowed) return refuse(response, 403, cause.message)
      if (!request.destroyed) this.#served.failed(cause)
      refuse(response, 500, 'it failed; the log of the system says why')
    }
  }
}

/** More streams are asked for than are served. */
export class Busy extends Error {}

function opened(response: ServerResponse): GuardedStream {
  const closed = new Promise<void>((resolve) => void response.on('close', () => resolve()))
  response.writeHead(200, { ...safeHeaders, 'content-type': 'application/octet-stream' })
  return {
    closed,
    get waiting() {
      return response.writableLength
    },
    write: (bytes) => void (response.writable && response.write(bytes)),
    end: () => void response.end(),
    drop: () => void response.destroy(),
  }
}

function sendFile(request: IncomingMessage, response: ServerResponse, { type, body }: GuardedFile): void {
  response.writeHead(200, { ...safeHeaders, 'content-type': type, 'content-length': body.length })
  response.end(request.method === 'HEAD' ? undefined : body)
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
