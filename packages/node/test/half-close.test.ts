// The peer has ended its side: this side follows once the owner has dealt with all that came, and what cannot leave is told.

import type { Duplex } from 'node:stream'
import { adopt, type ConnectionCommand, type ConnectionEvent, type ConnectionOptions, type SocketEvent } from '@troupe/node'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { type ActorRef, type Behavior, bounded, delay, receive, same, type SpawnOptions, unhandled } from '@troupe/core'
import { expect, test } from 'vitest'
import { pair } from './stream-pair.ts'

interface Setting {
  readonly kit: TestKit
  readonly owner: ActorRef<ConnectionEvent | 'go'>
  readonly connection: ActorRef<ConnectionCommand>
  readonly near: Duplex
  readonly far: Duplex
  /** What the peer got, and whether it has seen the end. */
  readonly peer: { got: string; ended: boolean }
}

type Owner = Behavior<ConnectionEvent | 'go'>

async function setting(
  behavior: Owner,
  options: ConnectionOptions & { interest?: readonly SocketEvent['type'][]; spawn?: SpawnOptions; connection?: SpawnOptions } = {},
): Promise<Setting> {
  const { spawn, connection: connectionOptions, ...rest } = options
  const kit = createTestKit()
  const { near, far } = pair()
  const peer = { got: '', ended: false }
  far.on('data', (chunk: Buffer) => (peer.got += chunk.toString()))
  far.on('end', () => (peer.ended = true))
  const owner = kit.system.spawn(behavior, spawn)
  const connection = kit.system.spawn(adopt(near, { owner, ...rest }), connectionOptions)
  await kit.settle()
  return { kit, owner, connection, near, far, peer }
}

const reply = (m: Extract<ConnectionEvent, { type: 'data' }>): void => m.connection.tell({ type: 'write', data: m.chunk })

const echo: Owner = receive((_ctx, m) => {
  if (m !== 'go' && m.type === 'data') reply(m)
  return same
})

test('an owner that is behind still answers a peer that has sent all and ended', async () => {
  const { kit, owner, far, peer } = await setting(echo)
  kit.system.suspend(owner, 'busy')
  far.write('a')
  far.end('b')
  await kit.settle()
  expect(peer.ended).toBe(false)
  kit.system.resume(owner)
  await kit.settle()
  expect(peer).toEqual({ got: 'ab', ended: true })
  await kit.end()
})

test('a peer that had ended before the actor began is heard of all the same', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const { near, far } = pair()
  near.resume()
  far.end()
  await kit.settle()
  expect(near.readableEnded).toBe(true)
  kit.system.spawn(adopt(near, { owner: probe.ref }))
  await kit.settle()
  far.resume()
  await kit.settle()
  probe.expectType('half-closed')
  probe.expectType('closed')
  await kit.end()
})

test('a stream that meets an error is one error, also for whoever writes before it is told', async () => {
  const errors: string[] = []
  const { kit, connection, near } = await setting(
    receive((_ctx, m) => {
      if (m !== 'go' && m.type === 'error') errors.push(m.code)
      return same
    }),
  )
  connection.tell({ type: 'write', data: 'a' })
  near.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }))
  connection.tell({ type: 'write', data: 'b' })
  await kit.settle()
  expect(errors).toEqual(['EPIPE'])
  await kit.end()
})

test('this side ends when the handler of half-closed is done, not when it begins', async () => {
  const { kit, far, peer } = await setting(
    receive(async (ctx, m) => {
      if (m === 'go' || m.type !== 'half-closed') return same
      await delay(1000, { clock: ctx.system.clock })
      m.connection.tell({ type: 'write', data: 'answered' })
      return same
    }),
  )
  far.end('question')
  await kit.advance(999)
  expect(peer).toEqual({ got: '', ended: false })
  await kit.advance(1)
  expect(peer).toEqual({ got: 'answered', ended: true })
  await kit.end()
})

test('a reentrant owner has dealt with it once the calls that began before are done', async () => {
  const { kit, far, peer } = await setting(
    receive(async (ctx, m) => {
      if (m === 'go' || m.type !== 'data') return same
      await delay(m.chunk.toString() === 'slow' ? 1000 : 10, { clock: ctx.system.clock })
      reply(m)
      return same
    }),
    { spawn: { reentrant: true } },
  )
  far.write('slow')
  await kit.settle()
  far.end('fast')
  await kit.advance(999)
  expect(peer).toEqual({ got: 'fast', ended: false })
  await kit.advance(1)
  expect(peer).toEqual({ got: 'fastslow', ended: true })
  await kit.end()
})

test('a half-closed that is stashed is dealt with when it was unstashed', async () => {
  const { kit, owner, far, peer } = await setting(
    receive((ctx, m) => {
      if (m === 'go') ctx.stash.unstashAll()
      else if (m.type === 'half-closed' && ctx.stash.size === 0 && peer.got === '') ctx.stash.add(m)
      else if (m.type === 'half-closed') m.connection.tell({ type: 'write', data: 'bye' })
      else if (m.type === 'data') reply(m)
      return same
    }),
  )
  far.end()
  await kit.settle()
  expect(peer.ended).toBe(false)
  peer.got = '>'
  owner.tell('go')
  await kit.settle()
  expect(peer).toEqual({ got: '>bye', ended: true })
  await kit.end()
})

