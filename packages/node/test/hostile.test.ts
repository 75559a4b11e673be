// Peers and surroundings that mean harm: what they can make a server keep is bounded, and they take nothing down.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  childProcess,
  type ConnectionEvent,
  file,
  http,
  type HttpEvent,
  type ListenerEvent,
  type OwnedWebSocketEvent,
  type ProcessEvent,
  type SpawnConnection,
  tcp,
  tls,
  type WatchEvent,
} from '@troupe/node'
import { bounded, receive, same, unhandled } from '@troupe/core'
import { expect, test } from 'vitest'
import { scriptArguments } from '../../core/test/script.ts'
import { hostSystem, inbox, Inbox, leakless, until } from './inbox.ts'

type Event = ListenerEvent | ConnectionEvent

// A certificate made for these tests alone; it guards nothing.
const pem = (name: string): Buffer => readFileSync(new URL(`./fixtures/${name}.pem`, import.meta.url))

function client(port: number | undefined): Socket {
  const socket = connect({ port: port!, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  return socket
}

/** Waits until the other side has closed, which a client that is not told otherwise notices when it sends. */
async function cutOff(socket: Socket): Promise<void> {
  await until(() => {
    if (!socket.destroyed) socket.write('more')
    return socket.destroyed
  })
}

test('a WebSocket that sends pings and reads no pongs is cut off at maxBuffered', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<HttpEvent | OwnedWebSocketEvent>(system)
    system.spawn(http.serve({ port: 0, owner: owner.ref, websocket: { owner: owner.ref, maxBuffered: 100_000 } }))
    const socket = client((await owner.next('listening')).address.port)
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n')
    socket.write('sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n')
    await once(socket, 'data')
    socket.pause()
    // A masked ping of 125 bytes, many times.
    const pings = Buffer.concat(Array<Buffer>(1000).fill(Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)])))
    await until(() => {
      if (socket.writableLength < 1_000_000 && !socket.destroyed) socket.write(pings)
      return owner.seen.some((m) => m.type === 'error')
    })
    expect((await owner.next('error')).code).toBe('write-overflow')
    await owner.next('closed')
    socket.destroy()
    await system.shutdown()
  }))

test('peers that are turned away fill no mailbox: the owner is told of some, and how many more there were', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, maxConnections: 1 }))
    const { port } = (await owner.next('listening')).address
    const first = client(port)
    await owner.next('accepted')
    system.suspend(owner.ref, 'busy')
    let closed = 0
    for (let i = 0; i < 200; i++) {
      const socket = client(port)
      socket.resume().on('end', () => socket.destroy())
      socket.on('close', () => closed++)
    }
    await until(() => closed === 200)
    expect((await system.ledger()).queued).toBeLessThanOrEqual(64)
    system.resume(owner.ref)
    const told = (): number => owner.seen.reduce((sum, m) => (m.type === 'refused' ? sum + 1 + m.missed : sum), 0)
    await until(() => told() === 200)
    first.destroy()
    await system.shutdown()
  }))

test('a connection that the mailbox of the owner has no room for is closed, and the listener goes on', () =>
  leakless(async () => {
    const system = hostSystem()
    const box = new Inbox<Event>()
    const owner = system.spawn(box.behavior(), { mailbox: bounded(2, 'reject') })
    const listener = system.spawn(tcp.listen({ port: 0, owner }))
    const { port } = (await box.next('listening')).address
    system.suspend(owner, 'busy')
    const sockets = [client(port), client(port), client(port), client(port)]
    await until(() => system.deadLetters.list().length >= 2)
    for (const socket of sockets) socket.resume()
    await until(() => sockets.filter((socket) => socket.readableEnded || socket.destroyed).length === 2)
    system.resume(owner)
    await box.next('accepted')
    await box.next('accepted')
    const later = client(port)
    await box.next('accepted')
    expect(system.phaseOf(listener)).toBe('running')
    for (const socket of [...sockets, later]) socket.destroy()
    await system.shutdown()
  }))

