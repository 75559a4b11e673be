// Access to WebSockets, the handshake as the handler sees it, and messages that came before the peer's end.

import { once } from 'node:events'
import { connect as rawConnect, type Socket } from 'node:net'
import { http, type HttpEvent, type OwnedWebSocketEvent, type WebSocketAcceptOptions, type WebSocketEvent } from '@troupe/node'
import { type ActorSystem, type Behavior, type LevelledLogger, receive, same, unhandled } from '@troupe/core'
import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { hostSystem, inbox, leakless, until } from './inbox.ts'

const nobody: Behavior<HttpEvent> = receive(() => unhandled)

async function serve<A>(
  system: ActorSystem,
  websocket: WebSocketAcceptOptions<A>,
  maxRequests?: number,
): Promise<{ port: number; stop: () => void }> {
  const server = system.spawn(http.serve({ port: 0, owner: system.spawn(nobody), websocket, maxRequests }))
  const { port } = await server.ask({ type: 'address' })
  return { port: port!, stop: () => server.stop() }
}

const handshake = (path = '/'): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\ncookie: session=7\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
  'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

/** A client that speaks by bytes. */
class Client {
  readonly socket: Socket
  received: Buffer = Buffer.alloc(0)
  constructor(port: number, path?: string) {
    this.socket = rawConnect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk: Buffer) => (this.received = Buffer.concat([this.received, chunk])))
    this.socket.write(handshake(path))
  }
  get status(): string {
    return /^HTTP\/1.1 (\d+)/.exec(this.received.toString('latin1'))?.[1] ?? 'none'
  }
  get closed(): boolean {
    return this.socket.destroyed
  }
  async answered(): Promise<string> {
    await until(() => this.received.includes('\r\n\r\n'))
    return this.status
  }
  /** The frames received so far: opcode and payload; all are short. */
  get frames(): readonly (readonly [number, string])[] {
    const frames: (readonly [number, string])[] = []
    let at = this.received.indexOf('\r\n\r\n') + 4
    while (at < this.received.length) {
      const length = this.received[at + 1]!
      frames.push([this.received[at]! & 15, this.received.toString('latin1', at + 2, at + 2 + length)])
      at += 2 + length
    }
    return frames
  }
}

/** A frame as clients send it, masked with zeros. */
function frame(first: number, payload: string | Buffer): Buffer {
  const body = Buffer.from(payload)
  const length = body.length < 126 ? Buffer.from([0x80 | body.length]) : Buffer.from([0x80 | 126, body.length >> 8, body.length & 255])
  return Buffer.concat([Buffer.from([first]), length, Buffer.alloc(4), body])
}
const text = (payload: string): Buffer => frame(0x81, payload)
const close1000: Buffer = frame(0x88, Buffer.from([3, 232]))
/** A frame with a reserved bit, which no extension uses. */
const violation: Buffer = frame(0xc1, 'x')

const echo = (): Behavior<WebSocketEvent> => receive(() => same)

const collecting = (logged: string[]): LevelledLogger => {
  const quiet = (): void => {}
  return { debug: quiet, info: quiet, warn: (_fields, message) => logged.push(message), error: (_fields, message) => logged.push(message) }
}

test.each<[string, () => unknown, string]>([
  ['true', () => true, '101'],
  ['a promise of true', async () => true, '101'],
  ['a promise of who it is', async () => ({ user: 'ann' }), '101'],
  ['false', () => false, '403'],
  ['a promise of false', async () => false, '403'],
  ['a promise of nothing', async () => {}, '403'],
  ['nothing', () => {}, '403'],
  ['null', () => null, '403'],
  ['an empty text', () => '', '403'],
  ['a failure', () => Promise.reject(new Error('the directory is away')), '500'],
  [
    'a throw',
    () => {
      throw new Error('the directory is away')
    },
    '500',
  ],
  ['a promise that never settles', () => new Promise<never>(() => {}), 'none'],
])('accept that returns %s', (_what, accept, status) =>
  leakless(async () => {
    const logged: string[] = []
    const system = hostSystem({ logger: collecting(logged) })
    const { port, stop } = await serve(system, { handler: echo, accept })
    const client = new Client(port)
    if (status !== 'none') expect(await client.answered()).toBe(status)
    if (status === '403' || status === '500') await until(() => client.closed)
    expect(logged).toEqual(status === '500' ? ['a WebSocket was refused: its check failed'] : [])
    stop()
    await until(() => client.closed)
    await system.shutdown()
  }),
)

