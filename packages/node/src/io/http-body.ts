// The body of one request: whole, within a bound, or in parts for whoever reads it, with credits and exactly one last
// word, that it is complete or that it broke off. What nobody reads any more is thrown away: behind it, the same
// connection brings the next request.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ActorContext, ActorRef, AnyRef } from '@troupe/core'
import { Credited } from './credit.ts'
import { Feed } from './feed.ts'
import { later } from './later.ts'

/** The body of a request, in parts; the last is `body-ended` or `body-aborted`. */
export type BodyEvent =
  | { readonly type: 'body-chunk'; readonly chunk: Buffer }
  | { readonly type: 'body-ended' }
  /** The rest will not come: the client left (`ECONNRESET`), or the exchange ended first (`exchange-ended`). */
  | { readonly type: 'body-aborted'; readonly code: string }

class BodyChunk extends Credited {
  readonly type = 'body-chunk'
  readonly chunk: Buffer
  constructor(chunk: Buffer) {
    super()
    this.chunk = chunk
  }
}

class BodyEnded extends Credited {
  readonly type = 'body-ended'
}

class BodyAborted extends Credited {
  readonly type = 'body-aborted'
  readonly code: string
  constructor(code: string) {
    super()
    this.code = code
  }
}

const ended = 'exchange-ended'

export class Body {
  readonly #request: IncomingMessage
  readonly #self: AnyRef
  readonly #gone: () => void
  readonly #over: () => void
  #feed: Feed<BodyChunk | BodyEnded | BodyAborted> | undefined = undefined
  #phase: 'unread' | 'reading' | 'over' = 'unread'
  /** Counts the parts that came, for deadlines. */
  parts = 0
  /** `gone` is called where the reader is, `over` once the last word was told. */
  constructor(request: IncomingMessage, self: AnyRef, gone: () => void, over: () => void) {
    this.#request = request
    this.#self = self
    this.#gone = gone
    this.#over = over
  }
  get reading(): boolean {
    return this.#phase === 'reading'
  }
  /** Begins to tell the body to `to`; false where someone reads it already. */
  read(to: ActorRef<BodyEvent>, credits: number): boolean {
    if (this.#phase !== 'unread') return false
    this.#phase = 'reading'
    const request = this.#request
    // Whoever answers before reading has let it be thrown away.
    const lost = request.destroyed || request.readableEnded
    const message = (chunk: Buffer): readonly BodyChunk[] => {
      this.parts++
      return [new BodyChunk(chunk)]
    }
    this.#feed = new Feed<BodyChunk | BodyEnded | BodyAborted>(request, to, this.#self, credits, message, this.#gone)
    if (lost) {
      this.#last(new BodyAborted(ended))
      return true
    }
    let code = 'ECONNRESET'
    request.on('end', () => this.#last(new BodyEnded()))
    request.on('error', (cause: NodeJS.ErrnoException) => (code = cause.code ?? code))
    request.on('close', () => this.#last(new BodyAborted(code)))
    return true
  }
  /** The exchange ends: a reader hears so, and the rest is thrown away. */
  end(): void {
    if (this.reading) this.#last(new BodyAborted(ended))
    this.#phase = 'over'
    if (!this.#request.destroyed) this.#request.resume()
  }
  #last(event: BodyEnded | BodyAborted): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#feed?.finish(event)
    this.#over()
  }
}

const none: Buffer = Buffer.alloc(0)

/** Gathers a body; undefined as soon as it is too large, nothing if the client goes away. */
export function collect(request: IncomingMessage, maxBody: number, done: (whole: Buffer | undefined) => void): void {
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > maxBody) return done(undefined)
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= maxBody) return void chunks.push(chunk)
    request.removeListener('data', take)
    request.removeListener('end', end)
    done(undefined)
  }
  const end = (): void => done(chunks.length === 0 ? none : Buffer.concat(chunks))
  request.on('data', take)
  request.on('end', end)
  request.on('error', () => {})
}

/** Milliseconds of the system's clock that a client may go on sending what was refused. */
const patience = 1000

/**
 * Answers 413, and closes once the client has sent it all, or had the time to notice: closed at once, the bytes that it still
 * sends would be answered with a reset, which throws away the answer that it has not read.
 */
export function refuseBody(ctx: ActorContext<never>, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(413, { connection: 'close', 'content-length': 0 }).flushHeaders()
  const close = (): void => {
    cancel()
    response.end()
  }
  const cancel = later(ctx, patience, close)
  request.once('end', close)
  response.once('close', close)
  request.resume()
}
