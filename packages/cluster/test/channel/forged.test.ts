// Frames that somebody else sends in the name of a session, as anybody can where NATS has no user for each node. They may end a connection; the
// next one works.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ackFrame, headSize, resetFrame, writeHead } from '../../src/channel/frame.ts'
import { Net, type Side } from './pair.ts'

const greatest = 2 ** 32 - 1

/** What a forger puts in for a connection: nothing, one of the numbers that are in use, the greatest, or any. */
type Named = 'none' | 'sender' | 'receiver' | 'greatest' | number

const named: fc.Arbitrary<Named> = fc.oneof(
  fc.constantFrom<Named>('none', 'sender', 'receiver', 'greatest'),
  fc.integer({ min: 1, max: greatest }),
  fc.integer({ min: 1, max: 5 }),
)
const forgery = fc.record({
  kind: fc.constantFrom<'data' | 'ack' | 'reset'>('data', 'ack', 'reset'),
  mine: named,
  yours: named,
  ack: fc.constantFrom(0, 0, 1, 1_000_000),
  number: fc.constantFrom(1, 2, 1_000),
  toward: fc.boolean(),
})
type Forgery = typeof forgery extends fc.Arbitrary<infer F> ? F : never

function numberOf(name: Named, from: Side, to: Side): number {
  if (typeof name === 'number') return name
  const channel = to.channels.channel(from.self)
  return { none: 0, sender: channel?.peer ?? 0, receiver: channel?.mine ?? 0, greatest }[name]
}

/** Somebody sends a frame in the name of `from`. */
function forge(net: Net, from: Side, to: Side, { kind, mine, yours, ack, number }: Forgery): void {
  const head = { version: 1, mine: numberOf(mine, from, to) || 1, yours: numberOf(yours, from, to), ack }
  let bytes: Uint8Array
  if (kind === 'ack') bytes = ackFrame(head, [])
  else if (kind === 'reset') bytes = resetFrame(head)
  else {
    bytes = new Uint8Array(headSize + 2)
    // A bye, which nobody notes.
    bytes.set([4, 0], headSize)
    writeHead(bytes, 'data', head, number)
  }
  net.hub.frame(from.self, to.self, bytes)
}

const way = (kind: Forgery['kind'], mine: Named, yours: Named): Forgery => ({ kind, mine, yours, ack: 0, number: 1, toward: true })

test.each([
  ['before anything was said', false],
  ['while both talk', true],
])('one forged frame with the greatest number of a connection, %s, separates nobody', (_when, talked) => {
  for (const yours of ['none', 'receiver'] as const) {
    const net = new Net(1)
    const [a, b] = [net.side('a'), net.side('b')]
    if (talked) {
      a.push(b)
      b.push(a)
      net.timing.advanceSync(100)
    }
    forge(net, a, b, way('data', 'greatest', yours))
    net.timing.advanceSync(100)
    for (let round = 0; round < 3; round++) {
      a.push(b)
      b.push(a)
      net.timing.advanceSync(5_000)
    }
    // The connection may have ended, with what was under way; after that all arrives.
    expect(b.gotFrom(a)).toContain(a.sentTo(b))
    expect(a.gotFrom(b)).toContain(b.sentTo(a))
    expect(a.closed.length).toBeLessThanOrEqual(1)
    expect(b.closed.length).toBeLessThanOrEqual(1)
  }
})

test('a forged acknowledgement of a frame that was lost ends the connection, instead of stopping it for good', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  a.push(b)
  b.push(a)
  net.timing.advanceSync(100)
  net.hub.cut('a', 'b', true)
  a.push(b)
  net.timing.advanceSync(10)
  const { mine, peer } = a.channels.channel(b.self)!
  net.hub.cut('a', 'b', false)
  net.hub.frame(b.self, a.self, ackFrame({ version: 1, mine: peer, yours: mine, ack: 2 }, []))
  net.timing.advanceSync(1)
  a.push(b)
  net.timing.advanceSync(1_000)
  expect(a.closed).toEqual(['b#1 bad-frame: the other side lacks what was acknowledged in its name'])
  a.push(b)
  net.timing.advanceSync(5_000)
  expect(b.gotFrom(a)).toEqual([1, 4])
})