test('one that is forwarded is dealt with where it went', async () => {
  const { kit, far, peer } = await setting(
    receive((ctx, m) => {
      if (m === 'go' || m.type !== 'half-closed') return same
      const helper: Owner = receive(async (helping, h) => {
        if (h === 'go' || h.type !== 'half-closed') return same
        await delay(100, { clock: helping.system.clock })
        h.connection.tell({ type: 'write', data: 'from the helper' })
        return same
      })
      ctx.forward(ctx.spawn(helper))
      return same
    }),
  )
  far.end()
  await kit.advance(99)
  expect(peer.ended).toBe(false)
  await kit.advance(1)
  expect(peer).toEqual({ got: 'from the helper', ended: true })
  await kit.end()
})

test.each<[string, Owner]>([
  ['leaves it unhandled', receive((_ctx, m) => (m !== 'go' && m.type === 'half-closed' ? unhandled : same))],
  [
    'fails of it and is restarted',
    receive((_ctx, m) => {
      if (m !== 'go' && m.type === 'half-closed') throw new Error('a bug')
      return same
    }),
  ],
  [
    'fails of it later and is restarted',
    receive(async (_ctx, m) => {
      await Promise.resolve()
      if (m !== 'go' && m.type === 'half-closed') throw new Error('a bug')
      return same
    }),
  ],
])('an owner that %s keeps no connection open by it', async (_what, behavior) => {
  const { kit, connection, far, peer } = await setting(behavior)
  far.end('x')
  await kit.advance(60_000)
  expect(peer.ended).toBe(true)
  expect((await kit.system.whenTerminated(connection)).reason).toBe('normal')
  await kit.end()
})

test('an owner that does not want half-closed still answers all that came before it', async () => {
  const { kit, owner, far, peer } = await setting(
    receive(async (ctx, m) => {
      if (m === 'go' || m.type !== 'data') return same
      await delay(10, { clock: ctx.system.clock })
      reply(m)
      return same
    }),
    { interest: ['data'] },
  )
  kit.system.suspend(owner, 'busy')
  far.write('a')
  await kit.settle()
  far.end('b')
  await kit.settle()
  kit.system.resume(owner)
  await kit.advance(19)
  expect(peer).toEqual({ got: 'a', ended: false })
  await kit.advance(1)
  expect(peer).toEqual({ got: 'ab', ended: true })
  await kit.end()
})

test('with ack: manual this side ends once every chunk is acknowledged', async () => {
  const kept: Extract<ConnectionEvent, { type: 'data' }>[] = []
  const { kit, connection, far, peer } = await setting(
    receive((_ctx, m) => {
      if (m !== 'go' && m.type === 'data') kept.push(m)
      return same
    }),
    { ack: 'manual' },
  )
  far.write('a')
  await kit.settle()
  far.end('b')
  await kit.settle()
  for (const m of kept) {
    expect(peer.ended).toBe(false)
    reply(m)
    connection.tell({ type: 'ack' })
    await kit.settle()
  }
  expect(peer).toEqual({ got: 'ab', ended: true })
  await kit.end()
})

test('with halfOpen this side stays open until it is told to end', async () => {
  const { kit, connection, far, peer } = await setting(echo, { halfOpen: true })
  far.end('a')
  await kit.settle()
  connection.tell({ type: 'write', data: ' and more' })
  await kit.settle()
  expect(peer).toEqual({ got: 'a and more', ended: false })
  connection.tell({ type: 'end' })
  await kit.settle()
  expect(peer.ended).toBe(true)
  await kit.end()
})

test('an owner that hands the connection on leaves the peer’s end to the next one', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const { near, far } = pair()
  const peer = { got: '', ended: false }
  far.on('data', (chunk: Buffer) => (peer.got += chunk.toString()))
  far.on('end', () => (peer.ended = true))
  const next = kit.system.spawn(
    receive<ConnectionEvent>((_ctx, m) => {
      probe.ref.tell(m)
      if (m.type === 'half-closed') m.connection.tell({ type: 'write', data: 'from the next' })
      return same
    }),
  )
  const first = kit.system.spawn(
    receive<ConnectionEvent>((_ctx, m) => {
      if (m.type === 'half-closed') m.connection.tell({ type: 'own', owner: next })
      return same
    }),
  )
  kit.system.spawn(adopt(near, { owner: first }))
  far.end()
  await kit.settle()
  expect(probe.expectType('half-closed').type).toBe('half-closed')
  expect(peer).toEqual({ got: 'from the next', ended: true })
  await kit.end()
})