test('the handler is given what accept returned, with the headers of the handshake', () =>
  leakless(async () => {
    const system = hostSystem()
    const accept = async ({ headers }: { headers: { cookie?: string | undefined } }): Promise<{ user: string } | undefined> =>
      headers.cookie === undefined ? undefined : { user: `user of ${headers.cookie}` }
    const seen: unknown[] = []
    const { port } = await serve(system, {
      accept,
      handler: (connection, { accepted, headers, url, remote }) => {
        seen.push(accepted.user, headers.cookie, url, remote.host === connection.remote.host)
        connection.send('hello')
        return echo()
      },
    })
    const client = new Client(port, '/room?id=3')
    await until(() => client.received.includes('hello'))
    expect(seen).toEqual(['user of session=7', 'session=7', '/room?id=3', true])
    client.socket.destroy()
    await system.shutdown()
  }))

test('an owner hears of an accepted WebSocket with the same', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<OwnedWebSocketEvent>(system)
    const { port } = await serve(system, { owner: owner.ref, accept: () => Promise.resolve('ann') })
    const client = new Client(port, '/room')
    const { connection, accepted, headers, url } = await owner.next('accepted')
    expect([accepted, headers.cookie, url]).toEqual(['ann', 'session=7', '/room'])
    client.socket.write(text('hi'))
    expect(await owner.next('text')).toMatchObject({ text: 'hi', connection })
    client.socket.destroy()
    await owner.next('closed')
    await system.shutdown()
  }))

test('an accept that does not settle is refused after acceptTimeout, and what it says later changes nothing', () =>
  leakless(async () => {
    const logged: string[] = []
    const kit = createTestKit({ logger: collecting(logged) })
    const settle: ((value: unknown) => void)[] = []
    let handled = 0
    const handler = (): Behavior<WebSocketEvent> => {
      handled++
      return echo()
    }
    const owner = kit.probe<HttpEvent>()
    const accept = (): Promise<unknown> => new Promise((resolve) => settle.push(resolve))
    const server = kit.system.spawn(http.serve({ port: 0, owner: owner.ref, websocket: { handler, accept, acceptTimeout: 500 } }))
    await kit.settle()
    const client = new Client(owner.expectType('listening').address.port!)
    await until(() => settle.length === 1)
    await kit.advance(499)
    expect(client.status).toBe('none')
    await kit.advance(1)
    expect(await client.answered()).toBe('503')
    settle[0]!(true)
    await until(() => client.closed)
    expect(handled).toBe(0)
    expect(logged).toEqual(['a WebSocket was refused: accept did not settle in time'])
    server.stop()
    await kit.end()
  }))

test('a server that stops cuts off those who wait for accept', () =>
  leakless(async () => {
    const system = hostSystem()
    let asked = 0
    const { port, stop } = await serve(system, { handler: echo, accept: () => (asked++, new Promise<boolean>(() => {})) })
    const client = new Client(port)
    await until(() => asked === 1)
    stop()
    await until(() => client.closed)
    expect(client.status).toBe('none')
    await system.shutdown()
  }))

test('beyond maxRequests that wait for accept, the next is refused without being asked about', () =>
  leakless(async () => {
    const system = hostSystem()
    const settle: ((value: boolean) => void)[] = []
    const { port } = await serve(system, { handler: echo, accept: () => new Promise<boolean>((resolve) => settle.push(resolve)) }, 2)
    const waiting = [new Client(port), new Client(port)]
    await until(() => settle.length === 2)
    const late = new Client(port)
    expect(await late.answered()).toBe('503')
    for (const resolve of settle) resolve(true)
    for (const client of waiting) expect(await client.answered()).toBe('101')
    // Their places are free again.
    const next = new Client(port)
    await until(() => settle.length === 3)
    settle[2]!(true)
    expect(await next.answered()).toBe('101')
    for (const client of [...waiting, late, next]) client.socket.destroy()
    await system.shutdown()
  }))

test('a client that broke off while accept was pending gets no actor, and its place is free', () =>
  leakless(async () => {
    const system = hostSystem()
    const settle: ((value: boolean) => void)[] = []
    let handled = 0
    const handler = (): Behavior<WebSocketEvent> => {
      handled++
      return echo()
    }
    const { port } = await serve(
      system,
      { handler, acceptTimeout: 3_600_000, accept: () => new Promise<boolean>((resolve) => settle.push(resolve)) },
      1,
    )
    const client = new Client(port)
    await until(() => settle.length === 1)
    client.socket.resetAndDestroy()
    let next = new Client(port)
    // The reset is on its way; until it is seen, there is no place.
    while (settle.length === 1) {
      await until(() => settle.length === 2 || next.status === '503')
      if (settle.length === 1) next = new Client(port)
    }
    settle[0]!(true)
    settle[1]!(true)
    expect(await next.answered()).toBe('101')
    await until(() => handled > 0)
    expect(handled).toBe(1)
    next.socket.destroy()
    await system.shutdown()
  }))

