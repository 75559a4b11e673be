import { connect as rawConnect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectionSupervisor, type ConnectionEvent, http, type ListenerEvent, type SocketEvent, tcp } from '@troupe/node'
import { type ActorRef, type ActorSystem, type Behavior, receive, same, supervise, supervisor, unhandled } from '@troupe/core'
import { expect, test } from 'vitest'
import { hostSystem, Inbox, inbox, leakless, until } from './inbox.ts'

type Event = ListenerEvent | ConnectionEvent

const echo = (connection: { write(data: Uint8Array): boolean }): Behavior<SocketEvent> =>
  receive((_ctx, m) => {
    if (m.type === 'data') connection.write(m.chunk)
    return same
  })

async function portOf(listener: ActorRef<{ type: 'address'; replyTo: ActorRef<{ port?: number | undefined }> }>): Promise<number> {
  return (await listener.ask({ type: 'address' })).port!
}

async function text(socket: Socket): Promise<string> {
  let all = ''
  for await (const chunk of socket) all += String(chunk)
  return all
}

test('a handler per connection echoes what a plain socket sends, and the peer ends cleanly', () =>
  leakless(async () => {
    const system = hostSystem()
    const listener = system.spawn(tcp.listen({ port: 0, handler: echo }))
    const client = rawConnect(await portOf(listener), '127.0.0.1')
    client.end('hello')
    expect(await text(client)).toBe('hello')
    await system.shutdown()
  }))

test('the owner hears accepted, data, half-closed and closed, in order, and commands write and end', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    const listener = system.spawn(tcp.listen({ port: 0, owner: owner.ref, halfOpen: true }))
    const { address } = await owner.next('listening')
    const client = rawConnect({ port: address.port!, host: '127.0.0.1' })
    const { connection, remote } = await owner.next('accepted')
    expect(remote.port).toBeGreaterThan(0)
    client.end('ping')
    const data = await owner.next('data')
    expect(data.chunk.toString()).toBe('ping')
    expect(data.connection).toBe(connection)
    await owner.next('half-closed')
    connection.tell({ type: 'write', data: 'po' })
    connection.tell({ type: 'end', data: 'ng' })
    expect(await text(client)).toBe('pong')
    expect((await owner.next('closed')).reason).toBe('ended')
    expect((await system.whenTerminated(connection)).reason).toBe('normal')
    listener.tell({ type: 'close' })
    await owner.next('listen-closed')
    await system.shutdown()
  }))

test('connect tells connected, then both ends talk through actors', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    const listener = system.spawn(tcp.listen({ port: 0, handler: echo }))
    const connection = system.spawn(tcp.connect({ port: await portOf(listener), owner: owner.ref }))
    const { remote } = await owner.next('connected')
    expect(remote.host).toBe('127.0.0.1')
    connection.tell({ type: 'write', data: 'over and back' })
    expect((await owner.next('data')).chunk.toString()).toBe('over and back')
    expect(await connection.ask({ type: 'flush' })).toEqual({ type: 'flushed' })
    connection.tell({ type: 'destroy' })
    expect((await owner.next('closed')).reason).toBe('destroyed')
    await system.shutdown()
  }))

test('a unix socket has the same surface', () =>
  leakless(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-io-'))
    const path = join(folder, 's.sock')
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    const listener = system.spawn(tcp.listen({ path, handler: echo }))
    expect(await listener.ask({ type: 'address' })).toEqual({ path })
    const connection = system.spawn(tcp.connect({ path, owner: owner.ref }))
    expect((await owner.next('connected')).remote).toEqual({ path })
    connection.tell({ type: 'write', data: 'unix' })
    expect((await owner.next('data')).chunk.toString()).toBe('unix')
    await system.shutdown()
    rmSync(folder, { recursive: true })
  }))

test('an address in use is a message with its code, and the listener stops', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    const first = system.spawn(tcp.listen({ port: 0, handler: echo }))
    const second = system.spawn(tcp.listen({ port: await portOf(first), owner: owner.ref }))
    const { code, error } = await owner.next('listen-error')
    expect(code).toBe('EADDRINUSE')
    expect(error.message).toMatch(/Cannot listen on 127\.0\.0\.1:\d+.*Stop what listens there/)
    expect((await system.whenTerminated(second)).reason).toBe('normal')
    await system.shutdown()
  }))

