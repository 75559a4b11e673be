// Numbers and bytes that users hand to I/O: what is wrong is refused with a clear error, and no bound is switched off by it.

import { once } from 'node:events'
import { connect } from 'node:net'
import {
  adopt,
  type BodyEvent,
  childProcess,
  type Connection,
  type ConnectionEvent,
  http,
  type HttpEvent,
  lengthPrefixed,
  lines,
  type OwnedWebSocketEvent,
  type ProcessEvent,
  respReplies,
  respRequests,
  type SocketEvent,
  tcp,
  threads,
  udp,
  type UdpEvent,
  websocket,
} from '@troupe/node'
import { createTestKit } from '@troupe/testkit'
import { ActorSystem, type Behavior, InvalidOption, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { hostSystem, inbox, Inbox, leakless } from './inbox.ts'
import { pair } from './stream-pair.ts'

const notNumbers = [NaN, Infinity, -Infinity, -1, 0, 1.5, '16', null, {}] as unknown as number[]
const notBytes = [
  [1, 2, 3],
  7,
  null,
  undefined,
  {},
  { length: 3 },
  new ArrayBuffer(3),
  new DataView(new ArrayBuffer(3)),
  new Float64Array(1),
] as never[]

interface Logged {
  readonly cause?: unknown
}

function recording(): { readonly causes: unknown[]; readonly options: Parameters<typeof hostSystem>[0] } {
  const causes: unknown[] = []
  const log = ({ cause }: Logged): void => {
    if (cause !== undefined) causes.push(cause)
  }
  return { causes, options: { logger: { debug: log, info: log, warn: log, error: log } } }
}

test.each(notNumbers)('a body that is to be read with %s credits is refused, and its client is told', (credits) =>
  leakless(async () => {
    const { causes, options } = recording()
    const system = hostSystem(options)
    const reader = new Inbox<BodyEvent>()
    const to = system.spawn(reader.behavior())
    const owner = system.spawn(
      receive<HttpEvent>((_ctx, m) => {
        if (m.type === 'request') m.exchange.tell({ type: 'read', to, credits })
        return same
      }),
    )
    const server = system.spawn(http.serve({ port: 0, owner, body: 'stream' }))
    const { port } = await server.ask({ type: 'address' })
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'x', headers: { connection: 'close' } })
    expect(answer.status).toBe(500)
    expect(reader.seen).toEqual([])
    expect(causes).toEqual([expect.objectContaining({ code: 'invalid-option', option: 'credits' })])
    await system.shutdown()
  }),
)

test.each([
  { type: 'respond', status: 200, body: [1, 2, 3] },
  { type: 'respond', status: NaN },
  { type: 'respond', status: 200, headers: { good: 'x', bad: 'a\nb' } },
  { type: 'write', data: [1, 2, 3] },
  { type: 'end', data: 7 },
] as never[])('an answer that cannot be sent is a 500: %j', (answer) =>
  leakless(async () => {
    const { causes, options } = recording()
    const system = hostSystem(options)
    const owner = system.spawn(
      receive<HttpEvent>((_ctx, m) => {
        if (m.type === 'request') m.exchange.tell(answer)
        return same
      }),
    )
    const server = system.spawn(http.serve({ port: 0, owner }))
    const { port } = await server.ask({ type: 'address' })
    const got = await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })
    expect([got.status, got.headers.get('good')]).toEqual([500, null])
    expect(causes.length).toBe(1)
    await system.shutdown()
  }),
)

test('a datagram that is no bytes is refused, and maxBuffered still bounds those that are', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<UdpEvent>(system)
    const socket = system.spawn(udp.bind({ owner: owner.ref, maxBuffered: 2000 }))
    const { address } = await owner.next('bound')
    for (const data of notBytes) {
      socket.tell({ type: 'send', data, port: address.port! })
      const { code, error } = await owner.next('error')
      expect(code).toBe('invalid-option')
      expect(error.message).toMatch(/^Cannot send a datagram: Option data is .*: use text or a Uint8Array\. \(invalid-option\)/)
    }
    expect(await socket.ask({ type: 'flush' })).toEqual({ type: 'flushed' })
    for (let i = 0; i < 100; i++) socket.tell({ type: 'send', data: Buffer.alloc(100), port: address.port!, host: 'localhost' })
    expect((await owner.next('sends-dropped')).count).toBeGreaterThan(0)
    await system.shutdown()
  }))

test('a write that is no bytes is an error for the owner, and the connection goes on', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const { near, far } = pair()
  const connection = kit.system.spawn(adopt(near, { owner: probe.ref }))
  await kit.settle()
  for (const data of notBytes) {
    connection.tell({ type: 'write', data })
    if (data !== undefined) connection.tell({ type: 'end', data })
    await kit.settle()
    expect(probe.expectType('error').code).toBe('invalid-option')
    if (data !== undefined) expect(probe.expectType('error').code).toBe('invalid-option')
  }
  connection.tell({ type: 'own', owner: 'nobody' as never })
  connection.tell({ type: 'write', data: new Uint8Array([104, 105]) })
  await kit.settle()
  expect(probe.expectType('error').error.message).toMatch(/Option owner is .*use an ActorRef/)
  expect(String(far.read())).toBe('hi')
  await kit.end()
})

