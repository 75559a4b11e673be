// Answers of known length say how long they are, as HTTP/1.1 wants it; others come in chunks.

import { connect } from 'node:net'
import { http, type HttpEvent } from '@troupe/node'
import { type ActorSystem, type Behavior, receive, same, unhandled } from '@troupe/core'
import { expect, test } from 'vitest'
import { hostSystem, leakless } from './inbox.ts'

const server: Behavior<HttpEvent> = receive((_ctx, m) => {
  if (m.type !== 'request') return same
  const { exchange } = m
  switch (m.path) {
    case '/text':
      exchange.tell({ type: 'respond', status: 200, body: 'grüße' })
      return same
    case '/bytes':
      exchange.tell({ type: 'respond', status: 200, body: Buffer.from([1, 2, 3]) })
      return same
    case '/nothing':
      exchange.tell({ type: 'respond', status: 200 })
      return same
    case '/own':
      exchange.tell({ type: 'respond', status: 200, headers: { 'Content-Length': 2 }, body: 'ok' })
      return same
    case '/chunked':
      exchange.tell({ type: 'respond', status: 200, headers: { 'Transfer-Encoding': 'chunked' }, body: 'ok' })
      return same
    case '/204':
      exchange.tell({ type: 'respond', status: 204 })
      return same
    case '/304':
      exchange.tell({ type: 'respond', status: 304 })
      return same
    case '/parts':
      exchange.tell({ type: 'head', status: 200 })
      exchange.tell({ type: 'end', data: 'abc' })
      return same
    case '/throw':
      throw new Error('as asked')
    default:
      return unhandled
  }
})

async function serve(system: ActorSystem): Promise<number> {
  const ref = system.spawn(http.serve({ port: 0, owner: system.spawn(server, { supervision: 'resume' }), maxRequests: 100 }))
  return (await ref.ask({ type: 'address' })).port!
}

/** What came for a request, as it came. */
function raw(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (chunk) => (text += String(chunk)))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
}
const get = (port: number, path: string, method = 'GET'): Promise<string> =>
  raw(port, `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
const lengthOf = (answer: string): string[] =>
  answer
    .split('\r\n\r\n')[0]!
    .split('\r\n')
    .filter((line) => /^(content-length|transfer-encoding):/i.test(line))
    .map((line) => line.toLowerCase())

test.each([
  ['/text', 'GET', ['content-length: 7']],
  ['/bytes', 'GET', ['content-length: 3']],
  ['/nothing', 'GET', ['content-length: 0']],
  ['/own', 'GET', ['content-length: 2']],
  ['/chunked', 'GET', ['transfer-encoding: chunked']],
  ['/parts', 'GET', ['transfer-encoding: chunked']],
  // No body, and no length of one: RFC 9110, 8.6.
  ['/204', 'GET', []],
  ['/304', 'GET', []],
  // The length that the body would have.
  ['/text', 'HEAD', ['content-length: 7']],
  // What the server answers by itself.
  ['/throw', 'GET', ['content-length: 35']],
  ['/unknown', 'GET', ['content-length: 28']],
])('%s %s', (path, method, expected) =>
  leakless(async () => {
    const system = hostSystem({ logger: false })
    const answer = await get(await serve(system), path, method)
    expect(lengthOf(answer)).toEqual(expected)
    const [head, body = ''] = answer.split('\r\n\r\n')
    const length = /content-length: (\d+)/i.exec(head!)?.[1]
    if (length !== undefined && method === 'GET') expect(Buffer.byteLength(body)).toBe(Number(length))
    if (method === 'HEAD') expect(body).toBe('')
    await system.shutdown()
  }),
)

test('what is no request is answered with a length too', () =>
  leakless(async () => {
    const system = hostSystem({ logger: false })
    const port = await serve(system)
    expect(lengthOf(await raw(port, 'garbage\r\n\r\n'))).toEqual(['content-length: 0'])
    await system.shutdown()
  }))

test('several answers on one connection are told apart by their lengths', () =>
  leakless(async () => {
    const system = hostSystem({ logger: false })
    const port = await serve(system)
    const answer = await raw(port, 'GET /text HTTP/1.1\r\nhost: x\r\n\r\nGET /bytes HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    expect(answer.match(/content-length: \d+/gi)).toHaveLength(2)
    expect(answer).not.toMatch(/chunked/i)
    await system.shutdown()
  }))
