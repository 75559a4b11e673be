// Feeds the channels of a session frames that nobody should have sent: random bytes, valid frames of every kind that were changed, and
// valid ones in a wrong place. Whatever they are, they are taken, dropped or close the channel; nothing is thrown, and nothing takes more
// memory than its bytes account for.

import { getHeapStatistics } from 'node:v8'

/** What a frame may take for each byte, beyond what a channel and its refusal take by themselves. */
export const perByte = 256
/** What measuring is off by. */
const slack = 512
const versions = { oldest: 1, newest: 1 }
const self = { node: 'a', number: 1 }
const peer = { node: 'b', number: 1 }
/** Bytes that were bad for somebody once. */
const evil = [[0x0c, 0x80, 0x94, 0xeb, 0xdc, 0x03], [0x14, 0x00, 0x80, 0x80, 0x80, 0x80, 0x08], []]

/** `parts` is @troupe/cluster/internal, as built or from the sources. */
export function fuzzFrames({ parts, random, inputs, measureEvery, gc }) {
  const { Channels, VirtualTiming, ackFrame, resetFrame, writeHead, headSize, sizeOf, writeRecord } = parts
  const below = (n) => Math.floor(random() * n)
  const report = {
    inputs: 0,
    bytes: 0,
    taken: 0,
    refused: 0,
    others: 0,
    firstOther: undefined,
    worst: 0,
    worstBytes: 0,
    measured: 0,
    greediest: 0,
    greediestInput: '',
  }

  /** The session that is fed. */
  let here

  /** A session that has sent and heard something, and what feeds it a frame. */
  function target() {
    let onFrame
    const timing = new VirtualTiming(random)
    const state = { records: 0, closed: 0, offered: 0 }
    const send = (_to, bytes) => {
      state.offered = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true)
      return true
    }
    const wire = { maxFrame: 1_048_576, connected: true, open: async (_self, take) => void (onFrame = take), send, close: async () => {} }
    const channels = new Channels({
      timing,
      wire,
      versions,
      versionsOf: () => versions,
      onRecord: () => void state.records++,
      onClosed: () => void state.closed++,
    })
    void channels.open(self)
    return { timing, channels, state, feed: (bytes) => onFrame(peer, bytes) }
  }

  function data(number, records, head) {
    const bytes = new Uint8Array(records.reduce((sum, one) => sum + sizeOf(one), headSize))
    let at = headSize
    for (const one of records) at = writeRecord(one, bytes, at)
    writeHead(bytes, 'data', head, number)
    return bytes
  }

  function record() {
    switch (below(5)) {
      case 0:
        return { kind: 'marker', cut: below(2 ** 32) }
      case 1:
        return { kind: 'outcomes', outcomes: { handled: below(1_000), failed: 1, unhandled: 2, dropped: 3, dead: 4 } }
      case 2:
        return below(10) === 0 ? { kind: 'bye' } : { kind: 'payload', bytes: new Uint8Array(1 + below(below(20) === 0 ? 8_000 : 200)) }
      default:
        return { kind: 'payload', bytes: new Uint8Array(1 + below(40)) }
    }
  }

  /** A frame as an honest peer may send it, for a connection that may be the right one. */
  function valid() {
    const usual = below(8) > 0
    // The number of a connection is known to those only whom it was sent to.
    const yours = below(2) * (here?.state.offered ?? 0)
    const head = { version: 1, mine: usual ? 1 : 1 + below(4), yours: usual ? yours : below(4), ack: usual ? 0 : below(4) }
    switch (below(6)) {
      case 0:
        return resetFrame(head)
      case 1: {
        let last = head.ack
        const ranges = Array.from({ length: below(40) }, () => {
          const first = last + 2 + below(5)
          last = first + below(5)
          return [first, last]
        })
        return ackFrame(head, ranges)
      }
      default:
        return data(
          1 + below(8),
          Array.from({ length: 1 + below(6) }, () => record()),
          head,
        )
    }
  }

  function noise(length) {
    return Uint8Array.from({ length }, () => below(256))
  }

  function changed(bytes) {
    const at = below(bytes.length + 1)
    switch (below(5)) {
      case 0:
        if (at < bytes.length) bytes[at] ^= 1 << below(8)
        return bytes
      case 1:
        if (at < bytes.length) bytes[at] = below(256)
        return bytes
      case 2:
        return bytes.subarray(0, at)
      case 3:
        return Uint8Array.from([...bytes.subarray(0, at), ...noise(below(12)), ...bytes.subarray(at)])
      default:
        return Uint8Array.from([...bytes.subarray(0, at), ...valid().subarray(below(headSize + 1))])
    }
  }

  function input() {
    if (below(10) === 0) return noise(below(80))
    let bytes = valid()
    for (let times = below(3); times > 0; times--) bytes = changed(bytes)
    return bytes
  }

  function used() {
    const { used_heap_size, external_memory } = getHeapStatistics()
    return used_heap_size + external_memory
  }

  /** What a session takes more after this frame, of many that are all kept, so that nothing is collected meanwhile. */
  function weigh(bytes) {
    const times = bytes.length <= 128 ? 256 : 64
    const kept = new Array(times)
    for (let i = 0; i < times; i++) kept[i] = target()
    gc()
    const before = used()
    for (const one of kept) one.feed(bytes)
    return (used() - before) / times
  }

  let besides
  function measure(bytes) {
    if (bytes.length === 0) return
    // What any frame takes that opens a channel.
    besides ??= weigh(data(1, [{ kind: 'bye' }], { version: 1, mine: 1, yours: 0, ack: 0 }))
    const weight = Math.min(weigh(bytes), weigh(bytes))
    const each = Math.max(0, weight - besides - slack) / bytes.length
    report.measured++
    if (each <= report.greediest) return
    report.greediest = each
    report.greediestInput = Buffer.from(bytes).toString('hex').slice(0, 120)
  }

  for (let i = 0; i < inputs; i++) {
    // Often enough a fresh one, so that a channel that was closed is not all that is tried.
    if (i % 4 === 0) {
      here = target()
      for (let n = below(4); n > 0; n--) here.channels.push(peer, { kind: 'payload', bytes: new Uint8Array(1 + below(100)) })
      here.timing.advanceSync(1)
    }
    const bytes = i < evil.length ? Uint8Array.from(evil[i]) : input()
    const { refused } = here.channels
    const before = refused.bad + refused.late
    const since = performance.now()
    try {
      here.feed(bytes)
      here.timing.advanceSync(below(20))
      if (refused.bad + refused.late > before) report.refused++
      else report.taken++
      const { underWay = 0, held = 0 } = here.channels.channel(peer)?.costs ?? {}
      if (underWay > 1_048_576 || held > 1_048_576) throw new Error(`under way ${underWay}, held ${held}`)
    } catch (cause) {
      report.others++
      report.firstOther ??= `${String(cause)} at ${Buffer.from(bytes).toString('hex').slice(0, 200)}`
    }
    const took = performance.now() - since
    if (took > report.worst) {
      report.worst = took
      report.worstBytes = bytes.length
    }
    report.inputs++
    report.bytes += bytes.length
    if (gc !== undefined && i % measureEvery === 0) measure(bytes)
  }
  return report
}
