// What breaks I/O that only works on good days: ends before the beginning, peers and owners at the wrong moment, options
// that would silently take a bound away.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as rawConnect, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import {
  adopt,
  childProcess,
  type ConnectionEvent,
  file,
  http,
  type HttpEvent,
  type LineEvent,
  type ListenerEvent,
  osSignals,
  type OwnedWebSocketEvent,
  type ProcessEvent,
  stdinLines,
  tcp,
  udp,
  type UdpEvent,
  websocket,
  type WebSocketEvent,
} from '@troupe/node'
import { createTestKit } from '@troupe/testkit'
import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { scriptArguments } from '../../core/test/script.ts'
import { hostSystem, inbox, leakless, until } from './inbox.ts'

type Event = ListenerEvent | ConnectionEvent

const quiet = (): Behavior<unknown> => receive(() => same)

/** Serves sockets for clients that are to be tested. */
async function rawServer(onSocket: (socket: Socket) => void): Promise<{ readonly port: number; readonly close: () => void }> {
  const server = createServer(onSocket).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as { port: number }).port, close: () => void server.close() }
}

test('a connection that was accepted while its listener was told to stop is closed, although its actor never starts', () =>
  leakless(async () => {
    // On virtual time nothing has a turn until the test says so: the stop is queued before the first turn of the connection.
    const kit = createTestKit()
    const probe = kit.probe<Event>()
    const listener = kit.system.spawn(tcp.listen({ port: 0, owner: probe.ref, handler: quiet }))
    await kit.settle()
    const { address } = probe.expectType('listening')
    listener.stop()
    const client = rawConnect(address.port!, '127.0.0.1')
    client.on('error', () => {})
    await once(client, 'connect')
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    const closed = once(client, 'close')
    client.resume()
    await kit.settle()
    await closed
    await kit.end()
  }))

test('an adopted stream is destroyed with its actor, also with one that is stopped before it starts', async () => {
  const kit = createTestKit()
  const stream = new PassThrough()
  const owner = kit.probe<ConnectionEvent>()
  kit.system.spawn(adopt(stream, { owner: owner.ref })).stop()
  await kit.settle()
  expect(stream.destroyed).toBe(true)
  await kit.end()
})

test('spawn options that are wrong turn peers away with their code, and the log says why', () =>
  leakless(async () => {
    const errors: string[] = []
    const silent = (): void => {}
    const system = hostSystem({ logger: { debug: silent, info: silent, warn: silent, error: (_fields, message) => void errors.push(message) } })
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, handler: quiet, spawn: { name: 'only-one' } }))
    const { port } = (await owner.next('listening')).address
    const [first, second] = [rawConnect(port!, '127.0.0.1'), rawConnect(port!, '127.0.0.1')]
    expect((await owner.next('refused')).code).toBe('name-taken')
    expect(errors).toEqual(['a connection was turned away: its actor could not be spawned'])
    first.destroy()
    second.destroy()
    await system.shutdown()
  }))

test('a listener that is closed before it listens never listens, and whoever asked for its address hears of none', () =>
  leakless(async () => {
    // A slice that no pause of a busy machine uses up: what is told here is then handled before the host goes on.
    const system = hostSystem({ dispatcher: { slice: 60_000 } })
    const owner = inbox<Event>(system)
    const listener = system.spawn(tcp.listen({ port: 0, host: 'localhost', owner: owner.ref }))
    const asked = listener.ask({ type: 'address' })
    listener.tell({ type: 'close' })
    expect(await asked).toEqual({})
    await owner.next('listen-closed')
    expect(owner.seen.filter((m) => m.type === 'listening')).toEqual([])
    const web = inbox<HttpEvent>(system)
    const server = system.spawn(http.serve({ port: 0, host: 'localhost', owner: web.ref }))
    server.tell({ type: 'close' })
    await web.next('listen-closed')
    expect(web.seen.filter((m) => m.type === 'listening')).toEqual([])
    await system.shutdown()
  }))

