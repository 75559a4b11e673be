// What is no request, or asks for something odd, on a connection with answers under way: nothing of ours stands inside an answer.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { http, type HttpEvent, type HttpServeOptions, type WebSocketEvent } from '@troupe/node'
import { type ActorSystem, type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { hostSystem, Inbox, leakless, until } from './inbox.ts'

interface Client {
  readonly socket: Socket
  readonly got: string
}

function client(port: number): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  let got = ''
  socket.on('data', (chunk: Buffer) => (got += chunk.toString()))
  return {
    socket,
    get got() {
      return got
    },
  }
}

async function serve(system: ActorSystem, options: Partial<HttpServeOptions> = {}): Promise<{ box: Inbox<HttpEvent>; port: number }> {
  const box = new Inbox<HttpEvent>()
  system.spawn(http.serve({ port: 0, owner: system.spawn(box.behavior()), ...options }))
  return { box, port: (await box.next('listening')).address.port! }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

test('garbage behind a streaming answer waits for its end, then gets 400 and the connection closes', () =>
  leakless(async () => {
    const system = hostSystem()
    const { box, port } = await serve(system)
    const c = client(port)
    c.socket.write(get('/stream'))
    const { exchange } = await box.next('request')
    exchange.tell({ type: 'head', status: 200, headers: { 'content-length': 6 } })
    exchange.tell({ type: 'write', data: 'abc' })
    await until(() => c.got.endsWith('abc'))
    c.socket.write(`NONSENSE\r\n\r\n`)
    c.socket.write('more of it')
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(c.got).toMatch(/\r\n\r\nabc$/)
    exchange.tell({ type: 'end', data: 'def' })
    await once(c.socket, 'end')
    expect(c.got).toMatch(/\r\n\r\nabcdefHTTP\/1\.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n$/)
    c.socket.destroy()
    await system.shutdown()
  }))

test('garbage behind a streaming answer and a request that waits for its own: both are answered, in order, then comes 400', () =>
  leakless(async () => {
    const system = hostSystem()
    const { box, port } = await serve(system)
    const c = client(port)
    c.socket.write(get('/stream'))
    const first = await box.next('request')
    first.exchange.tell({ type: 'head', status: 200, headers: { 'content-length': 6 } })
    first.exchange.tell({ type: 'write', data: 'abc' })
    await until(() => c.got.endsWith('abc'))
    c.socket.write(`${get('/second')}NONSENSE\r\n\r\n`)
    const second = await box.next('request')
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(c.got).toMatch(/\r\n\r\nabc$/)
    second.exchange.tell({ type: 'respond', status: 201, headers: { 'content-length': 2 }, body: 'ok' })
    first.exchange.tell({ type: 'end', data: 'def' })
    await once(c.socket, 'end')
    expect(c.got.match(/HTTP\/1\.1 \d+|abcdef|ok(?=HTTP)/g)).toEqual(['HTTP/1.1 200', 'abcdef', 'HTTP/1.1 201', 'ok', 'HTTP/1.1 400'])
    c.socket.destroy()
    await system.shutdown()
  }))

test('garbage behind a request that is not answered in time cuts the connection: 400 is no answer to that request', () =>
  leakless(async () => {
    const system = hostSystem()
    const { box, port } = await serve(system)
    const c = client(port)
    c.socket.write(`${get('/never')}NONSENSE\r\n\r\n`)
    await box.next('request')
    await until(() => c.socket.readableEnded || c.socket.destroyed)
    expect(c.got).toBe('')
    c.socket.destroy()
    await system.shutdown()
  }))

test('a body that breaks off into garbage gets 400, or cuts the answer that it has begun to get', () =>
  leakless(async () => {
    const system = hostSystem()
    const { box, port } = await serve(system, { body: 'stream' })
    const broken = (c: Client): boolean => c.socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    const unanswered = client(port)
    broken(unanswered)
    await box.next('request')
    unanswered.socket.write('zzz\r\n')
    await once(unanswered.socket, 'end')
    expect(unanswered.got).toMatch(/^HTTP\/1\.1 400 /)
    const begun = client(port)
    broken(begun)
    const { exchange } = await box.next('request')
    exchange.tell({ type: 'head', status: 200 })
    exchange.tell({ type: 'write', data: 'part' })
    await until(() => begun.got.includes('part'))
    begun.socket.write('zzz\r\n')
    await until(() => begun.socket.readableEnded || begun.socket.destroyed)
    expect(begun.got.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    for (const { socket } of [unanswered, begun]) socket.destroy()
    await system.shutdown()
  }))

test('a WebSocket handshake behind a streaming answer is answered behind it, taken or refused', () =>
  leakless(async () => {
    const system = hostSystem()
    const handler = (): Behavior<WebSocketEvent> => receive(() => same)
    const { box, port } = await serve(system, { websocket: { path: '/ws', handler } })
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
    for (const [path, status] of [
      ['/ws', '101'],
      ['/other', '404'],
    ]) {
      const c = client(port)
      c.socket.write(get('/stream'))
      const { exchange } = await box.next('request')
      exchange.tell({ type: 'head', status: 200, headers: { 'content-length': 6 } })
      exchange.tell({ type: 'write', data: 'abc' })
      await until(() => c.got.endsWith('abc'))
      c.socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${upgrade}`)
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
      expect(c.got).toMatch(/\r\n\r\nabc$/)
      exchange.tell({ type: 'end', data: 'def' })
      await until(() => c.got.includes(`abcdefHTTP/1.1 ${status} `))
      c.socket.destroy()
    }
    await system.shutdown()
  }))

test.each([
  ['//evil.example/admin', '//evil.example/admin', ''],
  ['//evil.example:80/admin?a=1', '//evil.example:80/admin', '1'],
  ['///x?a=2', '///x', '2'],
  ['/a?a=3', '/a', '3'],
  ['http://x/b?a=4', '/b', '4'],
  ['HTTP://x:99//c', '//c', ''],
  ['http://x', '/', ''],
  ['/@evil.example/', '/@evil.example/', ''],
  ['/:80/x', '/:80/x', ''],
])('the target %s has the path %s', (target, path, a) =>
  leakless(async () => {
    const system = hostSystem()
    const { box, port } = await serve(system)
    const c = client(port)
    c.socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const request = await box.next('request')
    expect([request.path, request.query.get('a') ?? '']).toEqual([path, a])
    c.socket.destroy()
    await system.shutdown()
  }),
)

test('OPTIONS * has the path *, and a target that is none gets 400, not the page at /', () =>
  leakless(async () => {
    const system = hostSystem()
    const { box, port } = await serve(system)
    const c = client(port)
    c.socket.write('OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n')
    expect((await box.next('request')).path).toBe('*')
    for (const target of ['http://[/', 'file:///etc/passwd', 'gopher://x/']) {
      const odd = client(port)
      odd.socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
      await once(odd.socket, 'end')
      expect(odd.got).toMatch(/^HTTP\/1\.1 400 /)
      odd.socket.destroy()
    }
    expect(box.seen.filter((m) => m.type === 'request')).toEqual([])
    c.socket.destroy()
    await system.shutdown()
  }))
