import { once } from 'node:events'
import { connect as rawConnect } from 'node:net'
import { type BodyEvent, http, type HttpEvent, type HttpServeOptions, type OwnedWebSocketEvent, websocket, type WebSocketEvent } from '@troupe/node'
import { type ActorRef, type ActorSystem, type Behavior, receive, same, unhandled } from '@troupe/core'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { hostSystem, inbox, leakless, until } from './inbox.ts'

const greeter: Behavior<HttpEvent> = receive((_ctx, m) => {
  if (m.type !== 'request') return same
  const { exchange } = m
  switch (m.path) {
    case '/hello':
      exchange.tell({ type: 'respond', status: 200, headers: { 'content-type': 'text/plain' }, body: `hello ${m.query.get('name')}` })
      return same
    case '/echo':
      exchange.tell({ type: 'respond', status: 201, body: m.body })
      return same
    case '/parts':
      exchange.tell({ type: 'head', status: 200 })
      for (const part of ['a', 'b', 'c']) exchange.tell({ type: 'write', data: part })
      exchange.tell({ type: 'end', data: 'd' })
      return same
    case '/never':
      return same
    default:
      return unhandled
  }
})

async function serve(
  system: ActorSystem,
  options: Partial<HttpServeOptions> = {},
  behavior: Behavior<HttpEvent> = greeter,
): Promise<{ server: ActorRef<never>; url: string }> {
  const owner = system.spawn(behavior)
  const server = system.spawn(http.serve({ port: 0, owner, ...options }))
  const { port } = await server.ask({ type: 'address' })
  return { server, url: `http://127.0.0.1:${port}` }
}

const close = { headers: { connection: 'close' } }

test('each request is a message, and its exchange takes a whole answer or one in parts', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system)
    const hello = await fetch(`${url}/hello?name=you`, close)
    expect([hello.status, await hello.text()]).toEqual([200, 'hello you'])
    const echo = await fetch(`${url}/echo`, { ...close, method: 'POST', body: 'x'.repeat(100_000) })
    expect([echo.status, (await echo.text()).length]).toEqual([201, 100_000])
    expect(await (await fetch(`${url}/parts`, close)).text()).toBe('abcd')
    await system.shutdown()
  }))

test('a request that nobody handles gets 503, one too large 413, one without an answer 504', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system, { maxBody: 1000 })
    const { url: hasty } = await serve(system, { responseTimeout: 20 })
    expect((await fetch(`${url}/nowhere`, close)).status).toBe(503)
    expect((await fetch(`${url}/echo`, { ...close, method: 'POST', body: 'x'.repeat(1001) })).status).toBe(413)
    expect((await fetch(`${hasty}/never`, close)).status).toBe(504)
    await until(() => system.counts().active === 4)
    await system.shutdown()
  }))

test('a body that does not say its length is cut off at the bound too', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system, { maxBody: 1000 })
    const socket = rawConnect(Number(new URL(url).port), '127.0.0.1')
    socket.write('POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n')
    socket.write(`7d0\r\n${'x'.repeat(2000)}\r\n`)
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(head.toString()).toMatch(/^HTTP\/1\.1 413/)
    socket.destroy()
    await system.shutdown()
  }))

test('a streamed body is read on demand, held while its reader is behind', () =>
  leakless(async () => {
    const system = hostSystem()
    let reader: ActorRef<BodyEvent> | undefined
    let size = 0
    const uploads: Behavior<HttpEvent> = receive((ctx, m) => {
      if (m.type !== 'request') return same
      reader = ctx.spawn(
        receive<BodyEvent>((_c, part) => {
          if (part.type === 'body-chunk') size += part.chunk.length
          else m.exchange.tell({ type: 'respond', status: 200, body: String(size) })
          return same
        }),
      )
      system.suspend(reader, 'busy')
      m.exchange.tell({ type: 'read', to: reader, credits: 2 })
      return same
    })
    const { url } = await serve(system, { body: 'stream' }, uploads)
    const total = 8 * 1024 * 1024
    const answer = fetch(`${url}/upload`, { ...close, method: 'POST', body: Buffer.alloc(total) })
    await until(() => reader !== undefined)
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    expect((await system.ledger()).queued).toBeLessThanOrEqual(3)
    system.resume(reader!)
    expect(await (await answer).text()).toBe(String(total))
    await system.shutdown()
  }))

test('a client that leaves stops its exchange', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system)
    const socket = rawConnect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /never HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => system.counts().active === 3)
    socket.destroy()
    await until(() => system.counts().active === 2)
    await system.shutdown()
  }))

test('garbage gets 400, and a shutdown ends open connections', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system)
    const socket = rawConnect(Number(new URL(url).port), '127.0.0.1')
    socket.write('NONSENSE\r\n\r\n')
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(head.toString()).toMatch(/^HTTP\/1\.1 400/)
    const idle = rawConnect(Number(new URL(url).port), '127.0.0.1')
    await once(idle, 'connect')
    const closed = once(idle, 'close')
    await system.shutdown()
    await closed
  }))

