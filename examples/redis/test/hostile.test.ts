// What one client can make the server keep is bounded: it gets the protocol's error, and the connection goes on.

import { encodeRespRequest } from '@troupe/node'
import type { ActorRef } from '@troupe/core'
import { expect, test } from 'vitest'
import { Client, withServer } from './client.ts'

const error = (pattern: RegExp): object => ({ error: expect.stringMatching(pattern) as string })

test.each([
  ['by the bytes of its words', ['SET', 'k', 'x'.repeat(4000)]],
  ['by their number, though they are empty', ['SADD', 's', ...Array<string>(150).fill('')]],
])('a transaction is bounded, %s: refused, aborted at EXEC, and nothing of it is run', (_how, command) =>
  withServer(
    async (port) => {
      const client = new Client(port)
      await client.call('MULTI')
      expect(await client.call('SET', 'a', '1')).toBe('QUEUED')
      expect(await client.call(...command)).toBe('QUEUED')
      expect(await client.call(...command)).toBe('QUEUED')
      expect(await client.call(...command)).toEqual(error(/^ERR the transaction is too large/))
      // What follows costs nothing any more.
      for (let i = 0; i < 10; i++) expect(await client.call(...command)).toBe('QUEUED')
      expect(await client.call('EXEC')).toEqual(error(/^EXECABORT/))
      expect(await client.call('DBSIZE')).toBe(0)
      await client.call('MULTI')
      expect(await client.call(...command)).toBe('QUEUED')
      expect(await client.call('EXEC')).toHaveLength(1)
    },
    { limits: { transaction: 12_000 } },
  ),
)

test('a transaction of the largest command there is fits', () =>
  withServer(async (port) => {
    const client = new Client(port)
    await client.call('MULTI')
    expect(await client.call('SET', 'k', 'x'.repeat(60 * 1024 * 1024))).toBe('QUEUED')
    expect(await client.call('EXEC')).toEqual(['OK'])
  }))

test('subscriptions are bounded by the bytes of their names, and give them back', () =>
  withServer(
    async (port) => {
      const client = new Client(port)
      const names = ['a'.repeat(1000), 'b'.repeat(1000), 'c'.repeat(1000)] as const
      client.socket.write(encodeRespRequest(['SUBSCRIBE', ...names]))
      expect(await client.next()).toEqual(['subscribe', names[0], 1])
      expect(await client.next()).toEqual(['subscribe', names[1], 2])
      expect(await client.next()).toEqual(error(/^ERR too many subscriptions/))
      expect(await client.call('PSUBSCRIBE', names[2])).toEqual(error(/^ERR too many subscriptions/))
      expect(await client.call('SUBSCRIBE', names[0])).toEqual(['subscribe', names[0], 2])
      const speaker = new Client(port)
      expect(await speaker.call('PUBLISH', names[2], 'x')).toBe(0)
      expect(await client.call('UNSUBSCRIBE', names[0])).toEqual(['unsubscribe', names[0], 1])
      expect(await client.call('PSUBSCRIBE', names[2])).toEqual(['psubscribe', names[2], 2])
      expect(await speaker.call('PUBLISH', names[2], 'x')).toBe(1)
    },
    { limits: { subscriptions: 3000 } },
  ))

test('fifty thousand subscriptions in one command take a moment, not minutes', () =>
  withServer(async (port) => {
    const client = new Client(port)
    const count = 50_000
    const names = Array.from({ length: count }, (_, i) => `channel-${i}`)
    client.socket.write(encodeRespRequest(['SUBSCRIBE', ...names]))
    for (let i = 0; i < count; i++) await client.next()
    expect(await client.call('PING')).toEqual(['pong', ''])
  }))

test('nothing more is read while much waits for a keyspace, however few commands it is', () =>
  withServer(async (port, { system }) => {
    const client = new Client(port)
    await client.call('PING')
    const db = system.find('/user/redis/db0') as ActorRef<never>
    system.suspend(db, 'busy')
    const count = 100
    const payload = 'x'.repeat(1024 * 1024)
    for (let i = 0; i < count; i++) client.socket.write(encodeRespRequest(['SET', `k${i}`, payload]))
    let before = -1
    while (client.socket.writableLength !== before) {
      before = client.socket.writableLength
      for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(before).toBeGreaterThan(80_000_000)
    system.resume(db)
    for (let i = 0; i < count; i++) expect(await client.next()).toBe('OK')
    expect(await client.call('DBSIZE')).toBe(count)
  }))

test('a reply is bounded, of one command and of a transaction, and what it would have taken stays', () =>
  withServer(
    async (port) => {
      const client = new Client(port)
      const value = 'x'.repeat(4000)
      await client.call('SET', 'k', value)
      expect(await client.call('MGET', 'k', 'k')).toEqual([value, value])
      expect(await client.call('MGET', 'k', 'k', 'k')).toEqual(error(/^ERR the reply is too large/))
      for (let i = 0; i < 3; i++) await client.call('RPUSH', 'l', value)
      expect(await client.call('LPOP', 'l', '3')).toEqual(error(/^ERR the reply is too large/))
      expect(await client.call('RPOP', 'l', '3')).toEqual(error(/^ERR the reply is too large/))
      expect(await client.call('LLEN', 'l')).toBe(3)
      expect(await client.call('LPOP', 'l', '2')).toEqual([value, value])
      await client.call('MULTI')
      for (let i = 0; i < 3; i++) await client.call('GET', 'k')
      await client.call('INCR', 'n')
      expect(await client.call('EXEC')).toEqual([value, value, error(/^ERR the reply is too large/), 1])
    },
    { limits: { reply: 10_000 } },
  ))

test('a client name is short, and no error breaks its line', () =>
  withServer(async (port) => {
    const client = new Client(port)
    expect(await client.call('CLIENT', 'SETNAME', 'x'.repeat(513))).toEqual(error(/^ERR Client names cannot be longer/))
    expect(await client.call('CLIENT', 'GETNAME')).toBe('')
    expect(await client.call('CONFIG', 'x\r\n+OK')).toEqual(error(/^ERR unknown subcommand/))
    expect(await client.call('PING')).toBe('PONG')
  }))
