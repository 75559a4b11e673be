// What nats() refuses, by name: servers that are too old, without JetStream or not there, wrong credentials, networks without TLS,
// streams that are somebody else's; and what the user of a node may not do on a real server.

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { ActorSystem, HostRuntime, InvalidOption, receive, same } from '@troupe/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findNats, type NatsServer, startNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { Cluster } from '../src/cluster.ts'
import { memory } from '../src/engines/memory/memory.ts'
import { openBucket } from '../src/engines/nats/nats-bucket.ts'
import { natsPermissions } from '../src/engines/nats/nats-layout.ts'
import { nats } from '../src/engines/nats/nats.ts'
import type { NatsOptions } from '../src/engines/nats/nats-options.ts'
import type { Connection } from '../src/ports/engine.ts'
import { EngineRefused } from '../src/values/errors.ts'
import { session } from './contract/stage.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')
const timing = new HostRuntime()

/** A server that ends with the test, however that ends. */
async function started(options: { readonly config?: string; readonly tls?: boolean }): Promise<NatsServer> {
  const server = await startNats(found!, options)
  onTestFinished(() => server.end())
  return server
}

function connectAs(node: string, options: NatsOptions, onTrouble: (text: string, cause: unknown) => void = () => {}): Promise<Connection> {
  return nats({ timeout: 30_000, ...options }).connect({ cluster: 'shop', node, timing, onTrouble })
}

async function refusal(made: Promise<Connection>): Promise<EngineRefused> {
  const cause: unknown = await made.then(
    (connection) => connection.close(),
    (reason: unknown) => reason,
  )
  expect(cause).toBeInstanceOf(EngineRefused)
  return cause as EngineRefused
}