for (const [what, end, code] of [
  ['breaks the protocol', violation, 1002],
  ['closes', close1000, 1000],
] as const) {
  test(`messages of a peer that then ${what} are answered before it is closed, by slow handlers too`, () =>
    leakless(async () => {
      const system = hostSystem()
      const heard: string[] = []
      const { port } = await serve(system, {
        handler: (connection) =>
          receive(async (_ctx, m) => {
            heard.push(m.type)
            if (m.type === 'text') {
              await new Promise((resolve) => setTimeout(resolve, 5))
              connection.send(m.text.toUpperCase())
            }
            return same
          }),
      })
      const client = new Client(port)
      await client.answered()
      client.socket.write(Buffer.concat([text('one'), text('two'), end, text('three')]))
      await until(() => client.closed)
      expect(client.frames).toEqual([
        [1, 'ONE'],
        [1, 'TWO'],
        [8, String.fromCharCode(code >> 8, code & 255)],
      ])
      await until(() => heard.includes('closed'))
      expect(heard).toEqual(code === 1002 ? ['text', 'text', 'error', 'closed'] : ['text', 'text', 'closed'])
      await system.shutdown()
    }))

  test(`an owner's answers to a peer that then ${what} leave before it is closed`, () =>
    leakless(async () => {
      const system = hostSystem()
      const owner = system.spawn(
        receive<OwnedWebSocketEvent>(async (_ctx, m) => {
          if (m.type !== 'text') return same
          await new Promise((resolve) => setImmediate(resolve))
          m.connection.tell({ type: 'send', data: m.text.toUpperCase() })
          return same
        }),
      )
      const { port } = await serve(system, { owner })
      const client = new Client(port)
      await client.answered()
      client.socket.write(Buffer.concat([text('one'), text('two'), end]))
      await until(() => client.closed)
      expect(client.frames.map(([opcode, payload]) => (opcode === 8 ? code : payload))).toEqual(['ONE', 'TWO', code])
      await system.shutdown()
    }))
}

test('an unhandled violation fails the actor, and the peer receives its close code', () =>
  leakless(async () => {
    const system = hostSystem()
    const { port } = await serve(system, { handler: () => receive<WebSocketEvent>((_ctx, m) => (m.type === 'error' ? unhandled : same)) })
    const client = new Client(port)
    await client.answered()
    client.socket.write(violation)
    await until(() => client.closed)
    expect(client.frames).toEqual([[8, '\u0003\u00EA']])
    await system.shutdown()
  }))

/** One message, as frames of `size` bytes. */
function fragments(size: number, count: number): Buffer {
  const part = Buffer.alloc(size, 'x')
  return Buffer.concat(Array.from({ length: count }, (_, i) => frame((i === 0 ? 2 : 0) | (i === count - 1 ? 0x80 : 0), part)))
}

// Autobahn's 9.4.1, 9.4.2; 9.3.1 and 9.3.2 differ in the opcode only.
test.each([64, 256])('a message of 4 MiB in fragments of %i bytes comes as one', (size) =>
  leakless(async () => {
    const system = hostSystem()
    const total = 4 * 1024 * 1024
    let got = 0
    const { port } = await serve(system, {
      maxMessage: total,
      handler: (connection) =>
        receive((_ctx, m) => {
          if (m.type === 'binary') {
            got = m.data.length
            connection.close()
          }
          return same
        }),
    })
    const client = new Client(port)
    await client.answered()
    client.socket.write(fragments(size, total / size))
    await until(() => got > 0 || client.closed)
    expect(got).toBe(total)
    client.socket.destroy()
    await system.shutdown()
  }),
)

test('fragments so small that they would cost many times their message are refused', () =>
  leakless(async () => {
    const system = hostSystem()
    const { port } = await serve(system, { handler: () => receive<WebSocketEvent>(() => same) })
    const client = new Client(port)
    await client.answered()
    client.socket.write(fragments(1, 20_000))
    await until(() => client.closed)
    expect(client.frames.at(-1)![0]).toBe(8)
    await system.shutdown()
  }))

test('a client of websocket.connect answers what came before the server closed', () =>
  leakless(async () => {
    const { WebSocketServer } = await import('ws')
    const { websocket } = await import('@troupe/node')
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const answers: string[] = []
    server.on('connection', (peer: WebSocket) => {
      peer.on('message', (data) => answers.push((data as Buffer).toString()))
      peer.send('one')
      peer.send('two')
      peer.close(1000)
    })
    const system = hostSystem()
    const { port } = server.address() as { port: number }
    const client = system.spawn(
      websocket.connect(`ws://127.0.0.1:${port}`, {
        handler: (connection) =>
          receive<WebSocketEvent>(async (_ctx, m) => {
            if (m.type !== 'text') return same
            await new Promise((resolve) => setImmediate(resolve))
            connection.send(m.text.toUpperCase())
            return same
          }),
      }),
    )
    await system.whenTerminated(client)
    await until(() => answers.length === 2)
    expect(answers).toEqual(['ONE', 'TWO'])
    await system.shutdown()
    await new Promise((resolve) => server.close(resolve))
  }))
