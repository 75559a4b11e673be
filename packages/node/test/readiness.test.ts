// Streams that tell when they can be read or written, and leave both to their owner.

import { type Duplex, PassThrough, Readable, Writable } from 'node:stream'
import { adopt, type ReadinessCommand, type ReadinessEvent, type ReadinessOptions, type ReadResult } from '@troupe/node'
import { createTestKit, type Probe, type TestKit } from '@troupe/testkit'
import { type ActorRef, bounded, receive, same, setup, supervise } from '@troupe/core'
import { describe, expect, test } from 'vitest'
import { pair } from './stream-pair.ts'

type Stream = ActorRef<ReadinessCommand>

/** An adopted stream whose owner is a probe, and what reads from it. */
async function adopted(
  kit: TestKit,
  stream: Duplex | Readable | Writable,
  options: Omit<ReadinessOptions, 'owner'>,
): Promise<{ readonly probe: Probe<ReadinessEvent>; readonly connection: Stream; readonly read: (n?: number) => Promise<string> }> {
  const probe = kit.probe<ReadinessEvent>()
  const connection = kit.system.spawn(adopt(stream, { owner: probe.ref, ...options }), { supervision: 'stop' })
  await kit.settle()
  const read = async (n?: number): Promise<string> => {
    const found = connection.ask({ type: 'read', n })
    await kit.settle()
    return textOf(await found)
  }
  return { probe, connection, read }
}
function textOf(result: ReadResult): string {
  return result.type === 'bytes' ? result.chunk.toString() : `(${result.type})`
}

describe('readable', () => {
  test('bytes that came are told as one notice, and are there until they are read', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, read } = await adopted(kit, near, { interest: ['readable'] })
    probe.expectNone()
    far.write('hel')
    far.write('lo')
    await kit.settle()
    probe.expectType('readable')
    far.write(' you')
    await kit.settle()
    probe.expectNone()
    expect(await read(5)).toBe('hello')
    // Some are left: that is told.
    probe.expectType('readable')
    expect(await read()).toBe(' you')
    expect(await read()).toBe('(nothing)')
    probe.expectNone()
    far.write('!')
    await kit.settle()
    probe.expectType('readable')
    expect(await read(100)).toBe('!')
    await kit.end()
  })

  test.each([1, 3, 7, 1000])('an owner that reads %d bytes for each notice gets them all, and the end', async (n) => {
    const kit = createTestKit()
    const { near, far } = pair()
    let got = ''
    const owner = kit.system.spawn(
      receive<ReadinessEvent>(async (ctx, m) => {
        if (m.type === 'readable') got += textOf(await ctx.ask(m.connection, { type: 'read', n }))
        return same
      }),
    )
    kit.system.spawn(adopt(near, { owner, interest: ['readable'] }))
    let sent = ''
    for (let i = 0; i < 40; i++) {
      const text = String(i).repeat(i % 6)
      sent += text
      far.write(text)
      if (i % 3 === 0) await kit.settle()
    }
    far.end()
    await kit.settle()
    expect(got).toBe(`${sent}(end)`)
    await kit.end()
  })

  test('an owner that is told and does not read is not told again, until it has read', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, read } = await adopted(kit, near, { interest: ['readable'] })
    for (let i = 0; i < 5; i++) {
      far.write('x')
      await kit.settle()
    }
    probe.expectType('readable')
    probe.expectNone()
    expect(await read(1)).toBe('x')
    probe.expectType('readable')
    await kit.end()
  })

  test('what nobody reads is not taken from the source: at most what the stream keeps', async () => {
    const kit = createTestKit()
    let pulled = 0
    const source = new Readable({
      highWaterMark: 8,
      read() {
        pulled++
        this.push('ab')
      },
    })
    const { read } = await adopted(kit, source, { interest: ['readable'] })
    await kit.advance(1000)
    expect(pulled).toBeLessThanOrEqual(5)
    expect(await read(4)).toBe('abab')
    expect(pulled).toBeGreaterThan(4)
    expect(pulled).toBeLessThanOrEqual(7)
    await kit.end()
  })

  test('an owner that failed on a notice is told again when it is back', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const heard: string[] = []
    const owner = kit.system.spawn(
      setup<ReadinessEvent>((ctx) => {
        const { incarnation } = ctx
        return receive<ReadinessEvent>(async (c, m) => {
          if (m.type !== 'readable') return same
          if (incarnation === 0) throw new Error('not ready for this')
          heard.push(textOf(await c.ask(m.connection, { type: 'read' })))
          return same
        })
      }),
      { supervision: supervise({ backoff: { min: 0, max: 0 } }) },
    )
    kit.system.spawn(adopt(near, { owner, interest: ['readable'] }))
    await kit.settle()
    far.write('x')
    await kit.settle()
    expect(heard).toEqual(['x'])
    await kit.end()
  })

  test('pause holds notices back, and resume tells what is there', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, connection, read } = await adopted(kit, near, { interest: ['readable'], paused: true })
    far.write('x')
    await kit.settle()
    probe.expectNone()
    connection.tell({ type: 'resume' })
    await kit.settle()
    probe.expectType('readable')
    connection.tell({ type: 'pause' })
    expect(await read()).toBe('x')
    far.write('y')
    await kit.settle()
    probe.expectNone()
    await kit.end()
  })

  test('a new owner is told of what is there', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, connection } = await adopted(kit, near, { interest: ['readable', 'writable'] })
    far.write('x')
    await kit.settle()
    probe.expectType('writable')
    probe.expectType('readable')
    const heir = kit.probe<ReadinessEvent>()
    connection.tell({ type: 'own', owner: heir.ref })
    await kit.settle()
    heir.expectType('readable')
    heir.expectType('writable')
    probe.expectNone()
    await kit.end()
  })
})

