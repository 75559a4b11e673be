// The channel on a network that does what it is told: batches, windows, bounds, connections that are over.

import { expect, test } from 'vitest'
import { headSize, readFrame, resetFrame, writeHead } from '../../src/channel/frame.ts'
import type { PeerChannel } from '../../src/channel/channel.ts'
import { Receiver } from '../../src/channel/receiver.ts'
import { ownVersions } from '../../src/values/versions.ts'
import { Net, type Side } from './pair.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

/** Counts frames on their way, and lets a test keep copies of them. */
function tapped(side: Side): Uint8Array[] {
  const frames: Uint8Array[] = []
  const send = side.wire.send.bind(side.wire)
  side.wire.send = (to, bytes) => {
    frames.push(bytes.slice())
    return send(to, bytes)
  }
  return frames
}

test('what is pushed in one turn goes out as one frame, and is acknowledged by one', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  const [out, back] = [tapped(a), tapped(b)]
  for (let i = 0; i < 256; i++) a.push(b)
  net.timing.advanceSync(1_000)
  expect(b.gotFrom(a)).toEqual(numbers(256))
  expect([out.length, back.length]).toEqual([1, 1])
  expect(a.channels.channel(b.self)!.settled).toBe(true)
  expect(net.timing.pending).toBeLessThanOrEqual(1)
})

test('answers carry acknowledgements along', () => {
  const net = new Net(1)
  const a = net.side('a')
  const b = net.side('b', { onRecord: () => void b.push(a) })
  const back = tapped(b)
  a.push(b)
  net.timing.advanceSync(1_000)
  expect(a.gotFrom(b)).toEqual([1])
  expect(back.map((bytes) => readFrame(bytes, ownVersions).kind)).toEqual(['data'])
})

test('at most one window is under way to a peer that does not answer; beyond the queue pushes are refused, and nothing that was taken is lost', () => {
  const net = new Net(1)
  const limits = { window: 1_048_576, queue: 4 * 1_048_576 }
  const [a, b] = [net.side('a', { limits }), net.side('b', { limits })]
  a.push(b)
  net.timing.advanceSync(10)
  b.timing.pause()
  let taken = 1
  let refused = 0
  const most = { underWay: 0, queued: 0 }
  for (let i = 0; i < 10_000; i++) {
    if (a.push(b, 1_000) === 'taken') taken++
    else refused++
    if (i % 100 === 0) net.timing.advanceSync(1)
    const { underWay, queued } = a.channels.channel(b.self)!.costs
    most.underWay = Math.max(most.underWay, underWay)
    most.queued = Math.max(most.queued, queued)
  }
  expect(most.underWay).toBeLessThanOrEqual(limits.window)
  expect(most.underWay).toBeGreaterThan(limits.window * 0.9)
  expect(most.queued).toBeLessThanOrEqual(limits.queue)
  expect(refused).toBeGreaterThan(1_000)
  expect(a.push(b, 1_000)).toBe('full')
  b.timing.resume()
  net.timing.advanceSync(30_000)
  expect(b.gotFrom(a)).toEqual(numbers(taken))
  expect(a.channels.channel(b.self)!.settled).toBe(true)
})

test('a payload that fits no frame is refused by name, the greatest that fits arrives', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  expect(a.push(b, 1_048_577)).toBe('too-large')
  expect(a.push(b, 1_048_576)).toBe('too-large')
  expect(a.push(b, 1_048_576 - 256 - headSize - 4)).toBe('taken')
  a.push(b)
  net.timing.advanceSync(1_000)
  expect(b.gotFrom(a)).toEqual([1, 2])
})

test('what is toward nobody is refused, what comes from a stranger is dropped and told of', () => {
  const net = new Net(1)
  const strangers: string[] = []
  const a = net.side('a')
  const b = net.side('b', { versionsOf: () => undefined, onStranger: ({ node }) => strangers.push(node) })
  a.push(b)
  net.timing.advanceSync(100)
  expect(b.gotFrom(a)).toEqual([])
  expect(strangers).toEqual(['a'])
  expect(b.push(a)).toBe('closed')
})

test('while the wire takes nothing little is tried; when it does again, all goes on within moments', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  const out = tapped(a)
  net.hub.isolate('a', true)
  for (let i = 0; i < 10; i++) a.push(b)
  net.timing.advanceSync(60_000)
  expect(out.length).toBeLessThan(5)
  net.hub.isolate('a', false)
  net.timing.advanceSync(100)
  expect(b.gotFrom(a)).toEqual(numbers(10))
})