test('a connect that its owner gives up stays silent: no error, no handle', () =>
  leakless(async () => {
    const { port, close } = await rawServer((socket) => socket.on('error', () => {}))
    const system = hostSystem()
    const owner = inbox<OwnedWebSocketEvent>(system)
    // The server speaks no HTTP, so the handshake is pending for as long as it takes.
    const one = system.spawn(websocket.connect(`ws://127.0.0.1:${port}`, { owner: owner.ref }))
    one.tell({ type: 'close' })
    await owner.next('closed')
    const two = system.spawn(websocket.connect(`ws://127.0.0.1:${port}`, { owner: owner.ref }))
    two.tell({ type: 'destroy' })
    await owner.next('closed')
    expect(owner.seen).toEqual([])
    close()
    await system.shutdown()
  }))

test('what a WebSocket is sent before its handshake is done goes out after it, in order', () =>
  leakless(async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const heard: string[] = []
    server.on('connection', (socket) => socket.on('message', (data: Buffer) => void heard.push(data.toString())))
    const system = hostSystem()
    const owner = inbox<OwnedWebSocketEvent>(system)
    const client = system.spawn(websocket.connect(`ws://127.0.0.1:${(server.address() as { port: number }).port}`, { owner: owner.ref }))
    for (const data of ['a', 'b', 'c']) client.tell({ type: 'send', data })
    await until(() => heard.length === 3)
    expect(heard).toEqual(['a', 'b', 'c'])
    await system.shutdown()
    server.close()
  }))

test('a WebSocket that was paused before its handshake reads nothing until it is resumed', () =>
  leakless(async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    server.on('connection', (socket) => socket.send('early'))
    const system = hostSystem()
    const owner = inbox<OwnedWebSocketEvent>(system)
    const client = system.spawn(websocket.connect(`ws://127.0.0.1:${(server.address() as { port: number }).port}`, { owner: owner.ref }))
    client.tell({ type: 'pause' })
    await owner.next('connected')
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(owner.seen.filter((m) => m.type === 'text')).toEqual([])
    client.tell({ type: 'resume' })
    expect((await owner.next('text')).text).toBe('early')
    await system.shutdown()
    server.close()
  }))

test('a peer whose pings cannot be answered because our own actor is behind is not cut off', () =>
  leakless(async () => {
    const kit = createTestKit()
    const owner = kit.probe<HttpEvent>()
    const seen: string[] = []
    const handler = (connection: { pause(): void }): Behavior<WebSocketEvent> =>
      receive((_ctx, m) => {
        seen.push(m.type)
        connection.pause()
        return same
      })
    kit.system.spawn(http.serve({ port: 0, owner: owner.ref, websocket: { handler, pingEvery: 1000 } }))
    await kit.settle()
    const { address } = owner.expectType('listening')
    const client = new WebSocket(`ws://127.0.0.1:${address.port}`)
    client.on('open', () => client.send('hold me'))
    await until(
      () => seen.length > 0,
      () => kit.settle(),
    )
    for (let i = 0; i < 5; i++) await kit.advance(1000)
    expect(seen).toEqual(['text'])
    const closed = once(client, 'close')
    await kit.end()
    await closed
  }))

test('a child that left its output to a process of its own holds no pipe once its actor has stopped', async () => {
  let left: number | undefined
  try {
    await leakless(async () => {
      const system = hostSystem()
      const owner = inbox<ProcessEvent>(system)
      const child = system.spawn(childProcess('sh', { args: ['-c', 'sleep 600 & echo $!'], owner: owner.ref }))
      const pid = Number((await owner.next('stdout')).chunk.toString())
      expect(pid).toBeGreaterThan(1)
      left = pid
      child.stop()
      await system.whenTerminated(child)
      await system.shutdown()
    })
  } finally {
    // Only now: the pipes were free before it ended.
    if (left !== undefined) process.kill(left)
  }
})

