// HTTP, WebSockets, TCP and UDP over a network that delays, splits, stalls, ends and resets connections by a seed, or loses, doubles and
// reorders datagrams: every request settles, what arrives is the beginning of what was sent, an answer that is complete is the whole answer,
// and all that a connection had is given back by the limits of this side, though the other never says a word.

import { Agent, type IncomingMessage, request } from 'node:http'
import {
  type ConnectionEvent,
  http,
  type HttpEvent,
  type SocketEvent,
  tcp,
  udp,
  type UdpCommand,
  type UdpEvent,
  websocket,
  type WebSocketEvent,
} from '@troupe/node'
import { type ActorRef, type ActorSystem, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import { expect, test } from 'vitest'
import { chance, type Fault, FaultProxy, faults, LossyRelay } from '../../../tools/fault-proxy.ts'
import { hostSystem, inbox, leakless, until } from './inbox.ts'

const runs = Number(process.env['TROUPE_RUNS'] ?? 6)
const seeds = Array.from({ length: runs }, (_, i) => i + 1)

/** Bytes that tell by themselves where they belong. */
const bytes = (length: number, salt: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 31 + salt) % 251))

/** The seed stands in the message of what fails. */
async function withSeed(seed: number, body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (cause) {
    throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause })
  }
}

// HTTP

type Upload =
  | { readonly type: 'body-chunk'; readonly chunk: Buffer }
  | { readonly type: 'body-ended' }
  | { readonly type: 'body-aborted'; readonly code: string }

/** Takes a body in parts, and sends it back when it has ended. */
const sendingBack = (exchange: Extract<HttpEvent, { type: 'request' }>['exchange']): Behavior<Upload> =>
  setup<Upload>((ctx) => {
    const parts: Buffer[] = []
    exchange.tell({ type: 'read', to: ctx.self })
    return receive((_ctx, m) => {
      if (m.type === 'body-chunk') {
        parts.push(m.chunk)
        return same
      }
      if (m.type === 'body-ended') exchange.tell({ type: 'respond', status: 201, body: Buffer.concat(parts) })
      return stopped
    })
  })

/** Answers `/whole/n` with n bytes, `/parts/n` with the same in parts, and a body with itself. */
const answering = (streamed: boolean): Behavior<HttpEvent> =>
  receive((ctx, m) => {
    if (m.type !== 'request') return same
    const { exchange } = m
    const [, way, size] = m.path.split('/')
    const body = bytes(Number(size), Number(size))
    if (m.method === 'POST' && streamed) ctx.spawn(sendingBack(exchange))
    else if (m.method === 'POST') exchange.tell({ type: 'respond', status: 201, body: m.body })
    else if (way === 'whole') exchange.tell({ type: 'respond', status: 200, body })
    else {
      exchange.tell({ type: 'head', status: 200 })
      for (let i = 0; i < body.length; i += 700) exchange.tell({ type: 'write', data: body.subarray(i, i + 700) })
      exchange.tell({ type: 'end' })
    }
    return same
  })

interface Asked {
  readonly status: number
  readonly body: Buffer
  readonly complete: boolean
}

/** One request; undefined where it failed before an answer began. Gives up by itself, as clients do. */
function ask(port: number, agent: Agent, path: string, upload: Buffer | undefined, chunked: boolean): Promise<Asked | undefined> {
  return new Promise((resolve) => {
    const settle = (response?: IncomingMessage, parts: Buffer[] = []): void =>
      resolve(response && { status: response.statusCode!, body: Buffer.concat(parts), complete: response.complete })
    const sent = request({ port, host: '127.0.0.1', agent, path, method: upload === undefined ? 'GET' : 'POST' }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', () => settle(response, parts))
      response.on('close', () => settle(response, parts))
    })
    sent.setTimeout(1500, () => sent.destroy())
    sent.on('error', () => settle())
    if (upload !== undefined && chunked) {
      for (let i = 0; i < upload.length; i += 500) sent.write(upload.subarray(i, i + 500))
      sent.end()
    } else sent.end(upload)
  })
}