test('toward a peer that is gone frames are sent again ever more rarely, and not at all once its session has ended', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  a.push(b)
  net.timing.advanceSync(100)
  const out = tapped(a)
  b.timing.kill()
  a.push(b)
  net.timing.advanceSync(60_000)
  expect(out.length).toBeGreaterThan(20)
  expect(out.length).toBeLessThan(60)
  a.channels.end(b.self)
  net.sides.delete('b')
  out.length = 0
  net.timing.advanceSync(60_000)
  expect([out.length, a.channels.size, net.timing.pending]).toEqual([0, 0, 0])
  expect(a.closed).toEqual(['b#1 ended: the session has ended'])
  expect(a.push(b)).toBe('closed')
})

test('a bad frame closes that channel on both sides, once, and the next push begins a new one', () => {
  const net = new Net(1)
  const [a, b, c] = [net.side('a'), net.side('b'), net.side('c')]
  for (const [x, y] of [
    [a, b],
    [b, a],
    [a, c],
  ] as const)
    x.push(y)
  net.timing.advanceSync(100)
  b.wire.send(a.self, Uint8Array.of(0x0c, 0x80, 0x94, 0xeb, 0xdc, 0x03))
  net.timing.advanceSync(100)
  expect(a.closed).toEqual(['b#1 bad-frame: 6 bytes are not a frame'])
  expect(b.closed).toEqual(['a#1 reset: the other side does not know this connection'])
  expect(c.closed).toEqual([])
  for (const [x, y] of [
    [a, b],
    [b, a],
    [a, c],
  ] as const)
    x.push(y)
  net.timing.advanceSync(1_000)
  expect([b.gotFrom(a), a.gotFrom(b), c.gotFrom(a)]).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ])
})

test('frames of a connection that is over are never taken by a later one, whatever they acknowledge or bring', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  const [fromA, fromB] = [tapped(a), tapped(b)]
  for (let i = 0; i < 5; i++) {
    a.push(b)
    b.push(a)
    net.timing.advanceSync(50)
  }
  const late = { a: fromA.splice(0), b: fromB.splice(0) }
  b.wire.send(a.self, Uint8Array.of(1))
  net.timing.advanceSync(100)
  for (let i = 0; i < 3; i++) {
    a.push(b)
    b.push(a)
  }
  // Both sides are on their second connection, with frames of the first among those of the second.
  for (const bytes of late.a) a.wire.send(b.self, bytes)
  for (const bytes of late.b) b.wire.send(a.self, bytes)
  net.timing.advanceSync(1_000)
  for (const bytes of late.a) a.wire.send(b.self, bytes)
  net.timing.advanceSync(1_000)
  expect([b.gotFrom(a), a.gotFrom(b)]).toEqual([numbers(8), numbers(8)])
  expect(a.channels.refused.late + b.channels.refused.late).toBeGreaterThanOrEqual(late.a.length + late.b.length)
  expect(a.channels.channel(b.self)!.settled && b.channels.channel(a.self)!.settled).toBe(true)
})

test('an acknowledgement of a connection that is over does not count for the next, even if its sender was never heard of before', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  // What b answers is lost, so that a does not hear of b while its first connection lasts.
  const answers: Uint8Array[] = []
  const send = b.wire.send.bind(b.wire)
  b.wire.send = (_to, bytes) => {
    answers.push(bytes.slice())
    return true
  }
  a.push(b)
  net.timing.advanceSync(20)
  expect([b.gotFrom(a), answers.length]).toEqual([[1], 1])
  a.channels.channel(b.self)!.close('bad-frame', 'for this test')
  net.hub.cut('a', 'b', true)
  a.push(b)
  net.timing.advanceSync(10)
  net.hub.cut('a', 'b', false)
  b.wire.send = send
  net.hub.frame(b.self, a.self, answers[0]!)
  net.timing.advanceSync(1)
  expect(a.channels.channel(b.self)!.settled).toBe(false)
  net.timing.advanceSync(5_000)
  expect(b.gotFrom(a)).toEqual([1, 2])
})