test('lines of an input that has ended already, or was paused, are told all the same', async () => {
  const kit = createTestKit()
  const owner = kit.probe<LineEvent>()
  const gone = new PassThrough()
  gone.destroy()
  await once(gone, 'close')
  kit.system.spawn(stdinLines({ input: gone, owner: owner.ref }))
  await kit.settle()
  owner.expectType('lines-ended')
  const paused = new PassThrough()
  paused.pause()
  kit.system.spawn(stdinLines({ input: paused, owner: owner.ref }))
  await kit.settle()
  paused.end('a\nb')
  for (let i = 0; i < 20; i++) await kit.settle()
  expect([owner.expectType('line').line, owner.expectType('line').line]).toEqual(['a', 'b'])
  owner.expectType('lines-ended')
  owner.expectNone()
  await kit.end()
})

test('lines of standard input that wait for their owner when the reader restarts are not lost', async () => {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!
  const input = new PassThrough()
  Object.defineProperty(process, 'stdin', { value: input, configurable: true })
  const kit = createTestKit()
  const told: string[] = []
  try {
    const owner = kit.system.spawn(
      receive<LineEvent>((_ctx, m) => {
        told.push(m.type === 'line' ? m.line : m.type)
        return same
      }),
    )
    const reader = kit.system.spawn(stdinLines({ owner }))
    await kit.settle()
    kit.system.suspend(owner, 'busy')
    input.write('one\ntwo\n')
    for (let i = 0; i < 20; i++) await kit.settle()
    kit.system.restart(reader)
    await kit.advance(10_000)
    kit.system.resume(owner)
    await kit.settle()
    expect(told).toEqual(['one', 'two'])
    input.end('three\n')
    for (let i = 0; i < 20; i++) await kit.settle()
    expect(told).toEqual(['one', 'two', 'three', 'lines-ended'])
  } finally {
    Object.defineProperty(process, 'stdin', stdin)
  }
  await kit.end()
})

test('standard input goes on for the next incarnation, ends once, and leaves no listener behind', async () => {
  const core = new URL('../../core/dist/index.js', import.meta.url).href
  const io = new URL('../dist/index.js', import.meta.url).href
  const code = `
    const { ActorSystem, receive, same, setup } = await import(${JSON.stringify(core)})
    const { stdinLines } = await import(${JSON.stringify(io)})
    const count = () => ['data', 'end', 'close', 'error'].reduce((n, e) => n + process.stdin.listenerCount(e), 0)
    const before = count()
    const system = ActorSystem.create('in', { logger: false })
    let reader
    const owner = system.spawn(receive((ctx, m) => {
      console.log(m.type === 'line' ? m.line : m.type)
      if (m.line === 'one') system.restart(reader)
      if (m.type === 'lines-ended') setTimeout(async () => { await system.shutdown(); console.log(count() - before) }, 50)
      return same
    }))
    reader = system.spawn(stdinLines({ owner }))
    console.log('up')
  `
  const child = spawn(process.execPath, scriptArguments(code), { stdio: ['pipe', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    if (out === 'up\n') child.stdin.write('one\n')
    // The restart takes its backoff; what is written meanwhile waits in the pipe.
    if (out.endsWith('one\n')) child.stdin.end('two\n')
  })
  // Closed, not just ended: what it printed has come by then.
  await once(child, 'close')
  expect(out.split('\n')).toEqual(['up', 'one', 'two', 'lines-ended', '0', ''])
})

test('signals that cannot be caught fail the actor, and none of the others stays caught', async () => {
  const system = hostSystem()
  const before = process.listenerCount('SIGUSR2')
  const ref = system.spawn(osSignals({ signals: ['SIGUSR2', 'SIGKILL'], shutdown: system }), { supervision: 'stop' })
  await expect(system.started(ref)).rejects.toThrow(/Cannot|could not|start/i)
  expect(process.listenerCount('SIGUSR2')).toBe(before)
  await system.shutdown()
})

test('a datagram that cannot be sent is an error with its code, not the end of the socket', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<UdpEvent>(system)
    const socket = system.spawn(udp.bind({ owner: owner.ref }))
    const { address } = await owner.next('bound')
    socket.tell({ type: 'send', data: 'x', port: 70_000 })
    expect((await owner.next('error')).code).toBe('ERR_SOCKET_BAD_PORT')
    socket.tell({ type: 'send', data: 'still here', port: address.port! })
    expect((await owner.next('datagram')).data.toString()).toBe('still here')
    await system.shutdown()
  }))