describe('writable', () => {
  /** Takes writes when it is let to. */
  class Slow extends Writable {
    waiting: (() => void)[] = []
    readonly taken: string[] = []
    override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
      this.taken.push(chunk.toString())
      this.waiting.push(done)
    }
    release(): void {
      for (const done of this.waiting.splice(0)) done()
    }
  }

  test('room is told at once, and again after each write that leaves some', async () => {
    const kit = createTestKit()
    const slow = new Slow({ highWaterMark: 4 })
    const { probe, connection } = await adopted(kit, slow, { interest: ['writable'] })
    probe.expectType('writable')
    await kit.advance(1000)
    probe.expectNone()
    connection.tell({ type: 'write', data: 'ab' })
    await kit.settle()
    probe.expectType('writable')
    connection.tell({ type: 'write', data: 'cdef' })
    await kit.settle()
    // Full: told when it has drained.
    probe.expectNone()
    slow.release()
    await kit.settle()
    probe.expectNone()
    slow.release()
    await kit.settle()
    probe.expectType('writable')
    expect(slow.taken).toEqual(['ab', 'cdef'])
    connection.stop()
    slow.release()
    await kit.end()
  })

  test('an owner that writes one portion for each notice gets all of it out, and never fills more than the stream wants', async () => {
    const kit = createTestKit()
    const slow = new Slow({ highWaterMark: 4 })
    let most = 0
    const portions = Array.from({ length: 50 }, (_, i) => String(i))
    const owner = kit.system.spawn(
      receive<ReadinessEvent>((_ctx, m) => {
        if (m.type !== 'writable') return same
        const next = portions.shift()
        m.connection.tell(next === undefined ? { type: 'end' } : { type: 'write', data: next })
        most = Math.max(most, slow.writableLength)
        return same
      }),
    )
    kit.system.spawn(adopt(slow, { owner, interest: ['writable'] }))
    await kit.settle()
    while (slow.waiting.length > 0) {
      slow.release()
      await kit.settle()
    }
    expect(slow.taken.join()).toBe(Array.from({ length: 50 }, (_, i) => String(i)).join())
    expect(most).toBeLessThan(4)
    expect(slow.writableFinished).toBe(true)
    await kit.end()
  })
})

