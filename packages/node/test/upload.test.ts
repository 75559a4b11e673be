// Uploads that go wrong, as clients and handlers make them: nobody waits for ever, no handle is left, and whoever reads a
// body hears exactly one last word.

import { connect, type Socket } from 'node:net'
import { type BodyEvent, type ExchangeCommand, http, type HttpEvent, type HttpRequest, type HttpServeOptions } from '@troupe/node'
import { type ActorRef, type ActorSystem, type Behavior, receive, same, stopped } from '@troupe/core'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { hostSystem, Inbox, leakless, until } from './inbox.ts'

type OnRequest = (request: HttpRequest) => void

async function serve(system: ActorSystem, onRequest: OnRequest, options: Partial<HttpServeOptions> = {}): Promise<number> {
  const behavior: Behavior<HttpEvent> = receive((_ctx, m) => {
    if (m.type === 'request') onRequest(m)
    return same
  })
  const server = system.spawn(http.serve({ port: 0, owner: system.spawn(behavior), body: 'stream', ...options }))
  return (await server.ask({ type: 'address' })).port!
}

/** A server that takes small bodies only. Its clock stands still, so that a client has all the time it needs to send a large one. */
async function strictOnVirtualTime(): Promise<{ readonly kit: TestKit; readonly port: number }> {
  const kit = createTestKit()
  const owner = kit.probe<HttpEvent>()
  kit.system.spawn(http.serve({ port: 0, owner: owner.ref, body: 'collect', maxBody: 1000 }))
  await until(
    () => owner.messages.length > 0,
    () => kit.settle(),
  )
  return { kit, port: owner.expectType('listening').address.port! }
}

/** A client on a bare socket, and all that it was answered. */
function client(port: number): { readonly socket: Socket; readonly text: () => string; readonly says: (pattern: RegExp) => Promise<void> } {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  return { socket, text: () => text, says: (pattern) => until(() => pattern.test(text)) }
}

/** Waits until the other side has closed, which a client that is not told otherwise notices when it sends. */
async function cutOff(socket: Socket): Promise<void> {
  await until(() => {
    if (!socket.destroyed) socket.write('more')
    return socket.destroyed
  })
}

const upload = (length: number): string => `POST /up HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`
const get = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

function reader(system: ActorSystem): Inbox<BodyEvent> {
  const box = new Inbox<BodyEvent>()
  box.ref = system.spawn(box.behavior())
  return box
}

/** The actors that are there without any request. */
const idle = 2

test('a client that closes in the middle of a body: its reader hears so, and the exchange ends', () =>
  leakless(async () => {
    const system = hostSystem()
    const box = reader(system)
    const port = await serve(system, (m) => m.exchange.tell({ type: 'read', to: box.ref }))
    const { socket } = client(port)
    socket.write(`${upload(1000)}half`)
    expect((await box.next('body-chunk')).chunk.toString()).toBe('half')
    socket.destroy()
    expect((await box.next('body-aborted')).code).toBe('ECONNRESET')
    await until(() => system.counts().active === idle + 1)
    expect(box.seen).toEqual([])
    await system.shutdown()
  }))

test('a client that closes in the middle of a body that nobody reads ends its exchange', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, () => {})
    const { socket } = client(port)
    socket.write(`${upload(1000)}half`)
    await until(() => system.counts().active === idle + 1)
    socket.destroy()
    await until(() => system.counts().active === idle)
    await system.shutdown()
  }))

test('a client that closes behind a body so large that nothing is read any more is given up after responseTimeout', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, () => {}, { responseTimeout: 50 })
    const { socket } = client(port)
    socket.write(upload(50_000_000))
    socket.write(Buffer.alloc(5_000_000))
    await until(() => system.counts().active === idle + 1)
    socket.destroy()
    await until(() => system.counts().active === idle)
    await system.shutdown()
  }))

test('a body that is answered before it was read to its end: the reader gets the rest, and the connection the next request', () =>
  leakless(async () => {
    const system = hostSystem()
    const box = reader(system)
    const port = await serve(system, (m) => {
      if (m.method === 'GET') return m.exchange.tell({ type: 'respond', status: 200, body: 'next' })
      m.exchange.tell({ type: 'read', to: box.ref, credits: 1 })
      m.exchange.tell({ type: 'respond', status: 202, body: 'early' })
    })
    const { socket, says } = client(port)
    socket.write(`${upload(8)}half`)
    await says(/202 Accepted[^]*early/)
    await box.next('body-chunk')
    socket.write(`rest${get}`)
    expect((await box.next('body-chunk')).chunk.toString()).toBe('rest')
    await box.next('body-ended')
    await says(/200 OK[^]*next/)
    socket.destroy()
    await system.shutdown()
  }))