test('flush of an HTTP answer is answered however little waits, and an answer in parts is not cut off as overdue', () =>
  leakless(async () => {
    const kit = createTestKit()
    const owner = kit.probe<HttpEvent>()
    const flushed = kit.probe<{ readonly type: 'flushed' }>()
    kit.system.spawn(http.serve({ port: 0, owner: owner.ref, responseTimeout: 1000 }))
    await kit.settle()
    const { address } = owner.expectType('listening')
    const client = rawConnect(address.port!, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await until(
      () => owner.messages.length > 0,
      () => kit.settle(),
    )
    const { exchange } = owner.expectType('request')
    exchange.tell({ type: 'write', data: 'one' })
    exchange.tell({ type: 'flush', replyTo: flushed.ref })
    await until(
      () => flushed.messages.length > 0,
      () => kit.settle(),
    )
    flushed.expectType('flushed')
    await kit.advance(2000)
    exchange.tell({ type: 'end', data: 'two' })
    const closed = once(client, 'close')
    await kit.settle()
    await closed
    expect(text).toMatch(/one[^]*two/)
    await kit.end()
  }))

const ref = { tell: () => {} } as unknown as ActorRef<unknown>

test.each<[string, () => unknown]>([
  ['credits', () => tcp.listen({ port: 0, owner: ref, credits: Number.NaN })],
  ['credits', () => tcp.connect({ port: 1, owner: ref, credits: 0 })],
  ['maxBuffered', () => tcp.connect({ port: 1, owner: ref, maxBuffered: Number.NaN })],
  ['port', () => tcp.listen({ port: 70_000, owner: ref })],
  ['maxConnections', () => tcp.listen({ port: 0, owner: ref, maxConnections: 0 })],
  ['maxRequests', () => http.serve({ owner: ref, maxRequests: 0 })],
  ['port and path', () => tcp.connect({ owner: ref })],
  ['owner and handler', () => tcp.listen({ port: 0 } as never)],
  ['idleTimeout', () => tcp.listen({ port: 0, owner: ref, idleTimeout: 0 })],
  ['linger', () => tcp.listen({ port: 0, owner: ref, linger: -1 })],
  ['ack', () => tcp.listen({ port: 0, owner: ref, ack: 'never' as never })],
  ['idleTimeOut', () => tcp.listen({ port: 0, owner: ref, ...({ idleTimeOut: 5 } as object) })],
  ['owner', () => adopt(new PassThrough(), { owner: undefined as never })],
  ['owner', () => file.read('x', { owner: {} as never })],
  ['chunkSize', () => file.read('x', { owner: ref, chunkSize: 0.5 })],
  ['version', () => udp.bind({ owner: ref, version: 5 as never })],
  ['credits', () => udp.bind({ owner: ref, credits: -1 })],
  ['maxBuffered', () => udp.bind({ owner: ref, maxBuffered: Number.NaN })],
  ['linger', () => udp.bind({ owner: ref, linger: -1 })],
  ['maxBody', () => http.serve({ owner: ref, maxBody: Number.NaN })],
  ['pingEvery', () => http.serve({ owner: ref, websocket: { owner: ref, pingEvery: Number.NaN } })],
  ['url', () => websocket.connect('http://127.0.0.1', { owner: ref })],
  ['killAfter', () => childProcess('true', { owner: ref, killAfter: -1 })],
  ['deadline', () => osSignals({ deadline: Number.NaN })],
  ['maxLength', () => stdinLines({ owner: ref, maxLength: 0 })],
])('a wrong %s is refused before anything is opened', (option, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'invalid-option', option }))
})
