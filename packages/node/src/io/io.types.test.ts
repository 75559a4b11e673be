// What the compiler promises about I/O: owners hear just what they can be told, and connections take just their commands.

import type { Duplex } from 'node:stream'
import {
  adopt,
  type BodyEvent,
  childProcess,
  type Connection,
  type ConnectionCommand,
  type ConnectionEvent,
  type Endpoint,
  type ExchangeCommand,
  file,
  http,
  type HttpEvent,
  type IoError,
  type LineCommand,
  type LineEvent,
  type ListenerCommand,
  type ListenerEvent,
  osSignals,
  type OsSignal,
  type OwnedWebSocketEvent,
  type ProcessCommand,
  type ProcessEvent,
  type ReadinessCommand,
  type ReadinessEvent,
  type ReadResult,
  respRequests,
  type SocketEvent,
  stdinLines,
  tcp,
  tls,
  udp,
  type UdpCommand,
  type UdpEvent,
  type WatchEvent,
  websocket,
  type WebSocketCommand,
  type WebSocketConnection,
  type WebSocketEvent,
} from '@troupe/node'
import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { expectTypeOf, test } from 'vitest'

declare const signals: ActorRef<OsSignal>
declare const listenersOnly: ActorRef<ListenerEvent>
declare const listens: ActorRef<ListenerEvent | ConnectionEvent>
declare const hears: ActorRef<ConnectionEvent>
declare const readies: ActorRef<ReadinessEvent>
declare const ready: ActorRef<ReadinessCommand>
declare const strings: ActorRef<string>
declare const connection: ActorRef<ConnectionCommand>
declare const listener: ActorRef<ListenerCommand>
declare const duplex: Duplex

/** Checked by the compiler; never run. */
const compiles = (_body: () => void): void => {}

test('a handler receives socket events, and may understand more on an outgoing connection', () => {
  compiles(() => {
    tcp.listen({
      port: 0,
      handler: (c) => {
        expectTypeOf(c).toEqualTypeOf<Connection>()
        return receive((_ctx, m) => {
          expectTypeOf(m).toEqualTypeOf<SocketEvent>()
          if (m.type === 'data') expectTypeOf(m.chunk).toEqualTypeOf<Buffer>()
          if (m.type === 'error') expectTypeOf(m.error).toEqualTypeOf<IoError>()
          // @ts-expect-error only `closed` has a reason
          void m.reason
          return same
        })
      },
    })
    const client = tcp.connect({ port: 1, handler: () => receive<SocketEvent | { type: 'mine' }>(() => same) })
    expectTypeOf(client).toExtend<Behavior<{ type: 'mine' }>>()
    // @ts-expect-error an accepted connection is told socket events and nothing else
    tcp.listen({ port: 0, handler: () => receive<{ type: 'mine' }>(() => same) })
    // @ts-expect-error a handler makes a behavior
    tcp.listen({ port: 0, handler: () => 5 })
  })
})

test('owners must understand what they will be told', () => {
  compiles(() => {
    expectTypeOf(tcp.listen({ port: 0, owner: listens })).toEqualTypeOf<Behavior<ListenerCommand>>()
    expectTypeOf(tcp.connect({ port: 1, owner: hears })).toEqualTypeOf<Behavior<ConnectionCommand>>()
    expectTypeOf(tls.connect({ port: 1, owner: hears, tls: {} })).toEqualTypeOf<Behavior<ConnectionCommand>>()
    expectTypeOf(adopt(duplex, { owner: hears, interest: ['data'] })).toEqualTypeOf<Behavior<ConnectionCommand>>()
    expectTypeOf(adopt(3, { owner: readies, interest: ['readable', 'closed'] })).toEqualTypeOf<Behavior<ReadinessCommand>>()
    expectTypeOf(ready.ask({ type: 'read', n: 4 })).resolves.toEqualTypeOf<ReadResult>()
    expectTypeOf(file.append('x')).toEqualTypeOf<Behavior<ConnectionCommand>>()
    expectTypeOf(file.watch('x', { owner: null! as ActorRef<WatchEvent> })).toEqualTypeOf<Behavior<never>>()
    expectTypeOf(stdinLines({ owner: null! as ActorRef<LineEvent> })).toEqualTypeOf<Behavior<LineCommand>>()
    expectTypeOf(udp.bind({ owner: null! as ActorRef<UdpEvent> })).toEqualTypeOf<Behavior<UdpCommand>>()
    expectTypeOf(childProcess('x', { owner: null! as ActorRef<ProcessEvent> })).toEqualTypeOf<Behavior<ProcessCommand>>()
    expectTypeOf(osSignals({ owner: signals })).toEqualTypeOf<Behavior<never>>()
    // @ts-expect-error the owner of a listener hears of connections too
    tcp.listen({ port: 0, owner: listenersOnly })
    // @ts-expect-error it does not understand connections
    tcp.connect({ port: 1, owner: strings })
    // @ts-expect-error nor files
    file.read('x', { owner: strings })
    // @ts-expect-error nor datagrams
    udp.bind({ owner: strings })
    // @ts-expect-error nor processes
    childProcess('x', { owner: strings })
    // @ts-expect-error nor requests
    http.serve({ owner: strings })
    // @ts-expect-error someone has to hear of it
    tcp.connect({ port: 1 })
    // @ts-expect-error TLS needs to be told of certificates
    tls.listen({ port: 0, owner: listens })
    // @ts-expect-error there is no such event
    adopt(duplex, { owner: hears, interest: ['datum'] })
    // @ts-expect-error one reads by itself, or has everything told
    adopt(duplex, { owner: readies, interest: ['readable', 'data'] })
    // @ts-expect-error there are no credits for what the owner reads
    adopt(duplex, { owner: readies, interest: ['readable'], credits: 4 })
    // @ts-expect-error this owner understands no notices
    adopt(duplex, { owner: hears, interest: ['readable'] })
  })
})