test.each([
  ['does not handle it', () => unhandled],
  [
    'fails',
    () => {
      throw new Error('a bug')
    },
  ],
])('a connection whose supervisor %s is closed, and told as refused', (_what, handle) =>
  leakless(async () => {
    const quiet = (): void => {}
    const system = hostSystem({ logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } })
    const owner = inbox<Event>(system)
    const supervisor = system.spawn(receive<SpawnConnection>(handle))
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, handler: () => receive(() => same), supervisor }))
    const socket = client((await owner.next('listening')).address.port)
    expect((await owner.next('refused')).code).toBe('not-spawned')
    await cutOff(socket)
    await system.shutdown()
  }),
)

test.each(['tls.listen', 'http.serve'])('a peer that never finishes its TLS handshake does not outlive the listener, %s', (kind) =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event | HttpEvent>(system)
    const options = { port: 0, owner: owner.ref, tls: { key: pem('key'), cert: pem('cert') } }
    system.spawn(kind === 'tls.listen' ? tls.listen(options) : http.serve(options))
    const socket = client((await owner.next('listening')).address.port)
    await once(socket, 'connect')
    socket.write(Buffer.from([22, 3, 1]))
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    await system.shutdown()
    socket.resume()
    await until(() => socket.readableEnded || socket.destroyed)
    socket.destroy()
  }),
)

test('more changed files than anybody looks at are told as one change without a name', () =>
  leakless(async () => {
    const path = mkdtempSync(join(tmpdir(), 'troupe-io-'))
    const system = hostSystem()
    const owner = inbox<WatchEvent>(system)
    const watcher = system.spawn(file.watch(path, { owner: owner.ref }))
    await system.started(watcher)
    system.suspend(owner.ref, 'busy')
    for (let i = 0; i < 3000; i++) writeFileSync(join(path, `file-${i}`), 'x')
    let before = -1
    while ((await system.ledger()).queued !== before) {
      before = (await system.ledger()).queued
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(before).toBeGreaterThan(1000)
    expect(before).toBeLessThan(1100)
    system.resume(owner.ref)
    await until(() => owner.seen.some((m) => m.type === 'changed' && m.name === undefined))
    await system.shutdown()
    rmSync(path, { recursive: true, force: true })
  }))

test('a child process that does not read is one error and its end, however much was written', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ProcessEvent>(system)
    const child = system.spawn(childProcess('sleep', { args: ['60'], owner: owner.ref, maxBuffered: 1000 }))
    await owner.next('started')
    for (let i = 0; i < 20; i++) child.tell({ type: 'write', data: Buffer.alloc(100_000) })
    await owner.next('exited')
    expect(owner.seen.filter((m) => m.type === 'error').length).toBe(1)
    await system.shutdown()
  }))

test('a child process that cannot be started for lack of files is an error with its code, and nothing else ends', async () => {
  const core = new URL('../../core/dist/index.js', import.meta.url).href
  const io = new URL('../dist/index.js', import.meta.url).href
  const code = `
    const { openSync, closeSync } = await import('node:fs')
    const { ActorSystem, receive, same } = await import(${JSON.stringify(core)})
    const { childProcess } = await import(${JSON.stringify(io)})
    const system = ActorSystem.create('files', { logger: false })
    const owner = system.spawn(receive((ctx, m) => {
      seen.push(m.code ?? m.type)
      return same
    }))
    const seen = []
    const open = []
    try { for (;;) open.push(openSync('/dev/null', 'r')) } catch {}
    const child = system.spawn(childProcess('true', { owner }))
    await system.whenTerminated(child)
    for (const fd of open) closeSync(fd)
    console.log(seen.join(' '))
    await system.shutdown()
  `
  const child = spawn('sh', ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, ...scriptArguments(code)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  await once(child, 'exit')
  expect(out).toMatch(/^EMFILE /)
})
