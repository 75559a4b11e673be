// One request and its answer, as an actor: whole, or head, chunks and end; the body of the request on demand.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type ActorRef, type Behavior, same, unhandled } from 'troupe'
import { Credited } from './credit.ts'
import { Feed } from './feed.ts'
import { later } from './later.ts'
import type { Bytes, Flushed } from './protocol.ts'
import { resource } from './resource.ts'

/** What an exchange understands. */
export type ExchangeCommand =
  /** The whole answer. */
  | { readonly type: 'respond'; readonly status: number; readonly headers?: OutgoingHttpHeaders | undefined; readonly body?: Bytes | undefined }
  /** The beginning of an answer whose parts follow. */
  | { readonly type: 'head'; readonly status: number; readonly headers?: OutgoingHttpHeaders | undefined }
  | { readonly type: 'write'; readonly data: Bytes }
  | { readonly type: 'end'; readonly data?: Bytes | undefined }
  /** Answered when all that was written has left this process. */
  | { readonly type: 'flush'; readonly replyTo: ActorRef<Flushed> }
  /** Tells the body of the request to someone, with credits; for `body: 'stream'`. */
  | { readonly type: 'read'; readonly to: ActorRef<BodyEvent>; readonly credits?: number | undefined }

/** The body of a request, in parts. A body that breaks off has no `body-ended`: watch the exchange. */
export type BodyEvent = { readonly type: 'body-chunk'; readonly chunk: Buffer } | { readonly type: 'body-ended' }

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

export function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  options: { readonly responseTimeout?: number | undefined; readonly maxBuffered?: number | undefined },
): Behavior<ExchangeCommand> {
  const { responseTimeout = 30_000, maxBuffered = 16 * 1024 * 1024 } = options
  return resource<ExchangeCommand, never>(undefined, ({ self }, ctx) => {
    let overdue = false
    const cancel = later(ctx, responseTimeout, () => {
      overdue = true
      self.stop()
    })
    let feed: Feed<BodyChunk | BodyEnded> | undefined
    response.on('close', () => self.stop({ after: 'queued' }))
    // Parts that have not left yet, and who waits for that.
    let unsent = 0
    let flushes: ActorRef<Flushed>[] = []
    const sent = (error?: Error | null): void => {
      if (--unsent > 0 || error) return
      for (const ref of flushes) ref.tell({ type: 'flushed' })
      flushes = []
    }
    const write = (data: Bytes): void => {
      if (response.writableLength >= maxBuffered) return void response.destroy()
      if (!response.writable || data.length === 0) return
      unsent++
      response.write(data, sent)
    }
    return {
      onCommand: (m) => {
        switch (m.type) {
          case 'respond':
            cancel()
            if (response.headersSent) return same
            response.writeHead(m.status, m.headers)
            response.end(request.method === 'HEAD' ? undefined : m.body)
            return same
          case 'head':
            cancel()
            if (!response.headersSent) response.writeHead(m.status, m.headers).flushHeaders()
            return same
          case 'write':
            cancel()
            write(m.data)
            return same
          case 'end':
            cancel()
            if (response.writable) response.end(m.data)
            return same
          case 'flush':
            if (!response.writable) return same
            if (unsent === 0) m.replyTo.tell({ type: 'flushed' })
            else flushes.push(m.replyTo)
            return same
          case 'read':
            if (feed !== undefined) return same
            feed = new Feed<BodyChunk | BodyEnded>(
              request,
              m.to,
              self,
              m.credits ?? 16,
              (chunk) => [new BodyChunk(chunk)],
              () => self.stop(),
            )
            request.on('end', () => feed?.tellAll([new BodyEnded()]))
            request.on('error', () => {})
            return same
          default:
            return unhandled
        }
      },
      release: () => {
        cancel()
        feed?.close()
        if (response.writableFinished || response.destroyed) return
        if (response.writableEnded) return
        // Stopped without an answer: it took too long, or the server goes down.
        if (response.headersSent) response.destroy()
        else response.writeHead(overdue ? 504 : 503, { connection: 'close' }).end()
      },
    }
  })
}