/** Speaks as much of the protocol of NATS as a client needs to be let in. */
async function pretender(version: string, maxPayload = 1_048_576): Promise<{ readonly url: string; end(): void }> {
  const server = createServer((socket) => {
    const info = { server_id: 'X', version, proto: 1, headers: true, max_payload: maxPayload, jetstream: true, host: '127.0.0.1', port: 4222 }
    socket.write(`INFO ${JSON.stringify(info)}\r\n`)
    socket.on('data', (data) => {
      if (data.includes('PING')) socket.write('PONG\r\n')
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`, end: () => void server.close() }
}

test('a connection that has ended before the registry is opened is refused as unreachable', async () => {
  const server = await pretender('2.12.0')
  const connection = await connect({ servers: server.url })
  await connection.close()
  const opening = openBucket(connection, 'shop', 'a', { replicas: 1, timeout: 1_000 }, { timing, onTrouble: () => {} })
  await expect(opening).rejects.toMatchObject({
    code: 'engine-refused',
    why: 'unreachable',
    message: expect.stringMatching(/^Cannot open the stream [\w-]+ on .*: .*closed.*\. Check the server/) as string,
  })
  server.end()
})

test.each(['2.9.10', '2.10.29', '2.11.0', '2.11.1', '1.4.1'])('a server of version %s is refused by its version', async (version) => {
  const server = await pretender(version)
  const { why, message } = await refusal(connectAs('a', { servers: server.url }))
  expect(why).toBe('too-old')
  expect(message).toContain(`its version is ${version}, and before 2.11.2`)
  server.end()
})

test('a server that takes less than 16 KB is refused with its limit', async () => {
  const server = await pretender('2.11.2', 16_383)
  const { why, message } = await refusal(connectAs('a', { servers: server.url }))
  expect(why).toBe('max-payload')
  expect(message).toContain('its max_payload is 16383 bytes, and nodes need 16384 at least')
  server.end()
})

test.each(['', 'a.b', '*', '>', 'a b', 'x'.repeat(65), 7])('a node or a cluster named %j is refused before anything is sent', async (name) => {
  for (const engine of [nats(), memory()])
    for (const names of [
      { cluster: 'shop', node: name },
      { cluster: name, node: 'a' },
    ])
      await expect(engine.connect({ ...names, timing, onTrouble: () => {} } as never)).rejects.toBeInstanceOf(InvalidOption)
})

test('a server that is not there is refused with its address', async () => {
  const { why, message } = await refusal(connectAs('a', { servers: 'nats://127.0.0.1:1' }))
  expect(why).toBe('unreachable')
  expect(message).toContain('nats://127.0.0.1:1')
})

test.each(['nats://nats.example.org:4222', '10.0.0.1:4222', 'nats://[2001:db8::1]:4222', '127.0.0.1.example.org', 'nats://0.0.0.0:4222'])(
  'without TLS the server %s is refused before anything is sent',
  (servers) => {
    expect(() => nats({ servers: ['nats://127.0.0.1:4222', servers] })).toThrow(EngineRefused)
    expect(() => nats({ servers })).toThrow(/insecure: true/)
    expect(nats({ servers, insecure: true }).name).toBe('nats')
    expect(nats({ servers, tls: {} }).name).toBe('nats')
  },
)

test.each(['127.0.0.1', 'nats://127.0.0.1:4222', 'localhost:4222', 'nats://[::1]:4222', 'tls://nats.example.org:4222'])(
  '%s is taken as it is',
  (servers) => {
    expect(nats({ servers }).name).toBe('nats')
  },
)

test.each([
  [{ server: 'nats://127.0.0.1' }, 'did you mean `servers`'],
  [{ servers: 'http://127.0.0.1' }, 'servers'],
  [{ servers: [] }, 'servers'],
  [{ servers: [4222] }, 'servers'],
  [{ insecure: 'yes' }, 'insecure'],
  [{ tls: true }, 'tls'],
  [{ tls: { cafile: 'x' } }, 'did you mean `caFile`'],
  [{ credentials: { user: 1 } }, 'credentials.user'],
  [{ replicas: 0 }, 'replicas'],
  [{ timeout: Number.NaN }, 'timeout'],
  [null, 'options'],
])('the options %j are refused by name', (options, named) => {
  expect(() => nats(options as never)).toThrow(InvalidOption)
  expect(() => nats(options as never)).toThrow(named)
})

test('no node may listen where answers for a node of another cluster come, whatever the two are called', () => {
  // Joined by a character of names both would be a_b_c.
  const [one, other] = [natsPermissions('a', 'b_c'), natsPermissions('a_b', 'c')]
  const both = one.subscribe.allow.filter((subject) => other.subscribe.allow.includes(subject))
  expect(both).toEqual([])
})

describe.skipIf(found === undefined)('a real NATS server', () => {
  test('without JetStream is refused', async () => {
    const server = await started({ config: 'jetstream: disabled' })
    const { why, message } = await refusal(connectAs('a', { servers: server.url }))
    expect(why).toBe('no-jetstream')
    expect(message).toContain('JetStream is not enabled')
  })

  test('is refused with wrong credentials, and with none', async () => {
    const server = await started({ config: 'authorization { users: [{ user: a, password: right }] }' })
    for (const credentials of [{ user: 'a', password: 'wrong' }, { token: 'wrong' }, {}]) {
      const { why, message } = await refusal(connectAs('a', { servers: server.url, credentials }))
      expect(why).toBe('credentials')
      expect(message).not.toContain('wrong')
    }
    const right = await connectAs('a', { servers: server.url, credentials: { user: 'a', password: 'right' } })
    await right.close()
  })

  test('with a stream of that name whose keys would not live and end as they must is refused', async () => {
    const server = await started({})
    const client = await connect({ servers: server.url })
    const manager = await jetstreamManager(client)
    await manager.streams.add({ name: 'KV_troupe_shop', subjects: ['$KV.troupe_shop.>'], max_msgs_per_subject: 1 })
    const { why, message } = await refusal(connectAs('a', { servers: server.url }))
    expect(why).toBe('not-ours')
    expect(message).toContain('KV_troupe_shop')
    await client.close()
  })

  test('with TLS is joined by whoever trusts its certificate, and by nobody else', async () => {
    // A certificate made for tests alone; it guards nothing.
    const [cert, key] = ['cert', 'key'].map((name) => fileURLToPath(new URL(`../../node/test/fixtures/${name}.pem`, import.meta.url)))
    const server = await started({ tls: true, config: `tls { cert_file: "${cert}", key_file: "${key}" }` })
    const trusted = await connectAs('a', { servers: server.url, tls: { caFile: cert! } })
    await trusted.registry.create('own.k.1', 'x')
    await trusted.close()
    const { why } = await refusal(connectAs('a', { servers: server.url }))
    expect(why).toBe('unreachable')
    const plain = await started({})
    expect((await refusal(connectAs('a', { servers: plain.url, tls: {} }))).message).toContain('tls')
  })

  test('with a max_payload of 16 KB carries messages of every size', async () => {
    const server = await started({ config: 'max_payload: 16384' })
    const got: number[] = []
    const systems = ['a', 'b'].map((name) => ActorSystem.create(name, { keepAlive: false }))
    onTestFinished(async () => void (await Promise.all(systems.map((system) => system.shutdown()))))
    systems[1]!.spawn(
      receive<Uint8Array>((_ctx, bytes) => {
        got.push(bytes.length)
        return same
      }),
      { name: 'sink' },
    )
    const [a] = await Promise.all(
      systems.map((system) => Cluster.join(system, { name: 'shop', node: system.name, engine: nats({ servers: server.url, timeout: 30_000 }) })),
    )
    await vi.waitFor(() => expect(a!.members).toHaveLength(2), { timeout: 30_000 })
    const sink = await a!.find('b', '/user/sink')
    const sizes = [10, 16_000, 16_384, 61_500, 900_000, 500_000, 10]
    for (const size of sizes) sink!.tell(new Uint8Array(size) as never)
    await vi.waitFor(() => expect(got).toEqual(sizes), { timeout: 30_000 })
  })

  test('that answers its first questions late is joined all the same', async () => {
    const server = await started({})
    // A proxy that keeps what the server answers to JetStream for a while.
    let held: (() => void)[] | undefined = []
    const proxy = createServer((socket) => {
      const there = createConnection(server.port, '127.0.0.1')
      let asked = false
      socket.on('data', (data) => {
        asked ||= data.includes('$JS.API')
        there.write(data)
      })
      there.on('data', (data) => {
        if (asked && held !== undefined) held.push(() => void socket.write(data))
        else socket.write(data)
      })
      for (const [one, other] of [
        [socket, there],
        [there, socket],
      ] as const)
        one.on('close', () => void other.destroy()).on('error', () => {})
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void proxy.close())
    await once(proxy, 'listening')
    const troubles: string[] = []
    const url = `nats://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const joining = connectAs('a', { servers: url, timeout: 200 }, (text) => {
      troubles.push(text)
      if (troubles.length < 2) return
      for (const release of held ?? []) release()
      held = undefined
    })
    const connection = await joining
    expect(troubles.slice(0, 2)).toEqual(Array.from({ length: 2 }, () => 'NATS did not answer within 200 ms; it is asked again'))
    await connection.close()
  })

  test('lets a node with its permissions do all it must, and speak, hear and renew only as itself', async () => {
    const users = ['a', 'b', 'c'].map((node) => ({ user: node, password: node, permissions: natsPermissions('shop', node) }))
    const server = await started({ config: `authorization { users: ${JSON.stringify(users)} }` })
    const troubles: unknown[] = []
    const as = (node: string, user = node): Promise<Connection> =>
      connectAs(node, { servers: server.url, credentials: { user, password: user } }, (_text, cause) => troubles.push(cause))
    const [a, b] = [await as('a'), await as('b')]
    const got: string[] = []
    await a.wire.open(session('a'), () => {})
    await b.wire.open(session('b'), (from, bytes) => got.push(`${from.node} ${bytes[0]}`))
    let hinted = 0
    b.registry.watch('member', () => hinted++)
    const revision = await a.registry.create('member.a', 'x', { ttl: 60_000 })
    await a.registry.update('member.a', 'y', revision, { ttl: 60_000 })
    await a.registry.create('session.a', '1')
    for (const key of ['own.cart.1', 'host.cart.a', 'kind.cart']) await a.registry.create(key, '1')
    expect((await b.registry.list('member')).map((entry) => entry.value)).toEqual(['y'])
    await vi.waitFor(() => expect(hinted > 0).toBe(true), { timeout: 30_000 })
    expect(troubles).toEqual([])

    // c, with the client itself, as somebody who has taken that node over would.
    const violations: string[] = []
    const client = await connect({ servers: server.url, user: 'c', pass: 'c', inboxPrefix: '_INBOX_troupe.shop.c' })
    const follow = async (): Promise<void> => {
      for await (const status of client.status()) if (status.type === 'error') violations.push(status.error.message)
    }
    const following = follow()
    const overheard: string[] = []
    client.subscribe('shop.f.>', { callback: (problem, message) => void (problem === null && overheard.push(message.subject)) })
    client.subscribe('_INBOX_troupe.shop.a.>', { callback: (problem, message) => void (problem === null && overheard.push(message.subject)) })
    client.publish('shop.f.a.1.b.1', Uint8Array.of(66))
    client.publish('$KV.troupe_shop.member.a', 'stolen')
    client.publish('shop.f.c.1.b.1', Uint8Array.of(7))
    await client.flush()
    a.wire.send(session('b'), Uint8Array.of(1))
    await vi.waitFor(() => expect(got.includes('a 1') && got.includes('c 7')).toBe(true), { timeout: 30_000 })
    expect(got.toSorted()).toEqual(['a 1', 'c 7'])
    expect(overheard).toEqual([])
    expect((await b.registry.read('member.a'))?.value).toBe('y')
    await vi.waitFor(() => expect(violations.length >= 4).toBe(true), { timeout: 30_000 })
    await end(client, following)

    // Another node's user is refused when it joins, because it may not hear what is for that node.
    const { why } = await refusal(as('a', 'c'))
    expect(why).toBe('permissions')
    await a.close()
    await b.close()
  })
})

async function end(client: NatsConnection, following: Promise<void>): Promise<void> {
  await client.close()
  await following
}