describe('ends', () => {
  test('the end is told as something to read; this side ends once that was handled, behind the answer', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const heard: string[] = []
    const owner = kit.system.spawn(
      receive<ReadinessEvent>(async (ctx, m) => {
        if (m.type !== 'readable') return same
        const found = textOf(await ctx.ask(m.connection, { type: 'read' }))
        heard.push(found)
        if (found === '(end)') m.connection.tell({ type: 'write', data: 'bye' })
        return same
      }),
    )
    kit.system.spawn(adopt(near, { owner, interest: ['readable'] }))
    far.end('hi')
    await kit.settle()
    expect(heard).toEqual(['hi', '(end)'])
    expect(String(far.read())).toBe('bye')
    await kit.settle()
    expect(near.writableEnded).toBe(true)
    await kit.end()
  })

  test('the end that came together with the last bytes is told behind them', async () => {
    const kit = createTestKit()
    const source = new Readable({ read() {} })
    source.push('last')
    source.push(null)
    const { probe, read } = await adopted(kit, source, { interest: ['readable', 'closed'] })
    probe.expectType('readable')
    expect(await read(4)).toBe('last')
    probe.expectType('readable')
    probe.expectType('closed')
    await kit.end()
  })

  test('with halfOpen this side stays open until `end`', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, connection, read } = await adopted(kit, near, { interest: ['readable', 'half-closed', 'closed'], halfOpen: true })
    far.end()
    await kit.settle()
    probe.expectType('readable')
    probe.expectType('half-closed')
    expect(await read()).toBe('(end)')
    expect(near.writableEnded).toBe(false)
    connection.tell({ type: 'end', data: 'later' })
    await kit.settle()
    expect(String(far.read())).toBe('later')
    far.resume()
    await kit.settle()
    expect(probe.expectType('closed').reason).toBe('ended')
    await kit.expectPhase(connection, 'terminated')
    await kit.end()
  })

  test('the actor of a stream that closes by itself at its end waits until the owner has read that', async () => {
    const kit = createTestKit()
    const source = Readable.from([Buffer.from('all')], { objectMode: false })
    const { probe, connection, read } = await adopted(kit, source, { interest: ['readable', 'closed'] })
    probe.expectType('readable')
    expect(await read()).toBe('all')
    probe.expectType('readable')
    // The probe has dealt with it by now, so the actor may stop; what was asked before is answered.
    probe.expectType('closed')
    await kit.expectPhase(connection, 'terminated')
    await kit.end()
  })

  test('an owner without interest in `closed` still reads the end of a stream that closes by itself', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const owner = kit.system.spawn(
      receive<ReadinessEvent>(async (ctx, m) => {
        if (m.type === 'readable') heard.push(textOf(await ctx.ask(m.connection, { type: 'read' })))
        return same
      }),
    )
    const connection = kit.system.spawn(adopt(Readable.from([Buffer.from('all')], { objectMode: false }), { owner, interest: ['readable'] }))
    await kit.settle()
    expect(heard).toEqual(['all', '(end)'])
    await kit.expectPhase(connection, 'terminated')
    await kit.end()
  })

  test('an error is told where it is of interest, a read then finds the stream gone, and `closed` is last', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const owner = kit.probe<ReadinessEvent>()
    const connection = kit.system.spawn(adopt(near, { owner: owner.ref, interest: ['readable', 'error', 'closed'] }))
    await kit.settle()
    far.write('lost')
    await kit.settle()
    owner.expectType('readable')
    kit.system.suspend(owner.ref, 'so that the actor does not stop yet')
    near.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }))
    const found = connection.ask({ type: 'read' })
    await kit.settle()
    expect(await found).toEqual({ type: 'gone' })
    kit.system.resume(owner.ref)
    await kit.settle()
    expect(owner.expectType('error').code).toBe('EPIPE')
    expect(owner.expectType('closed').reason).toBe('error')
    await kit.expectPhase(connection, 'terminated')
    await kit.end()
  })

  test('an error that is not of interest fails the actor', async () => {
    const kit = createTestKit()
    const { near } = pair()
    const { probe, connection } = await adopted(kit, near, { interest: ['readable'] })
    near.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }))
    await kit.settle()
    probe.expectNone()
    expect(await kit.system.whenTerminated(connection)).toMatchObject({ reason: 'failure', cause: { code: 'EPIPE' } })
    await kit.end()
  })

  test('an owner that stops takes the stream along', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, connection } = await adopted(kit, near, { interest: ['readable', 'writable'] })
    far.write('unread')
    probe.ref.stop()
    await kit.settle()
    await kit.expectPhase(connection, 'terminated')
    expect(near.destroyed).toBe(true)
    await kit.end()
  })

  test('an owner whose mailbox refuses a notice loses the connection: it would wait for ever', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const owner = kit.system.spawn(
      receive<ReadinessEvent | 'hold'>(() => same),
      { mailbox: bounded(1, 'drop-newest') },
    )
    const connection = kit.system.spawn(adopt(near, { owner, interest: ['readable'] }))
    await kit.settle()
    kit.system.suspend(owner, 'full')
    owner.tell('hold')
    far.write('x')
    await kit.settle()
    expect(near.destroyed).toBe(true)
    await kit.expectPhase(connection, 'terminated')
    kit.system.resume(owner)
    await kit.end()
  })

  test('the notice of the end that a mailbox refuses ends the actor all the same', async () => {
    const kit = createTestKit()
    const source = new Readable({ read() {} })
    const owner = kit.system.spawn(
      receive<ReadinessEvent | 'hold'>(() => same),
      { mailbox: bounded(1, 'drop-newest') },
    )
    const connection = kit.system.spawn(adopt(source, { owner, interest: ['readable'] }))
    await kit.settle()
    kit.system.suspend(owner, 'full')
    owner.tell('hold')
    source.push(null)
    await kit.settle()
    await kit.expectPhase(connection, 'terminated')
    kit.system.resume(owner)
    await kit.end()
  })

  test('what is written shortly before the actor stops leaves, also with input that nobody read', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { connection } = await adopted(kit, near, { interest: ['readable'] })
    far.write('never read')
    await kit.settle()
    connection.tell({ type: 'write', data: 'last' })
    connection.stop({ after: 'queued' })
    await kit.settle()
    expect(String(far.read())).toBe('last')
    expect(near.destroyed).toBe(true)
    await kit.end()
  })
})

