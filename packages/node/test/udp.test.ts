// UDP under pressure, both ways: nothing grows without bound, and nothing is lost without a word.

import { createSocket, Socket } from 'node:dgram'
import { once } from 'node:events'
import { udp, type UdpCommand, type UdpEvent, type UdpOptions } from '@troupe/node'
import { type ActorRef, type ActorSystem, bounded, supervise } from '@troupe/core'
import { afterEach, expect, test, vi } from 'vitest'
import { hostSystem, inbox, type Inbox, leakless, until } from './inbox.ts'

/** A socket of nobody here, and what it got. */
async function witness(): Promise<{ readonly port: number; readonly got: string[]; readonly socket: Socket }> {
  const socket = createSocket('udp4')
  const got: string[] = []
  socket.on('message', (data) => got.push(data.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, got, socket }
}

async function bound(
  system: ActorSystem,
  options: Partial<UdpOptions> = {},
): Promise<{ readonly box: Inbox<UdpEvent>; readonly ref: ActorRef<UdpCommand> }> {
  const box = inbox<UdpEvent>(system)
  const ref = system.spawn(udp.bind({ owner: box.ref, ...options }))
  await box.next('bound')
  return { box, ref }
}

const dropped = (box: Inbox<UdpEvent>): number => box.seen.reduce((sum, m) => (m.type === 'sends-dropped' ? sum + m.count : sum), 0)

test.each([
  ['large ones', 'x'.repeat(1000), 20_000],
  ['empty ones', '', 2000],
])('datagrams that wait to be sent are bounded, %s: what is beyond is dropped and told, then there is room again', (_what, data, maxBuffered) =>
  leakless(async () => {
    const system = hostSystem()
    const { port, got, socket } = await witness()
    const { box, ref } = await bound(system, { maxBuffered })
    for (let i = 0; i < 50; i++) ref.tell({ type: 'send', data, port })
    await box.next('drained')
    await until(() => got.length + dropped(box) === 50)
    expect(got.length).toBeGreaterThan(0)
    expect(dropped(box)).toBeGreaterThan(0)
    expect(box.seen.every((m) => m.type === 'drained' || (m.type === 'sends-dropped' && m.code === 'write-overflow'))).toBe(true)
    ref.tell({ type: 'send', data: 'again', port })
    await until(() => got.at(-1) === 'again')
    socket.close()
    await system.shutdown()
  }),
)

test('an owner that does not listen gets one notice of what was dropped, and the rest with the next', () =>
  leakless(async () => {
    const system = hostSystem()
    const { port, socket, got } = await witness()
    const { box, ref } = await bound(system, { maxBuffered: 1 })
    system.suspend(box.ref, 'busy')
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) ref.tell({ type: 'send', data: 'x', port })
      await ref.ask({ type: 'flush' })
    }
    expect((await system.ledger()).queued).toBe(1)
    system.resume(box.ref)
    await box.next('drained')
    await until(() => got.length + dropped(box) === 50)
    expect(box.seen.length).toBe(2)
    socket.close()
    await system.shutdown()
  }))

test('flush is answered when what was sent before it has left, whatever follows', () =>
  leakless(async () => {
    const system = hostSystem()
    const { port, got, socket } = await witness()
    const { ref } = await bound(system)
    expect(await ref.ask({ type: 'flush' })).toEqual({ type: 'flushed' })
    for (let i = 0; i < 10; i++) ref.tell({ type: 'send', data: String(i), port })
    const flushed = ref.ask({ type: 'flush' })
    for (let i = 0; i < 10; i++) ref.tell({ type: 'send', data: 'later', port })
    await flushed
    await until(() => got.length === 20)
    socket.close()
    await system.shutdown()
  }))

test.each([
  ['close', (ref: ActorRef<UdpCommand>) => ref.tell({ type: 'close' })],
  ['stop', (ref: ActorRef<UdpCommand>) => ref.stop({ after: 'queued' })],
])('what was sent before %s leaves, also from a socket that is not bound yet', (_how, end) =>
  leakless(async () => {
    const system = hostSystem()
    const { port, got, socket } = await witness()
    for (const ready of [true, false]) {
      const box = inbox<UdpEvent>(system)
      const ref = system.spawn(udp.bind({ owner: box.ref }))
      if (ready) await box.next('bound')
      for (let i = 0; i < 3; i++) ref.tell({ type: 'send', data: `${ready} ${i}`, port })
      end(ref)
      await system.whenTerminated(ref)
    }
    await until(() => got.length === 6)
    socket.close()
    await system.shutdown()
  }),
)