test('an address in use that nobody owns fails the listener, and its supervisor decides', () =>
  leakless(async () => {
    const system = hostSystem()
    const first = system.spawn(tcp.listen({ port: 0, handler: echo }))
    const codes: string[] = []
    const supervision = supervise({
      decide: (cause) => {
        codes.push((cause as { code: string }).code)
        return codes.length < 2 ? 'restart' : 'stop'
      },
    })
    const second = system.spawn(tcp.listen({ port: await portOf(first), handler: echo }), { supervision })
    const end = await system.whenTerminated(second)
    expect(end.reason).toBe('failure')
    expect(codes).toEqual(['EADDRINUSE', 'EADDRINUSE'])
    await system.shutdown()
  }))

// The listener's last word once stopped it behind its failure: it was not begun again, and ended as if all were well.
test.each([
  ['at once', false, () => unhandled],
  ['by a promise', false, async () => unhandled],
  ['by a promise, taking the next meanwhile', true, async () => unhandled],
] as const)(
  'an address in use that the owner leaves unhandled, %s, fails the listener as often as its supervisor likes',
  (_how, reentrant, handler) =>
    leakless(async () => {
      const system = hostSystem()
      const first = system.spawn(tcp.listen({ port: 0, handler: echo }))
      const port = await portOf(first)
      for (const listen of [(o: ActorRef<unknown>) => tcp.listen({ port, owner: o }), (o: ActorRef<unknown>) => http.serve({ port, owner: o })]) {
        const codes: string[] = []
        const supervision = supervise({
          decide: (cause) => {
            codes.push((cause as { code: string }).code)
            return codes.length < 3 ? 'restart' : 'stop'
          },
        })
        const owner = system.spawn<unknown>(receive<unknown>(handler), { reentrant })
        const { reason } = await system.whenTerminated(system.spawn<never>(listen(owner), { supervision }))
        expect([reason, ...codes]).toEqual(['failure', 'EADDRINUSE', 'EADDRINUSE', 'EADDRINUSE'])
      }
      await system.shutdown()
    }),
)

test.each([false, true])('a connection that its owner leaves the error of, later, fails (reentrant: %s)', (reentrant) =>
  leakless(async () => {
    const system = hostSystem()
    using held = await closedPort()
    const codes: string[] = []
    const supervision = supervise({
      decide: (cause) => {
        codes.push((cause as { code: string }).code)
        return codes.length < 2 ? 'restart' : 'stop'
      },
    })
    let closed = (): void => {}
    const owner = system.spawn<Event>(
      receive<Event>(async (_ctx, m) => {
        if (m.type === 'closed') closed()
        // Where it can, it hears the last word before it decides.
        if (m.type === 'error' && reentrant) await new Promise<void>((resolve) => (closed = resolve))
        return unhandled
      }),
      { reentrant },
    )
    const { reason } = await system.whenTerminated(system.spawn(tcp.connect({ port: held.port, owner }), { supervision }))
    expect([reason, ...codes]).toEqual(['failure', 'ECONNREFUSED', 'ECONNREFUSED'])
    await system.shutdown()
  }),
)

/** A port at which nobody listens, and nobody else can while it is held: a connection to elsewhere has it. */
async function closedPort(): Promise<{ readonly port: number; [Symbol.dispose](): void }> {
  const server = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const holder = rawConnect((server.address() as { port: number }).port, '127.0.0.1')
  await once(holder, 'connect')
  return {
    port: holder.localPort!,
    [Symbol.dispose]: () => {
      holder.destroy()
      server.close()
    },
  }
}

test('a refused connection is an error with its code, then closed', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    using closed = await closedPort()
    const connection = system.spawn(tcp.connect({ port: closed.port, owner: owner.ref }))
    expect((await owner.next('error')).code).toBe('ECONNREFUSED')
    expect((await owner.next('closed')).reason).toBe('error')
    expect((await system.whenTerminated(connection)).reason).toBe('normal')
    await system.shutdown()
  }))