const wsEcho = (connection: { send(data: string | Uint8Array): boolean }): Behavior<WebSocketEvent> =>
  receive((_ctx, m) => {
    if (m.type === 'text') {
      if (m.text === 'crash') throw new Error('crash')
      connection.send(m.text.toUpperCase())
    }
    if (m.type === 'binary') connection.send(m.data)
    return same
  })

test('WebSockets are actors on both ends: text, binary, close', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system, { websocket: { path: '/ws', handler: wsEcho } })
    const owner = inbox<OwnedWebSocketEvent>(system)
    const client = system.spawn(websocket.connect(`${url.replace('http', 'ws')}/ws`, { owner: owner.ref }))
    await owner.next('connected')
    client.tell({ type: 'send', data: 'hello' })
    expect((await owner.next('text')).text).toBe('HELLO')
    client.tell({ type: 'send', data: new Uint8Array([1, 2, 3]) })
    expect([...(await owner.next('binary')).data]).toEqual([1, 2, 3])
    client.tell({ type: 'close', code: 1000, reason: 'done' })
    expect((await owner.next('closed')).code).toBe(1000)
    expect((await system.whenTerminated(client)).reason).toBe('normal')
    await system.shutdown()
  }))

test('a handler that crashes closes its WebSocket, and a path or origin that is not wanted is refused', () =>
  leakless(async () => {
    const system = hostSystem()
    const accept = ({ headers }: { headers: { origin?: string | undefined } }): boolean => headers.origin !== 'http://evil'
    const { url } = await serve(system, { websocket: { path: '/ws', handler: wsEcho, accept } })
    const base = url.replace('http', 'ws')
    const owner = inbox<OwnedWebSocketEvent>(system)
    const client = system.spawn(websocket.connect(`${base}/ws`, { owner: owner.ref }))
    await owner.next('connected')
    client.tell({ type: 'send', data: 'crash' })
    expect((await owner.next('closed')).code).toBe(1001)
    system.spawn(websocket.connect(`${base}/other`, { owner: owner.ref }))
    expect((await owner.next('error')).error.message).toMatch(/404/)
    await owner.next('closed')
    system.spawn(websocket.connect(`${base}/ws`, { owner: owner.ref, headers: { origin: 'http://evil' } }))
    expect((await owner.next('error')).error.message).toMatch(/403/)
    await system.shutdown()
  }))

test('a WebSocket peer is held while its actor is behind, and loses nothing', () =>
  leakless(async () => {
    const system = hostSystem()
    let got = 0
    let release: (() => void) | undefined
    let most = 0
    const handler = (): Behavior<WebSocketEvent> =>
      receive(async (_ctx, m) => {
        if (m.type !== 'text') return same
        got++
        most = Math.max(most, (await system.ledger()).queued)
        if (release === undefined) await new Promise<void>((resolve) => (release = resolve))
        return same
      })
    const { url } = await serve(system, { websocket: { handler, credits: 4 } })
    const client = new WebSocket(url.replace('http', 'ws'))
    await once(client, 'open')
    for (let i = 0; i < 500; i++) client.send('x'.repeat(10_000))
    await until(() => release !== undefined)
    release!()
    await until(() => got === 500)
    expect(most).toBeLessThan(100)
    client.close()
    await once(client, 'close')
    await system.shutdown()
  }))

test('a wish to upgrade that nobody grants is a request like any other', () =>
  leakless(async () => {
    const system = hostSystem()
    const { url } = await serve(system)
    const socket = rawConnect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /hello?name=you HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await until(() => text.includes('hello you'))
    socket.destroy()
    await system.shutdown()
  }))

test('a handshake that is refused, or whose check throws, is answered and closed, also for a client that does not close', () =>
  leakless(async () => {
    const logged: string[] = []
    const quiet = (): void => {}
    const system = hostSystem({ logger: { debug: quiet, info: quiet, warn: quiet, error: (_fields, message) => logged.push(message) } })
    const handler = (): Behavior<WebSocketEvent> => receive(() => same)
    const accept = ({ url }: { readonly url: string }): boolean => {
      if (url === '/bug') throw new Error('a bug')
      return false
    }
    const { url } = await serve(system, { websocket: { handler, accept } })
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
    for (const [path, status] of [
      ['/no', '403'],
      ['/bug', '500'],
    ]) {
      const socket = rawConnect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {})
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${upgrade}`)
      const [head] = (await once(socket, 'data')) as [Buffer]
      expect(head.toString()).toContain(`HTTP/1.1 ${status} `)
      await until(() => {
        if (!socket.destroyed) socket.write('more')
        return socket.destroyed
      })
    }
    expect(logged).toEqual(['a WebSocket was refused: its check failed'])
    await system.shutdown()
  }))