test('what was told of a body is not taken back when the exchange ends', () =>
  leakless(async () => {
    const system = hostSystem()
    const box = reader(system)
    system.suspend(box.ref, 'busy')
    const port = await serve(system, (m) => {
      m.exchange.tell({ type: 'read', to: box.ref })
      m.exchange.tell({ type: 'respond', status: 202 })
    })
    const { socket, says } = client(port)
    socket.write(`${upload(4)}body`)
    await says(/202 Accepted/)
    await until(() => system.counts().active === idle + 1)
    system.resume(box.ref)
    expect((await box.next('body-chunk')).chunk.toString()).toBe('body')
    await box.next('body-ended')
    socket.destroy()
    await system.shutdown()
  }))

test('a reader that answers and stops is heard, and the rest of the body does not stand in the way of the next request', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, (m) => {
      if (m.method === 'GET') return m.exchange.tell({ type: 'respond', status: 200, body: 'next' })
      const first = receive<BodyEvent>(() => {
        m.exchange.tell({ type: 'respond', status: 200, body: 'enough' })
        return stopped
      })
      m.exchange.tell({ type: 'read', to: system.spawn(first), credits: 1 })
    })
    const { socket, says } = client(port)
    const size = 4_000_000
    socket.write(upload(size))
    socket.write(Buffer.alloc(size))
    socket.write(get)
    await says(/200 OK[^]*enough[^]*200 OK[^]*next/)
    socket.destroy()
    await until(() => system.counts().active === idle)
    await system.shutdown()
  }))

test('a reader that stops without an answer: 503 at once, and the connection is closed', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, (m) => m.exchange.tell({ type: 'read', to: system.spawn(receive<BodyEvent>(() => stopped)), credits: 1 }))
    const { socket, says } = client(port)
    socket.write(`${upload(8)}half`)
    await until(() => system.counts().active === idle + 1)
    socket.write('rest')
    await says(/^HTTP\/1\.1 503 /)
    await until(() => socket.readableEnded)
    socket.destroy()
    await system.shutdown()
  }))

test('a handler that throws is 500 at once', () =>
  leakless(async () => {
    const system = hostSystem({ logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } })
    const port = await serve(system, (m) => {
      if (m.path === '/up') throw new Error('a bug')
      m.exchange.tell({ type: 'respond', status: 200 })
    })
    const { socket, says } = client(port)
    socket.write(`${upload(4)}body`)
    await says(/^HTTP\/1\.1 500 /)
    socket.destroy()
    await system.shutdown()
  }))

test('a slow body is no slow answer: responseTimeout begins anew with each part, and a body that stands still is 504', () =>
  leakless(async () => {
    const kit = createTestKit()
    const owner = kit.probe<HttpEvent>()
    const body = kit.probe<BodyEvent>()
    const heard = async (probe: { readonly messages: readonly unknown[] }): Promise<void> => {
      for (let i = 0; i < 5000 && probe.messages.length === 0; i++) await kit.settle()
    }
    kit.system.spawn(http.serve({ port: 0, owner: owner.ref, body: 'stream', responseTimeout: 1000 }))
    await heard(owner)
    const { socket, text } = client(owner.expectType('listening').address.port!)
    socket.write(upload(100))
    await heard(owner)
    owner.expectType('request').exchange.tell({ type: 'read', to: body.ref })
    for (let i = 0; i < 10; i++) {
      socket.write('x')
      await heard(body)
      body.expectType('body-chunk')
      await kit.advance(800)
    }
    expect(text()).toBe('')
    await kit.advance(2000)
    await heard(body)
    expect(body.expectType('body-aborted').code).toBe('exchange-ended')
    for (let i = 0; i < 5000 && text() === ''; i++) await kit.settle()
    expect(text()).toMatch(/^HTTP\/1\.1 504 /)
    socket.destroy()
    await kit.end()
  }))

test('a shutdown in the middle of an upload tells its reader, and leaves nothing', () =>
  leakless(async () => {
    const system = hostSystem()
    const box = reader(system)
    let server: ActorRef<ExchangeCommand> | undefined
    const port = await serve(system, (m) => {
      server = m.exchange
      m.exchange.tell({ type: 'read', to: box.ref })
    })
    const { socket } = client(port)
    socket.write(`${upload(8)}half`)
    await box.next('body-chunk')
    server!.stop()
    expect((await box.next('body-aborted')).code).toBe('exchange-ended')
    socket.write('more')
    await system.shutdown()
    socket.destroy()
  }))