test('a frame that was taken is not taken again where its sender has heard of nothing of the connection, nor of its end', () => {
  const net = new Net(1)
  const [a, b] = [net.side('a'), net.side('b')]
  const send = b.wire.send.bind(b.wire)
  // Nothing of b arrives: neither its acknowledgement nor its reset.
  b.wire.send = () => true
  a.push(b)
  net.timing.advanceSync(20)
  expect(b.gotFrom(a)).toEqual([1])
  b.channels.channel(a.self)!.close('bad-frame', 'for this test')
  b.wire.send = send
  net.timing.advanceSync(5_000)
  expect(b.gotFrom(a)).toEqual([1])
  expect(a.closed).toEqual(['b#1 reset: the other side does not know this connection'])
  a.push(b)
  net.timing.advanceSync(5_000)
  expect(b.gotFrom(a)).toEqual([1, 2])
})

test('a frame that names no connection of the receiver ends nothing', () => {
  fc.assert(
    fc.property(fc.array(forgery, { minLength: 1, maxLength: 10 }), (forgeries) => {
      const net = new Net(1)
      const [a, b] = [net.side('a'), net.side('b')]
      a.push(b)
      b.push(a)
      net.timing.advanceSync(100)
      const sent = forgeries.map((f) => ({ ...f, yours: f.yours === 'receiver' || f.yours === 'none' ? ('greatest' as const) : f.yours }))
      for (const f of sent) {
        const [from, to] = f.toward ? [a, b] : [b, a]
        // Nobody guesses the number of a connection, but here it may happen.
        if (numberOf(f.yours, from, to) === to.channels.channel(from.self)!.mine) continue
        forge(net, from, to, f)
        net.timing.advanceSync(50)
        a.push(b)
        b.push(a)
      }
      net.timing.advanceSync(5_000)
      expect([a.closed, b.closed]).toEqual([[], []])
      expect([b.gotFrom(a).length, a.gotFrom(b).length]).toEqual([a.sentTo(b), b.sentTo(a)])
    }),
    { numRuns: 200 },
  )
})

test('whatever is forged, when the forger is gone everything arrives again, in order', () => {
  const runs = Number(process.env['TROUPE_RUNS'] ?? 300)
  const faults = fc.record({
    drop: fc.constantFrom(0, 0.2),
    double: fc.constantFrom(0, 0.2),
    delay: fc.constantFrom<readonly [number, number]>([1, 5], [1, 150]),
    late: fc.constantFrom(0, 0.1),
    latest: fc.constant(5_000),
  })
  fc.assert(
    fc.property(fc.integer(), faults, fc.array(forgery, { minLength: 1, maxLength: 12 }), (seed, weather, forgeries) => {
      const net = new Net(seed)
      net.hub.wireFaults = weather
      const [a, b] = [net.side('a'), net.side('b')]
      for (const f of forgeries) {
        for (let i = Math.floor(net.random() * 4); i > 0; i--) (net.random() < 0.5 ? a : b).push(net.random() < 0.5 ? a : b)
        if (net.random() < 0.8) net.timing.advanceSync(net.random() * 300)
        const [from, to] = f.toward ? [a, b] : [b, a]
        forge(net, from, to, f)
      }
      net.timing.advanceSync(60_000)
      // A side may hear that its connection is over when it next sends: what is sent after that is sure.
      for (let lot = 0; lot < 2; lot++) {
        a.push(b)
        b.push(a)
        net.timing.advanceSync(30_000)
      }
      const closed = a.closed.length + b.closed.length
      const sure = [a.sentTo(b), b.sentTo(a)]
      for (let i = 0; i < 20; i++) {
        a.push(b)
        b.push(a)
        net.timing.advanceSync(100)
      }
      net.timing.advanceSync(30_000)
      expect(b.gotFrom(a).filter((n) => n > sure[0]!)).toEqual(Array.from({ length: 20 }, (_, i) => sure[0]! + i + 1))
      expect(a.gotFrom(b).filter((n) => n > sure[1]!)).toEqual(Array.from({ length: 20 }, (_, i) => sure[1]! + i + 1))
      expect(a.closed.length + b.closed.length).toBe(closed)
    }),
    { numRuns: runs },
  )
})