test('an owner that is reached through an adapter counts as one', async () => {
  const kit = createTestKit()
  const { near, far } = pair()
  const peer = { got: '', ended: false }
  far.on('data', (chunk: Buffer) => (peer.got += chunk.toString()))
  far.on('end', () => (peer.ended = true))
  const { system } = kit
  system
    .spawn(
      receive<{ readonly event: ConnectionEvent } | 'begin'>(async (ctx, m) => {
        if (m === 'begin') ctx.spawn(adopt(near, { owner: ctx.adapt<ConnectionEvent>((event) => ({ event })) }))
        else if (m.event.type === 'data') {
          await delay(50, { clock: ctx.system.clock })
          reply(m.event)
        }
        return same
      }),
    )
    .tell('begin')
  await kit.settle()
  far.end('hello')
  await kit.advance(50)
  expect(peer).toEqual({ got: 'hello', ended: true })
  await kit.end()
})

test('a connection actor without room for it ends its side all the same', async () => {
  const { kit, connection, far, peer } = await setting(echo, { connection: { mailbox: bounded(1, 'reject') } })
  far.end()
  kit.system.suspend(connection, 'busy')
  await kit.settle()
  expect(peer.ended).toBe(false)
  kit.system.resume(connection)
  await kit.settle()
  expect(peer.ended).toBe(true)
  await kit.end()
})

test('a write behind the own end is one error, however many there are, and what was written before leaves', async () => {
  const errors: string[] = []
  const { kit, connection, far, peer } = await setting(
    receive((_ctx, m) => {
      if (m === 'go' || m.type !== 'error') return same
      errors.push(m.code)
      // Whoever answers an error by writing must not go rounds.
      m.connection.tell({ type: 'write', data: 'sorry' })
      return same
    }),
  )
  connection.tell({ type: 'end', data: 'all' })
  for (let i = 0; i < 100; i++) connection.tell({ type: 'write', data: 'more' })
  await kit.settle()
  expect(errors).toEqual(['write-refused'])
  expect(peer).toEqual({ got: 'all', ended: true })
  far.end()
  await kit.settle()
  expect((await kit.system.whenTerminated(connection)).reason).toBe('normal')
  await kit.end()
})

test('a write that nobody will send, and whose error nobody handles, fails the connection', async () => {
  const { kit, connection } = await setting(
    receive((_ctx, m) => (m !== 'go' && m.type === 'error' ? unhandled : same)),
    { connection: { supervision: 'stop' } },
  )
  connection.tell({ type: 'end' })
  connection.tell({ type: 'write', data: 'more' })
  await kit.settle()
  const { cause } = await kit.system.whenTerminated(connection)
  expect((cause as Error).message).toBe(
    'Cannot use an adopted stream: a write was refused, because this side has ended (write-refused). Write before the end; `halfOpen` keeps this side open when the peer ends its own.',
  )
  await kit.end()
})

test('a write that comes when all is over, but before closed was heard, is an error in front of it; one that comes later is unhandled', async () => {
  const seen: string[] = []
  const { kit, owner, connection, near } = await setting(
    receive((_ctx, m) => {
      if (m === 'go') return same
      seen.push(m.type === 'error' ? m.code : m.type)
      m.connection.tell({ type: 'write', data: 'too late' })
      return same
    }),
    { idleTimeout: 100 },
  )
  kit.system.suspend(owner, 'busy')
  await kit.advance(200)
  expect(near.destroyed).toBe(true)
  connection.tell({ type: 'write', data: 'lost' })
  connection.tell({ type: 'write', data: 'lost too' })
  await kit.settle()
  kit.system.resume(owner)
  await kit.settle()
  expect(seen).toEqual(['write-refused', 'closed'])
  // What was written when `closed` was being handled.
  expect((await kit.checkLedger()).unhandled).toBe(1)
  await kit.end()
})

test('what a peer does not take until the connection is idle is told as lost, before closed', async () => {
  const seen: string[] = []
  const { kit, connection, near } = await setting(
    receive((_ctx, m) => {
      if (m !== 'go') seen.push(m.type === 'error' ? `${m.code} ${/\d+ bytes/.exec(m.error.message)?.[0]}` : m.type === 'closed' ? m.reason : m.type)
      return same
    }),
    { idleTimeout: 1000 },
  )
  // A peer that takes nothing.
  near.cork()
  connection.tell({ type: 'write', data: 'abc' })
  await kit.advance(2000)
  expect(seen).toEqual(['write-lost 3 bytes', 'idle'])
  await kit.end()
})

test('what the owner wrote before it stopped leaves', async () => {
  const { kit, owner, connection, far, peer } = await setting(
    receive((ctx, m) => {
      if (m !== 'go') return same
      for (const data of ['a', 'b', 'c']) connection.tell({ type: 'write', data })
      ctx.stop()
      return same
    }),
  )
  // Its owner is gone before it comes to any of it.
  kit.system.suspend(connection, 'busy')
  await kit.settle()
  owner.tell('go')
  far.write('too late')
  await kit.settle()
  kit.system.resume(connection)
  await kit.settle()
  expect(peer).toEqual({ got: 'abc', ended: true })
  await kit.end()
})