test('a frame that was lost is sent again as soon as later ones were acknowledged', () => {
  const net = new Net(1)
  net.hub.wireFaults = { drop: 0, double: 0, delay: [100, 100], late: 0, latest: 0 }
  const [a, b] = [net.side('a'), net.side('b')]
  const send = a.wire.send.bind(a.wire)
  let sent = 0
  let lostAt = 0
  a.wire.send = (to, bytes) => {
    if (++sent !== 100) return send(to, bytes)
    lostAt = net.timing.now()
    return true
  }
  let until = 0
  for (let i = 0; i < 200; i++) {
    a.push(b)
    net.timing.advanceSync(20)
    if (until === 0 && lostAt > 0 && b.gotFrom(a).includes(100)) until = net.timing.now()
  }
  // A way there and back to notice, another to mend, and a quarter for being overtaken; waiting in vain would take longer.
  expect(until - lostAt).toBeGreaterThan(300)
  expect(until - lostAt).toBeLessThanOrEqual(400)
})

test('what is held until others arrive is kept as it came, whatever the wire does with its bytes', () => {
  const receiver = new Receiver(65_536)
  const body = Uint8Array.of(1, 2, 3)
  expect(receiver.arrived(2, body, 3)).toBe('early')
  body.fill(9)
  expect(receiver.arrived(1, Uint8Array.of(0), 1)).toEqual([Uint8Array.of(0), Uint8Array.of(1, 2, 3)])
})

test('a side that does not know that its connection is over is told so, and begins anew', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  a.push(b)
  b.push(a)
  net.timing.advanceSync(100)
  // The reset is lost.
  net.hub.cut('a', 'b', true)
  ;(a.channels.channel(b.self) as PeerChannel).close('bad-frame', 'for this test')
  net.timing.advanceSync(10)
  net.hub.cut('a', 'b', false)
  b.push(a)
  net.timing.advanceSync(5_000)
  expect(b.closed).toEqual(['a#1 reset: the other side does not know this connection'])
  b.push(a)
  net.timing.advanceSync(5_000)
  expect(a.gotFrom(b)).toEqual([1, 3])
})

test('a frame that acknowledges what was never sent closes the channel', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  a.push(b)
  b.push(a)
  net.timing.advanceSync(100)
  const channel = b.channels.channel(a.self)!
  const bytes = new Uint8Array(headSize)
  writeHead(bytes, 'ack', { version: 1, mine: channel.mine, yours: channel.peer, ack: 1_000 }, 0)
  b.wire.send(a.self, bytes)
  net.timing.advanceSync(10)
  expect(a.closed).toHaveLength(1)
  expect(a.closed[0]).toContain('bad-frame')
})

test('a reset that is meant for another connection does nothing', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  a.push(b)
  b.push(a)
  net.timing.advanceSync(100)
  const { mine, peer } = b.channels.channel(a.self)!
  for (const [theirs, ours] of [
    [mine, peer + 1],
    [mine + 1, peer],
    [mine + 1, 0],
  ] as const)
    b.wire.send(a.self, resetFrame({ version: 1, mine: theirs, yours: ours, ack: 0 }))
  net.timing.advanceSync(100)
  expect([a.closed, a.channels.refused.late]).toEqual([[], 3])
})

test('frames far ahead are held up to the window, and no further', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  a.push(b)
  b.push(a)
  net.timing.advanceSync(100)
  const { mine, peer } = b.channels.channel(a.self)!
  // It would close the channel at the first acknowledgement of what it never sent.
  b.timing.pause()
  for (let i = 0; i < 200; i++) {
    const bytes = new Uint8Array(headSize + 20_000 + 4)
    bytes.set([1, 0xa0, 0x9c, 0x01], headSize)
    writeHead(bytes, 'data', { version: 1, mine, yours: peer, ack: 1 }, 10 + i)
    b.wire.send(a.self, bytes)
  }
  net.timing.advanceSync(10)
  expect(a.closed).toEqual([])
  expect(a.channels.channel(b.self)!.costs.held).toBeLessThanOrEqual(1_048_576)
  expect(a.channels.channel(b.self)!.costs.held).toBeGreaterThan(900_000)
})

test('closing leaves no timer and no peer', async () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  for (let i = 0; i < 10; i++) a.push(b, 100_000)
  net.timing.advanceSync(1)
  await Promise.all([a.channels.close(), b.channels.close()])
  net.timing.advanceSync(0)
  expect([a.channels.size, b.channels.size, net.timing.pending]).toEqual([0, 0, 0])
  expect(net.hub.idle).toBe(true)
})