test('an error that the owner leaves unhandled fails the connection actor, not the owner', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system, ['error'])
    using closed = await closedPort()
    const connection = system.spawn(tcp.connect({ port: closed.port, owner: owner.ref }), { supervision: 'stop' })
    const end = await system.whenTerminated(connection)
    expect(end.reason).toBe('failure')
    expect((end.cause as { code: string }).code).toBe('ECONNREFUSED')
    expect(system.phaseOf(owner.ref)).toBe('running')
    await system.shutdown()
  }))

test('under restart a client whose error is unowned connects again, with backoff, until the server is there', () =>
  leakless(async () => {
    const system = hostSystem()
    // A path, for a port that is free now may be another's when the server comes.
    const folder = mkdtempSync(join(tmpdir(), 'troupe-io-'))
    const path = join(folder, 's.sock')
    const seen = new Inbox<SocketEvent>(['error'])
    let attempts = 0
    const handler = (): Behavior<SocketEvent> => {
      attempts++
      if (attempts === 3) system.spawn(tcp.listen({ path, handler: echo }))
      return seen.behavior()
    }
    const supervision = supervise({ limit: { restarts: 50, within: 60_000 }, backoff: { min: 1, max: 5, factor: 2, jitter: 0 } })
    const client = system.spawn(tcp.connect({ path, handler }), { supervision })
    await seen.next('connected')
    expect(attempts).toBeGreaterThanOrEqual(3)
    expect(seen.seen.filter((m) => m.type === 'closed')).toEqual([])
    expect(system.phaseOf(client)).toBe('running')
    await system.shutdown()
    rmSync(folder, { recursive: true })
  }))

test('what an earlier socket sent does not reach the incarnation after it', () =>
  leakless(async () => {
    const system = hostSystem()
    const sockets: Socket[] = []
    const server = createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => {})
      sockets.push(socket)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const seen = new Inbox<SocketEvent>()
    const handler = (): Behavior<SocketEvent> =>
      receive((_ctx, m) => {
        if (m.type === 'data' && m.chunk.toString() === 'one') throw new Error('crash')
        seen.take(m)
        return same
      })
    const client = system.spawn(tcp.connect({ port, handler }))
    await seen.next('connected')
    system.suspend(client, 'so that both chunks wait')
    for (const [i, chunk] of ['one', 'two'].entries()) {
      sockets[0]!.write(chunk)
      while ((await system.ledger()).queued <= i) await new Promise((resolve) => setImmediate(resolve))
    }
    system.resume(client)
    await seen.next('connected')
    await until(() => sockets.length === 2)
    sockets[1]!.write('hello')
    expect((await seen.next('data')).chunk.toString()).toBe('hello')
    await system.shutdown()
    server.close()
    for (const socket of sockets) socket.destroy()
  }))

test('the crash of one connection closes that one only', () =>
  leakless(async () => {
    const system = hostSystem()
    const handler = (connection: { write(data: Uint8Array): boolean }): Behavior<SocketEvent> =>
      receive((_ctx, m) => {
        if (m.type !== 'data') return same
        if (m.chunk.toString() === 'crash') throw new Error('crash')
        connection.write(m.chunk)
        return same
      })
    const listener = system.spawn(tcp.listen({ port: 0, handler }))
    const port = await portOf(listener)
    const bad = rawConnect(port, '127.0.0.1')
    const good = rawConnect(port, '127.0.0.1')
    good.write('one')
    await once(good, 'data')
    bad.write('crash')
    await once(bad, 'close')
    good.end('two')
    expect(await text(good)).toBe('two')
    await system.shutdown()
  }))

test('a supervisor of the user spawns the connections, which then outlive the listener', () =>
  leakless(async () => {
    const system = hostSystem()
    const connections = system.spawn(connectionSupervisor(), { name: 'connections' })
    const listener = system.spawn(tcp.listen({ port: 0, handler: echo, supervisor: connections }))
    const client = rawConnect(await portOf(listener), '127.0.0.1')
    client.write('a')
    await once(client, 'data')
    expect((await system.inspect(connections)).children.length).toBe(1)
    listener.stop()
    await system.whenTerminated(listener)
    client.end('b')
    expect(await text(client)).toBe('b')
    await system.shutdown()
  }))