/** What is told, and what stays unhandled, where three datagrams are sent by a socket that cannot be bound. */
async function unbindable(slice: number): Promise<{ readonly told: string[]; readonly unhandled: number }> {
  const system = hostSystem({ dispatcher: { slice } })
  const { port, socket } = await witness()
  const box = inbox<UdpEvent>(system)
  const ref = system.spawn(udp.bind({ owner: box.ref, port }))
  for (let i = 0; i < 3; i++) ref.tell({ type: 'send', data: 'x', port })
  await system.whenTerminated(ref)
  const told = box.seen.map((m) => (m.type === 'sends-dropped' ? `${m.type} ${m.code} ${m.count}` : m.type))
  const { unhandled } = await system.ledger()
  socket.close()
  await system.shutdown()
  return { told, unhandled }
}

test('what a socket that cannot be bound was sent is told as dropped, before closed', () =>
  leakless(async () => {
    expect(await unbindable(60_000)).toEqual({ told: ['error', 'sends-dropped closed 3', 'closed'], unhandled: 0 })
  }))

test('what comes to a socket after the failure of its binding is unhandled, not forgotten', () =>
  leakless(async () => {
    // A slice for each message: the failure is known before the second.
    expect(await unbindable(Number.MIN_VALUE)).toEqual({ told: ['error', 'sends-dropped closed 1', 'closed'], unhandled: 2 })
  }))

test('a send behind close is unhandled, not forgotten', () =>
  leakless(async () => {
    const system = hostSystem()
    const { port, socket } = await witness()
    const { box, ref } = await bound(system)
    ref.tell({ type: 'close' })
    ref.tell({ type: 'send', data: 'late', port })
    await box.next('closed')
    expect(await system.ledger()).toMatchObject({ unhandled: 1 })
    socket.close()
    await system.shutdown()
  }))

test('datagrams that the mailbox of the owner refuses are dropped and told, and the socket goes on', () =>
  leakless(async () => {
    const system = hostSystem()
    const box = inbox<UdpEvent>(system)
    const owner = system.spawn(box.behavior(), { mailbox: bounded(4, 'reject') })
    const ref = system.spawn(udp.bind({ owner }))
    const { address } = await box.next('bound')
    system.suspend(owner, 'busy')
    const { socket } = await witness()
    for (let i = 0; i < 10; i++) socket.send(String(i), address.port, '127.0.0.1')
    await until(() => system.deadLetters.list().length === 6)
    system.resume(owner)
    expect((await box.next('datagrams-dropped')).count).toBe(6)
    socket.send('more', address.port, '127.0.0.1')
    await until(() => box.seen.some((m) => m.type === 'datagram' && m.data.toString() === 'more'))
    expect(system.phaseOf(ref)).toBe('running')
    socket.close()
    await system.shutdown()
  }))

/** A network that takes nothing: datagrams wait for ever. */
const clog = (): unknown => vi.spyOn(Socket.prototype, 'send').mockImplementation(() => {})
afterEach(() => void vi.restoreAllMocks())

test('a restart binds the same port again, though datagrams of the last incarnation were still on their way; they are told as dropped', () =>
  leakless(async () => {
    const system = hostSystem()
    const other = await witness()
    const { port } = other
    other.socket.close()
    await once(other.socket, 'close')
    clog()
    const box = inbox<UdpEvent>(system)
    const ref = system.spawn(udp.bind({ owner: box.ref, port }), { supervision: supervise({ backoff: { min: 0, max: 0 } }) })
    await box.next('bound')
    for (let i = 0; i < 3; i++) ref.tell({ type: 'send', data: 'x', port })
    await ref.ask({ type: 'address' })
    system.restart(ref)
    expect((await box.next('bound')).address.port).toBe(port)
    expect(await box.next('sends-dropped')).toMatchObject({ code: 'closed', count: 3 })
    expect(box.seen).toEqual([])
    await system.shutdown()
  }))

test('a stop waits no longer than linger for datagrams that do not leave, and tells what stayed behind', () =>
  leakless(async () => {
    const system = hostSystem()
    clog()
    const { box, ref } = await bound(system, { linger: 10 })
    for (let i = 0; i < 3; i++) ref.tell({ type: 'send', data: 'x', port: 1 })
    ref.stop({ after: 'queued' })
    expect(await box.next('sends-dropped')).toMatchObject({ code: 'closed', count: 3 })
    await system.shutdown()
  }))