test.each(['collect', 'stream'] as const)(
  'HTTP, bodies %sed: every request settles, a complete answer is the right one, and the server is rid of all of it by itself',
  (body) =>
    leakless(async () => {
      let answered = 0
      const seen = new Set<Fault>()
      for (const seed of seeds)
        await withSeed(seed, async () => {
          const random = chance(seed)
          const system = hostSystem()
          const owner = system.spawn(answering(body === 'stream'))
          const server = system.spawn(http.serve({ port: 0, owner, body, responseTimeout: 400, requestTimeout: 400, idleTimeout: 400 }))
          const { port } = await server.ask({ type: 'address' })
          const proxy = await FaultProxy.start(port!, { seed, within: 8000 })
          const agent = new Agent({ keepAlive: seed % 2 === 0, maxSockets: 4 })
          const one = async (): Promise<void> => {
            const size = Math.floor(20_000 ** random())
            const upload = random() < 0.5 ? bytes(size, 7) : undefined
            const answer = await ask(proxy.port, agent, `/${random() < 0.5 ? 'whole' : 'parts'}/${size}`, upload, random() < 0.5)
            if (answer === undefined || answer.status >= 400) return
            const expected = upload ?? bytes(size, size)
            expect(expected.subarray(0, answer.body.length).equals(answer.body)).toBe(true)
            if (answer.complete) {
              answered++
              expect(answer.body.length).toBe(expected.length)
            }
          }
          await Promise.all(Array.from({ length: 24 }, one))
          for (const { fault } of proxy.plans) seen.add(fault)
          agent.destroy()
          // A stalled connection does not report that the client has left.
          await until(() => system.counts().active === 2)
          proxy.heal()
          const calm = new Agent()
          let after: Asked | undefined
          // A machine that stands still for the limits of this server gets 504.
          for (let i = 0; i < 50 && after?.status !== 200; i++) after = await ask(proxy.port, calm, '/whole/10000', undefined, false)
          expect([after?.status, after?.complete, after?.body.length]).toEqual([200, true, 10_000])
          calm.destroy()
          await system.shutdown()
          await proxy.close()
        })
      // All that is said above is worth something only if there was something to harm, and something that came through.
      expect(answered).toBeGreaterThan(runs)
      expect([...seen].sort()).toEqual([...faults].sort())
    }),
)

// Connections

const pattern = (at: number, length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (at + i) % 251))

test('TCP: what comes back is the beginning of what was sent, and both actors of a harmed connection end', () =>
  leakless(async () => {
    let whole = 0
    for (const seed of seeds)
      await withSeed(seed, async () => {
        const random = chance(seed)
        const system = hostSystem()
        const handler = (connection: { write(data: Uint8Array): boolean }): Behavior<SocketEvent> =>
          receive((_ctx, m) => {
            if (m.type === 'data') connection.write(m.chunk)
            return same
          })
        const listener = system.spawn(tcp.listen({ port: 0, handler, idleTimeout: 300 }))
        const { port } = await (listener as ActorRef<{ type: 'address'; replyTo: ActorRef<{ port?: number }> }>).ask({ type: 'address' })
        const proxy = await FaultProxy.start(port!, { seed })
        const ends = Array.from({ length: 12 }, async () => {
          const length = Math.floor(30_000 ** random())
          let got = 0
          const box = inbox<{ type: 'over' }>(system)
          const owner = system.spawn(
            receive<ConnectionEvent>((_ctx, m) => {
              if (m.type === 'connected')
                for (let at = 0; at < length; at += 1000) m.connection.tell({ type: 'write', data: pattern(at, Math.min(1000, length - at)) })
              if (m.type === 'data') {
                expect(pattern(got, m.chunk.length).equals(m.chunk)).toBe(true)
                got += m.chunk.length
                if (got === length) {
                  whole++
                  m.connection.tell({ type: 'end' })
                }
              }
              if (m.type !== 'closed') return same
              box.ref.tell({ type: 'over' })
              return stopped
            }),
          )
          const connection = system.spawn(tcp.connect({ port: proxy.port, owner, idleTimeout: 300 }))
          await box.next('over')
          await system.whenTerminated(connection)
          system.stop(box.ref)
        })
        await Promise.all(ends)
        expect(system.failures.list().filter(({ cause }) => (cause as Error).name === 'AssertionError')).toEqual([])
        await until(() => system.counts().active === 1)
        await system.shutdown()
        await proxy.close()
      })
    expect(whole).toBeGreaterThan(runs)
  }))