test('a client that writes a body too large to its end still reads the 413', () =>
  leakless(async () => {
    const { kit, port } = await strictOnVirtualTime()
    const { socket, says } = client(port)
    socket.pause()
    const size = 20_000_000
    socket.write(upload(size))
    const written = new Promise<unknown>((resolve) => socket.write(Buffer.alloc(size), resolve))
    expect(await written).toBeFalsy()
    socket.resume()
    await says(/^HTTP\/1\.1 413 /)
    socket.destroy()
    await kit.end()
  }))

test('a client that goes on sending what was too large is cut off after a second', () =>
  leakless(async () => {
    const { kit, port } = await strictOnVirtualTime()
    const { socket, says } = client(port)
    socket.write(upload(1_000_000_000))
    await says(/^HTTP\/1\.1 413 /)
    await kit.advance(999)
    for (let i = 0; i < 50; i++) {
      socket.write('more')
      await kit.settle()
    }
    expect(socket.readableEnded || socket.destroyed).toBe(false)
    await kit.advance(1)
    await cutOff(socket)
    await kit.end()
  }))

test('requests under way are bounded, of one connection and of all: beyond, 503', () =>
  leakless(async () => {
    const system = hostSystem()
    const waiting: ActorRef<ExchangeCommand>[] = []
    const port = await serve(system, (m) => void waiting.push(m.exchange), { maxRequests: 5, maxPipelined: 3 })
    const plain = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
    const [greedy, other] = [client(port), client(port)]
    greedy.socket.write(plain.repeat(10))
    await until(() => waiting.length === 3)
    other.socket.write(plain.repeat(3))
    await until(() => waiting.length === 5)
    expect(system.counts().active).toBe(idle + 5)
    for (const exchange of waiting.splice(0)) exchange.tell({ type: 'respond', status: 200 })
    await greedy.says(/(200 OK[^]*){3}503 /)
    await other.says(/(200 OK[^]*){2}503 /)
    await until(() => system.counts().active === idle)
    const later = client(port)
    later.socket.write(plain)
    await until(() => waiting.length === 1)
    for (const { socket } of [greedy, other, later]) socket.destroy()
    await system.shutdown()
  }))

test.each(['collect', 'stream'] as const)('a client that leaves ends all the exchanges that it has waiting in a pipeline, body %s', (body) =>
  leakless(async () => {
    const system = hostSystem()
    const options = { body, maxRequests: 5 }
    const port = await serve(system, () => {}, options)
    for (let round = 0; round < 3; round++) {
      const { socket } = client(port)
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(5))
      await until(() => system.counts().active === idle + 5)
      socket.destroy()
      await until(() => system.counts().active === idle)
    }
    await system.shutdown()
  }),
)

test('garbage behind a request whose answer has begun does not get into that answer', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, (m) => {
      m.exchange.tell({ type: 'head', status: 200 })
      m.exchange.tell({ type: 'write', data: 'part' })
    })
    const { socket, says, text } = client(port)
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await says(/part/)
    socket.write('NONSENSE\r\n\r\n')
    await cutOff(socket)
    expect(text()).not.toContain('400')
    await system.shutdown()
  }))

test('a client that is told 400 and does not close is closed', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, () => {})
    const { socket, says } = client(port)
    socket.write('NONSENSE\r\n\r\n')
    await says(/^HTTP\/1\.1 400 /)
    await cutOff(socket)
    await system.shutdown()
  }))

test('a client that reads nothing of its answer is closed after idleTimeout, and its exchange ends', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, (m) => m.exchange.tell({ type: 'respond', status: 200, body: Buffer.alloc(20_000_000) }), { idleTimeout: 50 })
    const { socket } = client(port)
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => system.counts().active === idle + 1)
    await until(() => system.counts().active === idle)
    socket.destroy()
    await system.shutdown()
  }))

test('a request that does not arrive within requestTimeout is 408', () =>
  leakless(async () => {
    const system = hostSystem()
    const port = await serve(system, () => {}, { body: 'collect', requestTimeout: 20 })
    const { socket, says } = client(port)
    socket.write(`${upload(100)}slow`)
    await says(/^HTTP\/1\.1 408 /)
    await until(() => socket.readableEnded)
    socket.destroy()
    await system.shutdown()
  }))
