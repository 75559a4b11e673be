import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as rawConnect } from 'node:net'
import { connect as rawTls } from 'node:tls'
import { type ConnectionEvent, type ListenerEvent, type SocketEvent, tls } from '@troupe/node'
import { type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { hostSystem, inbox, leakless } from './inbox.ts'

// A certificate made for these tests alone; it guards nothing.
const pem = (name: string): Buffer => readFileSync(new URL(`./fixtures/${name}.pem`, import.meta.url))
const secured = { key: pem('key'), cert: pem('cert') }

const echo = (connection: { write(data: Uint8Array): boolean }): Behavior<SocketEvent> =>
  receive((_ctx, m) => {
    if (m.type === 'data') connection.write(m.chunk)
    return same
  })

test('TLS has the surface of TCP: both ends as actors, connected after the handshake', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    const listener = system.spawn(tls.listen({ port: 0, tls: secured, handler: echo }))
    const { port } = await listener.ask({ type: 'address' })
    const client = system.spawn(tls.connect({ port, tls: { ca: secured.cert, servername: 'localhost' }, owner: owner.ref }))
    await owner.next('connected')
    client.tell({ type: 'write', data: 'secret' })
    expect((await owner.next('data')).chunk.toString()).toBe('secret')
    client.tell({ type: 'end' })
    await owner.next('closed')
    await system.shutdown()
  }))

test('a certificate that is not trusted is an error with its code', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    const listener = system.spawn(tls.listen({ port: 0, tls: secured, handler: echo }))
    const { port } = await listener.ask({ type: 'address' })
    system.spawn(tls.connect({ port, tls: { servername: 'localhost' }, owner: owner.ref }))
    expect((await owner.next('error')).code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    await owner.next('closed')
    await system.shutdown()
  }))

test('a peer that does not speak TLS is refused, and the listener goes on', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ListenerEvent | ConnectionEvent>(system)
    system.spawn(tls.listen({ port: 0, tls: secured, handler: echo, owner: owner.ref }))
    const { port } = (await owner.next('listening')).address
    const liar = rawConnect(port!, '127.0.0.1')
    liar.on('error', () => {})
    liar.write('GET / HTTP/1.1\r\n\r\n')
    expect((await owner.next('refused')).code).toMatch(/^ERR_SSL|ECONNRESET|io-error/)
    liar.destroy()
    const honest = rawTls({ port: port!, host: '127.0.0.1', ca: secured.cert, servername: 'localhost' })
    honest.write('hi')
    const [chunk] = (await once(honest, 'data')) as [Buffer]
    expect(chunk.toString()).toBe('hi')
    honest.destroy()
    await system.shutdown()
  }))