test('WebSockets: messages come whole and in order up to the fault, and both sides hear of one end', () =>
  leakless(async () => {
    let echoed = 0
    for (const seed of seeds)
      await withSeed(seed, async () => {
        const random = chance(seed)
        const system = hostSystem()
        const accepted: string[] = []
        const server = system.spawn(
          http.serve({
            port: 0,
            owner: system.spawn(receive<HttpEvent>(() => same)),
            requestTimeout: 400,
            idleTimeout: 400,
            websocket: {
              pingEvery: 100,
              handler: (connection) =>
                receive<WebSocketEvent>((_ctx, m) => {
                  if (m.type === 'text') connection.send(m.text)
                  if (m.type === 'closed') accepted.push('closed')
                  return same
                }),
            },
          }),
        )
        const { port } = await server.ask({ type: 'address' })
        const proxy = await FaultProxy.start(port!, { seed })
        const before = system.counts().active
        await Promise.all(
          Array.from({ length: 10 }, async () => {
            const sent = Array.from({ length: 20 }, (_, i) => `${i}:${'x'.repeat(Math.floor(2000 ** random()))}`)
            const got: string[] = []
            let ends = 0
            const box = inbox<{ type: 'over' }>(system)
            const owner = system.spawn(
              receive<WebSocketEvent & { connection: ActorRef<{ type: 'send'; data: string } | { type: 'close' }> }>((_ctx, m) => {
                if (m.type === 'connected') for (const data of sent) m.connection.tell({ type: 'send', data })
                if (m.type === 'text') {
                  got.push(m.text)
                  echoed++
                  if (got.length === sent.length) m.connection.tell({ type: 'close' })
                }
                if (m.type === 'closed') {
                  ends++
                  box.ref.tell({ type: 'over' })
                }
                return same
              }),
            )
            const ref = system.spawn(
              websocket.connect(`ws://127.0.0.1:${proxy.port}/`, { owner: owner as never, connectTimeout: 400, pingEvery: 100, idleTimeout: 600 }),
            )
            await system.whenTerminated(ref)
            await box.next('over')
            expect(got).toEqual(sent.slice(0, got.length))
            expect(ends).toBe(1)
            system.stop(owner)
            system.stop(box.ref)
          }),
        )
        await until(() => system.counts().active === before)
        await system.shutdown()
        await proxy.close()
      })
    expect(echoed).toBeGreaterThan(runs * 20)
  }))

// Datagrams

async function bound(system: ActorSystem, behavior: Behavior<UdpEvent>): Promise<{ socket: ActorRef<UdpCommand>; port: number }> {
  const owner = system.spawn(behavior)
  const socket = system.spawn(udp.bind({ owner, credits: 16 }))
  const { port } = await socket.ask({ type: 'address' })
  return { socket, port: port! }
}

test('UDP: what arrives was sent, whole; a question that is asked again until it is answered gets its answer', () =>
  leakless(async () => {
    for (const seed of seeds)
      await withSeed(seed, async () => {
        const system = hostSystem()
        const echo = await bound(
          system,
          receive((_ctx, m) => {
            if (m.type === 'datagram') m.socket.tell({ type: 'send', data: m.data, port: m.from.port, host: m.from.host })
            return same
          }),
        )
        const relay = await LossyRelay.start(echo.port, { seed })
        const open = new Map(Array.from({ length: 100 }, (_, n) => [n, bytes(1 + ((n * 37) % 1200), n)]))
        const wrong: number[] = []
        let got = 0
        const questions = new Map(open)
        const client = await bound(
          system,
          receive((_ctx, m) => {
            if (m.type !== 'datagram') return same
            got++
            const n = m.data.readUInt16BE()
            if (!questions.get(n)!.equals(m.data.subarray(2))) wrong.push(n)
            open.delete(n)
            return same
          }),
        )
        for (let round = 0; open.size > 0 && round < 1000; round++) {
          for (const [n, data] of open)
            client.socket.tell({ type: 'send', data: Buffer.concat([Buffer.of(n >> 8, n & 255), data]), port: relay.port })
          await client.socket.ask({ type: 'flush' })
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        expect([open.size, wrong]).toEqual([0, []])
        expect([relay.lost > 0, relay.doubled > 0, relay.late > 0, got >= 100]).toEqual([true, true, true, true])
        for (const { socket } of [client, echo]) {
          socket.tell({ type: 'close' })
          await system.whenTerminated(socket)
        }
        await system.shutdown()
        await relay.close()
      })
  }))