describe('bad input is refused by name', () => {
  const owner = { tell: () => {} } as unknown as ActorRef<ReadinessEvent>
  const both = new PassThrough()
  test.each<[string, () => unknown, string]>([
    ['an interest that is no array', () => adopt(both, { owner, interest: 'readable' as never }), 'interest'],
    ['a word that is none', () => adopt(both, { owner, interest: ['readable', 'readible'] as never }), 'interest[1]'],
    ['readable beside data', () => adopt(both, { owner, interest: ['readable', 'data'] as never }), 'interest'],
    ['credits for what is not counted', () => adopt(both, { owner, interest: ['readable'], credits: 4 } as never), 'credits'],
    ['acknowledgements of nothing', () => adopt(both, { owner, interest: ['writable'], ack: 'manual' } as never), 'ack'],
    ['reading what can only be written', () => adopt(new Writable(), { owner, interest: ['readable'] }), 'interest'],
    ['writing what can only be read', () => adopt(new Readable(), { owner, interest: ['writable'] }), 'interest'],
    ['objects instead of bytes', () => adopt(new PassThrough({ objectMode: true }), { owner, interest: ['readable'] }), 'stream'],
    ['nothing', () => adopt(undefined as never, { owner, interest: ['readable'] }), 'stream'],
    ['no stream', () => adopt({} as never, { owner, interest: ['readable'] }), 'stream'],
    ['no owner', () => adopt(both, { interest: ['readable'] } as never), 'owner'],
  ])('%s', (_what, call, option) => {
    expect(call).toThrow(expect.objectContaining({ code: 'invalid-option', option }) as Error)
  })

  test('a read of no bytes is an error, and the stream goes on', async () => {
    const kit = createTestKit()
    const { near, far } = pair()
    const { probe, connection, read } = await adopted(kit, near, { interest: ['readable', 'error'] })
    for (const n of [0, -1, 1.5, Number.NaN, '3']) {
      connection.ask({ type: 'read', n: n as number }).catch(() => {})
      await kit.settle()
      expect(probe.expectType('error')).toMatchObject({ code: 'invalid-option' })
    }
    far.write('x')
    expect(await read()).toBe('x')
    await kit.advance(60_000)
    await kit.end()
  })
})
