import { once } from 'node:events'
import { createServer } from 'node:net'
import { Duplex } from 'node:stream'
import { adopt, type ConnectionEvent, tls } from '@troupe/node'
import { createTestKit } from '@troupe/testkit'
import { receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { pair } from './stream-pair.ts'

test('an adopted stream talks to its owner on virtual time, and is destroyed with its actor', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const { near, far } = pair()
  const connection = kit.system.spawn(adopt(near, { owner: probe.ref }))
  await kit.settle()
  far.write('in')
  await kit.settle()
  expect(probe.expectType('data').chunk.toString()).toBe('in')
  connection.tell({ type: 'write', data: 'out' })
  await kit.settle()
  expect(String(far.read())).toBe('out')
  connection.stop()
  await kit.settle()
  expect(near.destroyed).toBe(true)
  await kit.end()
})

test('interest limits what is told; an error outside of it fails the actor', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const { near, far } = pair()
  const connection = kit.system.spawn(adopt(near, { owner: probe.ref, interest: ['data'] }), { supervision: 'stop' })
  await kit.settle()
  far.write('a')
  await kit.settle()
  probe.expectType('data')
  near.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }))
  await kit.settle()
  probe.expectNone()
  const end = await kit.system.whenTerminated(connection)
  expect(end.reason).toBe('failure')
  expect((end.cause as { code: string }).code).toBe('EPIPE')
  await kit.end()
})

test('a silent connection closes as idle, within a quarter more than its time', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const { near, far } = pair()
  kit.system.spawn(adopt(near, { owner: probe.ref, idleTimeout: 1000 }))
  await kit.advance(700)
  far.write('still here')
  await kit.advance(300)
  probe.expectType('data')
  await kit.advance(700)
  probe.expectNone()
  await kit.advance(250)
  expect(probe.expectType('closed').reason).toBe('idle')
  await kit.end()
})

test('a handshake that is never answered times out on the system clock', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  kit.system.spawn(tls.connect({ port, tls: {}, connectTimeout: 3000, owner: probe.ref }))
  await kit.advance(2999)
  probe.expectNone()
  await kit.advance(1)
  expect(probe.expectType('error').code).toBe('connect-timeout')
  await kit.end()
  silent.close()
})

test('a chunk that the owner stashes gives its credit back once, not again when it is unstashed', async () => {
  const kit = createTestKit()
  const { near, far } = pair()
  const seen: string[] = []
  let later = true
  const owner = kit.system.spawn(
    receive<ConnectionEvent | 'open'>((ctx, m) => {
      if (m === 'open') {
        later = false
        ctx.stash.unstashAll()
      } else if (later) ctx.stash.add(m)
      else if (m.type === 'data') seen.push(`${m.chunk.toString()} ${near.isPaused() ? 'held' : 'flowing'}`)
      return same
    }),
  )
  kit.system.spawn(adopt(near, { owner, credits: 4 }))
  const write = async (texts: string): Promise<void> => {
    for (const text of texts) {
      far.write(text)
      await kit.settle()
    }
  }
  await kit.settle()
  await write('abcd')
  kit.system.suspend(owner, 'busy')
  owner.tell('open')
  await write('efgh')
  expect(near.isPaused()).toBe(true)
  kit.system.resume(owner)
  await kit.settle()
  // Four chunks wait while the stashed four are handled, so the stream stays held until half of those are taken.
  expect(seen.slice(0, 6)).toEqual(['a held', 'b held', 'c held', 'd held', 'e held', 'f flowing'])
  await kit.end()
})

test('an owner whose mailbox refuses a chunk loses the connection, not a piece of the stream', async () => {
  const kit = createTestKit()
  const { near, far } = pair()
  const seen: string[] = []
  const accepts = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => ((value as ConnectionEvent).type === 'data' ? { issues: [{ message: 'no data' }] } : { value }),
    },
  }
  const owner = kit.system.spawn(
    receive<ConnectionEvent>((_ctx, m) => {
      seen.push(m.type === 'closed' ? m.reason : m.type)
      return same
    }),
    { accepts },
  )
  kit.system.spawn(adopt(near, { owner }))
  await kit.settle()
  far.write('x')
  await kit.settle()
  expect(near.destroyed).toBe(true)
  expect(seen).toEqual(['destroyed'])
  await kit.end()
})

/** Fails on the spot, as soon as somebody listens, and tells of it later: so does a socket of Bun that finds nobody at its path. */
class FailsAtOnce extends Duplex {
  override on(event: string, listener: (...args: never[]) => void): this {
    super.on(event, listener as (...args: unknown[]) => void)
    return event === 'close' ? this.destroy(Object.assign(new Error('nobody there'), { code: 'ENOENT' })) : this
  }
}

test('a stream that has failed before its actor begins is told as failed, not just as closed', async () => {
  const kit = createTestKit()
  const probe = kit.probe<ConnectionEvent>()
  const connection = kit.system.spawn(adopt(new FailsAtOnce(), { owner: probe.ref }))
  await kit.settle()
  await kit.system.whenTerminated(connection)
  expect(probe.expectType('error').code).toBe('ENOENT')
  expect(probe.expectType('closed').reason).toBe('error')
  probe.expectNone()
  await kit.end()
})