test('connections become temporary children of a supervisor() tree, and one that crashes is not restarted', () =>
  leakless(async () => {
    const system = hostSystem()
    const tree = system.spawn(supervisor({ strategy: 'one-for-one', children: [] }), { name: 'tree' })
    const handler = (connection: { write(data: Uint8Array): boolean }): Behavior<SocketEvent> =>
      receive((_ctx, m) => {
        if (m.type !== 'data') return same
        if (m.chunk.toString() === 'crash') throw new Error('crash')
        connection.write(m.chunk)
        return same
      })
    const listener = system.spawn(tcp.listen({ port: 0, handler, under: tree }))
    const port = await portOf(listener)
    const [good, bad] = [rawConnect(port, '127.0.0.1'), rawConnect(port, '127.0.0.1')]
    good.write('a')
    await once(good, 'data')
    bad.write('crash')
    await once(bad, 'close')
    good.end('b')
    expect(await text(good)).toBe('b')
    await until(() => system.counts().active === 2)
    tree.stop()
    await system.whenTerminated(tree)
    const late = rawConnect(port, '127.0.0.1')
    late.on('error', () => {})
    await once(late, 'close')
    await system.shutdown()
  }))

test('a supervisor that is gone turns peers away instead of leaking them', () =>
  leakless(async () => {
    const system = hostSystem()
    const connections = system.spawn(connectionSupervisor())
    const listener = system.spawn(tcp.listen({ port: 0, handler: echo, supervisor: connections }))
    const port = await portOf(listener)
    connections.stop()
    await system.whenTerminated(connections)
    const client = rawConnect(port, '127.0.0.1')
    client.on('error', () => {})
    await once(client, 'close')
    await system.shutdown()
  }))

test('the stop of an owner closes its connections and its listener', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    const listener = system.spawn(tcp.listen({ port: 0, owner: owner.ref }))
    const client = rawConnect((await owner.next('listening')).address.port!, '127.0.0.1')
    const { connection } = await owner.next('accepted')
    client.resume()
    owner.ref.stop()
    await once(client, 'close')
    await system.whenTerminated(connection)
    await system.whenTerminated(listener)
    await system.shutdown()
  }))

test('an owner reached through an adapter is watched all the same', () =>
  leakless(async () => {
    const system = hostSystem()
    const listener = system.spawn(tcp.listen({ port: 0, handler: echo }))
    const port = await portOf(listener)
    let connection: ActorRef<never> | undefined
    const owner = system.spawn(
      receive<{ net: ConnectionEvent } | 'go' | 'end'>((ctx, m) => {
        if (m === 'go') connection = ctx.system.spawn(tcp.connect({ port, owner: ctx.adapt((net: ConnectionEvent) => ({ net })) }))
        else if (m !== 'end' && m.net.type === 'connected') ctx.self.tell('end')
        else if (m === 'end') ctx.stop()
        return same
      }),
    )
    owner.tell('go')
    await system.whenTerminated(owner)
    await system.whenTerminated(connection!)
    await system.shutdown()
  }))

test('own hands a connection to another actor', () =>
  leakless(async () => {
    const system = hostSystem()
    const first = inbox<Event>(system)
    const second = inbox<ConnectionEvent>(system)
    system.spawn(tcp.listen({ port: 0, owner: first.ref, paused: true }))
    const client = rawConnect((await first.next('listening')).address.port!, '127.0.0.1')
    client.write('for the second')
    const { connection } = await first.next('accepted')
    connection.tell({ type: 'own', owner: second.ref })
    connection.tell({ type: 'resume' })
    expect((await second.next('data')).chunk.toString()).toBe('for the second')
    first.ref.stop()
    await system.whenTerminated(first.ref)
    client.destroy()
    await system.shutdown()
  }))

test('a stop during connect leaves no handle', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    const listener = system.spawn(tcp.listen({ port: 0, handler: echo }))
    const port = await portOf(listener)
    const connection = system.spawn(tcp.connect({ port, owner: owner.ref }))
    await system.started(connection)
    connection.stop()
    await system.whenTerminated(connection)
    await system.shutdown()
    expect(owner.seen.map((m) => m.type)).not.toContain('data')
  }))