test('an actor that writes no bytes to its own socket is told where it does so', () =>
  leakless(async () => {
    const system = hostSystem()
    const thrown: unknown[] = []
    const handler = (connection: Connection): Behavior<SocketEvent> => {
      for (const data of notBytes) {
        try {
          connection.write(data)
        } catch (cause) {
          thrown.push(cause)
        }
      }
      connection.end('done')
      return receive(() => same)
    }
    const listener = system.spawn(tcp.listen({ port: 0, handler }))
    const { port } = await listener.ask({ type: 'address' })
    const socket = connect(port!, '127.0.0.1')
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('done')
    expect(thrown.length).toBe(notBytes.length)
    for (const cause of thrown) expect(cause).toBeInstanceOf(InvalidOption)
    socket.destroy()
    await system.shutdown()
  }))

test('a WebSocket refuses what is no message, and ways to close that there are not; it goes on, and is bounded before its handshake too', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<HttpEvent | OwnedWebSocketEvent>(system)
    const other = inbox<OwnedWebSocketEvent>(system)
    system.spawn(http.serve({ port: 0, owner: owner.ref, websocket: { owner: other.ref } }))
    const { address } = await owner.next('listening')
    const connection = system.spawn(websocket.connect(`ws://127.0.0.1:${address.port}`, { owner: owner.ref, maxBuffered: 1000 }))
    const commands = [
      ...notBytes.map((data) => ({ type: 'send', data }) as const),
      ...[999, 1005, 1006, 2000, 5000, NaN, 1000.5, '1000' as never].map((code) => ({ type: 'close', code }) as const),
      { type: 'close', reason: 'x'.repeat(124) } as const,
    ]
    for (const round of ['before', 'after']) {
      for (const command of commands) connection.tell(command)
      for (const _ of commands) expect((await owner.next('error')).code).toBe('invalid-option')
      connection.tell({ type: 'send', data: round })
      expect((await other.next('text')).text).toBe(round)
    }
    const early = system.spawn(websocket.connect(`ws://127.0.0.1:${address.port}`, { owner: owner.ref, maxBuffered: 1000 }))
    // 600 characters, 1,800 bytes.
    for (let i = 0; i < 3; i++) early.tell({ type: 'send', data: '€'.repeat(200) })
    expect((await owner.next('error')).code).toBe('write-overflow')
    await system.shutdown()
  }))

test('a child process is written bytes only; what it never takes is told once, and killing it asks for that', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ProcessEvent>(system)
    const cat = system.spawn(childProcess('cat', { owner: owner.ref }))
    for (const data of notBytes) {
      cat.tell({ type: 'write', data })
      expect((await owner.next('error')).code).toBe('invalid-option')
    }
    cat.tell({ type: 'write', data: 'abc' })
    cat.tell({ type: 'end' })
    cat.tell({ type: 'write', data: 'too late' })
    cat.tell({ type: 'write', data: 'and again' })
    expect((await owner.next('error')).code).toBe('write-refused')
    expect((await owner.next('stdout')).chunk.toString()).toBe('abc')
    await owner.next('exited')
    const quits = system.spawn(childProcess('true', { owner: owner.ref }))
    quits.tell({ type: 'write', data: Buffer.alloc(1_000_000) })
    expect(['EPIPE', 'write-lost']).toContain((await owner.next('error')).code)
    await owner.next('exited')
    const killed = system.spawn(childProcess('sleep', { args: ['60'], owner: owner.ref }))
    killed.tell({ type: 'write', data: Buffer.alloc(1_000_000) })
    killed.tell({ type: 'kill' })
    await owner.next('exited')
    expect(owner.seen.filter((m) => m.type === 'error')).toEqual([])
    await system.shutdown()
  }))

test('a decoder whose bound is no number is refused where it is made', () => {
  for (const value of notNumbers.filter((n) => n !== Infinity)) {
    for (const make of [
      () => lines({ maxLength: value }),
      () => lengthPrefixed({ maxLength: value }),
      () => lengthPrefixed({ prefix: value as 4 }),
      () => respReplies({ maxBulk: value }),
      () => respReplies({ maxElements: value }),
      () => respReplies({ maxDepth: value }),
      () => respReplies({ maxLine: value }),
      () => respRequests({ maxArguments: value }),
      () => respRequests({ maxBulk: value }),
      () => respRequests({ maxCommand: value }),
      () => respRequests({ maxInline: value }),
    ])
      expect(make).toThrow(InvalidOption)
  }
  expect(() => lines({ maxLenght: 5 } as never)).toThrow(/knows no such option/)
})

test('a bound on messages that 32 bits do not hold is refused, for it would bound nothing', () => {
  const owner = { tell: () => {} } as never
  for (const maxMessage of [2 ** 31, 2 ** 32, 2 ** 53 - 1]) expect(() => websocket.connect('ws://x', { owner, maxMessage })).toThrow(InvalidOption)
  websocket.connect('ws://x', { owner, maxMessage: Infinity })
  websocket.connect('ws://x', { owner, maxMessage: 2 ** 31 - 1 })
})

test('threads are refused to a system whose time is not that of the host', async () => {
  const kit = createTestKit()
  expect(() => threads(kit.system)).toThrow('cannot have threads: it runs on a virtual runtime')
  const manual = ActorSystem.create('by-hand', { runtime: 'manual' })
  expect(() => threads(manual)).toThrow('cannot have threads: it runs on a manual runtime')
  await kit.end()
})
