// One request and its answer, as an actor: whole, or head, chunks and end; the body of the request on demand.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type ActorRef, type Behavior, type Next, same, unhandled } from '@troupe/core'
import { checkRef, checkWhole } from '@troupe/core/internal'
import { checkBytes } from './bytes.ts'
import { answerWhole } from './http-answer.ts'
import { Body, type BodyEvent } from './http-body.ts'
import type { RequestUnderWay } from './http-traffic.ts'
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

export function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  underWay: RequestUnderWay,
  options: { readonly responseTimeout?: number | undefined; readonly maxBuffered?: number | undefined },
): Behavior<ExchangeCommand> {
  const { responseTimeout = 30_000, maxBuffered = 16 * 1024 * 1024 } = options
  return resource<ExchangeCommand, never>(undefined, ({ self }, ctx) => {
    let overdue = false
    const stop = (): void => self.stop({ after: 'queued' })
    const body = new Body(request, self, stop, () => {
      if (underWay.over) stop()
    })
    // An answer may come before the body has been read to its end.
    const over = (): void => {
      if (!body.reading) stop()
    }
    if (underWay.over) over()
    else underWay.whenOver(over)
    let parts = 0
    let cancel = (): void => {}
    const wait = (): void => {
      parts = body.parts
      cancel = later(ctx, responseTimeout, () => {
        // It is not the answer that takes so long.
        if (body.parts !== parts) return wait()
        overdue = true
        self.stop()
      })
    }
    wait()
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
    const obey = (m: ExchangeCommand): Next<ExchangeCommand> => {
      switch (m.type) {
        case 'respond':
          if (m.body !== undefined) checkBytes('body', m.body)
          cancel()
          if (response.headersSent) return same
          answerWhole(response, m.status, m.headers, m.body)
          return same
        case 'head':
          cancel()
          if (!response.headersSent) response.writeHead(m.status, m.headers).flushHeaders()
          return same
        case 'write':
          checkBytes('data', m.data)
          cancel()
          write(m.data)
          return same
        case 'end':
          if (m.data !== undefined) checkBytes('data', m.data)
          cancel()
          if (response.writable) response.end(m.data)
          return same
        case 'flush':
          if (!response.writable) return same
          if (unsent === 0) m.replyTo.tell({ type: 'flushed' })
          else flushes.push(m.replyTo)
          return same
        case 'read':
          checkRef('to', m.to)
          return body.read(m.to, m.credits === undefined ? 16 : checkWhole('credits', m.credits, 1)) ? same : unhandled
        default:
          return unhandled
      }
    }
    return {
      onCommand: (m) => {
        try {
          return obey(m)
        } catch (cause) {
          // An answer that cannot be sent is this side's fault, and the client learns that much.
          cancel()
          if (!response.headersSent) refuseAnswer(response)
          throw cause
        }
      },
      release: () => {
        cancel()
        body.end()
        if (response.writableFinished || response.destroyed) return
        if (response.writableEnded) return
        // Stopped without an answer: it took too long, or the server goes down.
        if (response.headersSent) response.destroy()
        else answerWhole(response, overdue ? 504 : 503, { connection: 'close' })
      },
    }
  })
}

/** 500 in place of an answer that was wrong; of its headers, some may be set already. */
function refuseAnswer(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  answerWhole(response, 500, { connection: 'close' }, 'the answer to this request could not be sent\n')
}