test('a stop with bytes still in flight delivers them to a peer that reads', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref }))
    const client = rawConnect((await owner.next('listening')).address.port!, '127.0.0.1')
    client.pause()
    const { connection } = await owner.next('accepted')
    const big = Buffer.alloc(8 * 1024 * 1024, 'x')
    connection.tell({ type: 'write', data: big })
    connection.stop({ after: 'queued' })
    await system.whenTerminated(connection)
    expect((await text(client)).length).toBe(big.length)
    await system.shutdown()
  }))

test('a stop with bytes in flight to a peer that never reads ends after the linger', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, linger: 5 }))
    const client = rawConnect((await owner.next('listening')).address.port!, '127.0.0.1')
    client.on('error', () => {})
    client.pause()
    const { connection } = await owner.next('accepted')
    connection.tell({ type: 'write', data: Buffer.alloc(8 * 1024 * 1024) })
    await system.shutdown({ drain: true })
    client.resume()
    await once(client, 'close')
  }))

test('a slow owner pauses the peer: unhandled chunks stay within the credits, and nothing is lost', () =>
  leakless(async () => {
    const system: ActorSystem = hostSystem()
    let release: (() => void) | undefined
    let received = 0
    let most = 0
    const handler = (): Behavior<SocketEvent> =>
      receive(async (ctx, m) => {
        if (m.type !== 'data') return same
        received += m.chunk.length
        const { queued } = await (ctx.system as ActorSystem).ledger()
        most = Math.max(most, queued)
        if (release === undefined) await new Promise<void>((resolve) => (release = resolve))
        return same
      })
    const listener = system.spawn(tcp.listen({ port: 0, handler, credits: 4 }))
    const client = rawConnect(await portOf(listener), '127.0.0.1')
    const total = 32 * 1024 * 1024
    const sent = new Promise((resolve) => client.end(Buffer.alloc(total), () => resolve(undefined)))
    await until(() => release !== undefined)
    // The kernel's buffers fill and the peer stands still, while the first chunk is being handled.
    await until(() => client.writableLength > 0)
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(client.writableLength).toBeGreaterThan(total / 2)
    release!()
    await sent
    await until(() => received === total)
    expect(most).toBeLessThanOrEqual(5)
    client.destroy()
    await system.shutdown()
  }))

test('ack: manual keeps a credit until it is given back', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, ack: 'manual', credits: 1 }))
    const client = rawConnect((await owner.next('listening')).address.port!, '127.0.0.1')
    client.write(Buffer.alloc(4 * 1024 * 1024))
    const { connection } = await owner.next('data')
    for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(owner.seen.filter((m) => m.type === 'data')).toEqual([])
    connection.tell({ type: 'ack' })
    await owner.next('data')
    client.destroy()
    await system.shutdown()
  }))

test('writes to a peer that does not read report drained later, and overflow at the bound', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, maxBuffered: 4 * 1024 * 1024 }))
    const client = rawConnect((await owner.next('listening')).address.port!, '127.0.0.1')
    client.on('error', () => {})
    client.pause()
    const { connection } = await owner.next('accepted')
    connection.tell({ type: 'write', data: Buffer.alloc(32 * 1024 * 1024) })
    await system.started(connection)
    client.resume()
    await owner.next('drained')
    client.pause()
    for (let i = 0; i < 40; i++) connection.tell({ type: 'write', data: Buffer.alloc(1024 * 1024) })
    const { code, error } = await owner.next('error')
    expect(code).toBe('write-overflow')
    expect(error.message).toMatch(/Wait for `drained`/)
    expect((await owner.next('closed')).reason).toBe('error')
    client.destroy()
    await system.shutdown()
  }))

test('too many connections are refused to the peer and told to the owner', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<Event>(system)
    system.spawn(tcp.listen({ port: 0, owner: owner.ref, maxConnections: 1 }))
    const { port } = (await owner.next('listening')).address
    const first = rawConnect(port!, '127.0.0.1')
    await owner.next('accepted')
    const second = rawConnect(port!, '127.0.0.1')
    second.on('error', () => {})
    expect((await owner.next('refused')).code).toBe('too-many-connections')
    await once(second, 'close')
    first.destroy()
    await system.shutdown()
  }))