test('commands carry what they need, and questions infer their answers', () => {
  compiles(() => {
    connection.tell({ type: 'write', data: 'text' })
    connection.tell({ type: 'write', data: new Uint8Array() })
    connection.tell({ type: 'own', owner: hears })
    expectTypeOf(connection.ask({ type: 'flush' })).toEqualTypeOf<Promise<{ readonly type: 'flushed' }>>()
    expectTypeOf(listener.ask({ type: 'address' })).toEqualTypeOf<Promise<Endpoint>>()
    // @ts-expect-error nothing to write
    connection.tell({ type: 'write' })
    // @ts-expect-error numbers are not written
    connection.tell({ type: 'write', data: 5 })
    // @ts-expect-error an owner must understand connections
    connection.tell({ type: 'own', owner: strings })
    // @ts-expect-error a write is not answered
    void connection.ask({ type: 'write', data: 'x' })
    // @ts-expect-error a listener is not written to
    listener.tell({ type: 'write', data: 'x' })
  })
})

test('options are checked by name and kind', () => {
  compiles(() => {
    tcp.listen({ path: '/tmp/x', owner: listens, credits: 4, ack: 'manual', halfOpen: true, idleTimeout: 1000 })
    // @ts-expect-error misspelt
    tcp.listen({ port: 0, owner: listens, idleTimeOut: 5 })
    // @ts-expect-error a number
    tcp.listen({ port: '80', owner: listens })
    // @ts-expect-error one of two words
    tcp.listen({ port: 0, owner: listens, ack: 'never' })
    // @ts-expect-error 4 or 6
    udp.bind({ owner: null! as ActorRef<UdpEvent>, version: 5 })
    // @ts-expect-error a signal of the operating system
    osSignals({ signals: ['SIGNONE'] })
  })
})

test('an HTTP request brings its exchange, which takes answers and a reader of the body', () => {
  compiles(() => {
    const owner = receive<HttpEvent>((_ctx, m) => {
      if (m.type !== 'request') return same
      expectTypeOf(m.exchange).toEqualTypeOf<ActorRef<ExchangeCommand>>()
      expectTypeOf(m.query).toEqualTypeOf<URLSearchParams>()
      m.exchange.tell({ type: 'respond', status: 200, headers: { 'content-type': 'text/plain' }, body: 'hello' })
      m.exchange.tell({ type: 'read', to: null! as ActorRef<BodyEvent> })
      // @ts-expect-error a status is a number
      m.exchange.tell({ type: 'respond', status: 'ok' })
      // @ts-expect-error who reads must understand chunks
      m.exchange.tell({ type: 'read', to: strings })
      return same
    })
    expectTypeOf(owner).toEqualTypeOf<Behavior<HttpEvent>>()
  })
})

test('a WebSocket speaks of text and binary, and takes send and close', () => {
  compiles(() => {
    const socket: ActorRef<WebSocketCommand> = null!
    socket.tell({ type: 'send', data: 'text' })
    socket.tell({ type: 'close', code: 1000 })
    // @ts-expect-error WebSockets are sent to, not written to
    socket.tell({ type: 'write', data: 'x' })
    expectTypeOf(websocket.connect('ws://x', { owner: null! as ActorRef<OwnedWebSocketEvent> })).toEqualTypeOf<Behavior<WebSocketCommand>>()
    // @ts-expect-error the events of a socket are not those of a WebSocket
    websocket.connect('ws://x', { owner: hears })
    websocket.connect('ws://x', {
      handler: (c) => {
        expectTypeOf(c).toEqualTypeOf<WebSocketConnection>()
        return receive((_ctx, m: WebSocketEvent) => {
          if (m.type === 'text') expectTypeOf(m.text).toBeString()
          return same
        })
      },
    })
  })
})

test('a decoder of requests gives arguments of the kind it is told to make', () => {
  compiles(() => {
    expectTypeOf(respRequests().push(Buffer.alloc(0))).toEqualTypeOf<string[][]>()
    expectTypeOf(respRequests({ argument: (bytes, from, to) => bytes.subarray(from, to) }).push(Buffer.alloc(0))).toEqualTypeOf<Buffer[][]>()
  })
})
