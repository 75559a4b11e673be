// A client that sends what it is told, to the letter: also what no browser and no library would send.

import { type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { FrameReader, type FeedFrame } from '../../src/feed/frames.ts'
import type { ActorSystem } from '@troupe/core'
import { observe } from '../../src/attach/observe.ts'
import type { PageOptions } from '../../src/server/page-options.ts'
import type { Page } from '../../src/server/page-server.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}
export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Serves a page with rounds ten times a second. `holds-loop` is muted: on a busy machine any turn may take long. */
export const openPage = (system: ActorSystem, options?: PageOptions, every = 100): Promise<Page> =>
  observe(system, { socket: false, every, mute: ['holds-loop'] }).openPage(options)
export const tokenOf = (page: Page): string => new URL(page.url).hash.slice(1)
export const originOf = (page: Page): string => new URL(page.url).origin

/** What the page itself would send. */
export function proper(page: Page): Record<string, string> {
  const origin = originOf(page)
  return {
    host: new URL(origin).host,
    origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    'x-troupe-token': tokenOf(page),
  }
}

export function send(page: Page, { method = 'POST', path = '/api/letters', headers = proper(page), body = '{}' }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: page.port, method, path, headers, setHost: false, agent: false }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces).toString() }))
    })
    asked.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error('It was upgraded.'))
    })
    asked.on('error', reject)
    asked.end(method === 'GET' || method === 'HEAD' ? undefined : body)
  })
}

/** What comes back for bytes as they are, until the other side closes. */
export function raw(page: Page, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: page.port })
    let got = ''
    socket.on('data', (piece: Buffer) => (got += piece.toString()))
    socket.on('error', () => {})
    socket.on('close', () => resolve(got))
    socket.write(text)
  })
}

/** Reads a stream until `enough` of its frames; then it hangs up. */
export function feed(page: Page, view: string, enough: (frames: readonly FeedFrame[]) => boolean): Promise<readonly FeedFrame[]> {
  return new Promise((resolve, reject) => {
    const frames: FeedFrame[] = []
    const reader = new FrameReader()
    const asked = request(
      { host: '127.0.0.1', port: page.port, method: 'POST', path: '/api/feed', headers: proper(page), setHost: false, agent: false },
      (response) => {
        response.on('data', (piece: Buffer) => {
          frames.push(...reader.take(new Uint8Array(piece)))
          if (!enough(frames)) return
          asked.destroy()
          resolve(frames)
        })
        // Also where it was cut off.
        response.on('close', () => resolve(frames))
      },
    )
    asked.on('error', (cause) => (enough(frames) ? resolve(frames) : reject(cause)))
    asked.end(JSON.stringify({ view }))
  })
}
