// One of the two processes of a measurement, in the ways that are compared: actors of a cluster, frames of NATS, frames of TCP. The near end sends
// and measures, the far end takes. All keep as many messages under way, and acknowledge as rarely.

import { createConnection, createServer } from 'node:net'
import { connect } from '@nats-io/transport-node'
import { ActorSystem, receive, same } from '@troupe/core'
import { Cluster, nats } from '@troupe/cluster'

const [side, end, url, seconds] = JSON.parse(process.argv[2])
const quiet = { debug() {}, info() {}, warn() {}, error: console.error, isLevelEnabled: () => false }
/** Messages that may be taken and not acknowledged, and how many an acknowledgement is for. */
const window = 64 * 1_024
const perAck = 4 * 1_024
/** Messages in a frame. */
const batch = side === 'nats-one' ? 1 : 256

const said = (word) => process.send([word])
const told = (word) => new Promise((resolve) => process.on('message', ([given, value]) => given === word && resolve(value)))
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Sends as fast as acknowledgements allow for a while, and says how many a second were acknowledged. */
async function pour(send, acknowledged) {
  let sent = 0
  let acked = 0
  let wake = () => {}
  acknowledged((count) => {
    acked += count
    wake()
  })
  const run = async (ms) => {
    const until = performance.now() + ms
    while (performance.now() < until) {
      if (sent - acked > window) {
        await new Promise((resolve) => (wake = resolve))
        continue
      }
      send(1_024)
      sent += 1_024
      // Others have their turn, as in a program that does other things too.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await run(1_000)
  const [before, since] = [acked, performance.now()]
  await run(seconds * 1_000)
  return ((acked - before) / (performance.now() - since)) * 1_000
}

/** The middle of the times of questions, one after the other, in µs. */
async function ping(ask) {
  for (let i = 0; i < 1_000; i++) await ask()
  const times = []
  const until = performance.now() + seconds * 500
  while (performance.now() < until) {
    const since = performance.now()
    await ask()
    times.push((performance.now() - since) * 1_000)
  }
  return times.toSorted((a, b) => a - b)[times.length >> 1]
}

const ways = {
  async troupe() {
    const system = ActorSystem.create(end, { logger: quiet })
    const cluster = await Cluster.join(system, { name: 'bench', node: end, engine: nats({ servers: url }) })
    if (end === 'far') {
      let got = 0
      let last
      system.spawn(
        receive((_ctx, m) => {
          if (m.type === 'note') {
            if (++got % perAck === 0) last.tell(perAck)
          } else if (m.type === 'hello') last = m.from
          else m.replyTo.tell(m.n)
          return same
        }),
        { name: 'taker' },
      )
      said('ready')
      await told('end')
      return system.shutdown()
    }
    let far
    while ((far = await cluster.find('far', '/user/taker')) === undefined) await after(50)
    let acknowledged = () => {}
    const acks = system.spawn(
      receive((_ctx, count) => {
        acknowledged(count)
        return same
      }),
    )
    far.tell({ type: 'hello', from: acks })
    let n = 0
    const rate = await pour(
      (count) => {
        for (let i = 0; i < count; i++) far.tell({ type: 'note', n: n++ })
      },
      (tell) => (acknowledged = tell),
    )
    await after(300)
    const p50 = await ping(() => far.ask({ type: 'ping', n: 1 }))
    process.send(['figures', { rate, p50 }])
    await told('end')
    await system.shutdown()
  },

  async nats() {
    const client = await connect({ servers: url })
    const [mine, theirs] = end === 'near' ? ['bench.near', 'bench.far'] : ['bench.far', 'bench.near']
    await raw(
      (bytes) => client.publish(theirs, bytes),
      (take) => client.subscribe(mine, { callback: (_, { data }) => take(data) }),
      () => client.flush(),
    )
    await client.close()
  },

  async tcp() {
    const port = Number(url)
    const socket = await new Promise((resolve) => {
      if (end === 'near')
        return void createConnection(port, '127.0.0.1', function connected() {
          resolve(this)
        })
      createServer(resolve).listen(port, '127.0.0.1')
      said('ready')
    })
    socket.setNoDelay(true)
    socket.on('error', () => {})
    await raw(
      (bytes) => {
        const frame = Buffer.allocUnsafe(4 + bytes.length)
        frame.writeUInt32LE(bytes.length)
        frame.set(bytes, 4)
        socket.write(frame)
      },
      (take) => {
        let rest = Buffer.alloc(0)
        socket.on('data', (chunk) => {
          let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
          while (data.length >= 4 && data.length >= 4 + data.readUInt32LE()) {
            const length = data.readUInt32LE()
            take(data.subarray(4, 4 + length))
            data = data.subarray(4 + length)
          }
          rest = data
        })
      },
      () => Promise.resolve(),
    )
    socket.destroy()
  },
}

const json = {
  write: (messages) => Buffer.from(JSON.stringify(messages)),
  read: (bytes) => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
}
/** As little as can be done for messages of one shape that both ends know. */
const byHand = {
  write(messages) {
    const bytes = Buffer.allocUnsafeSlow(messages.length * 9)
    let at = 0
    for (const { type, n } of messages) {
      bytes[at] = type === 'note' ? 1 : 0
      at = bytes.writeDoubleLE(n, at + 1)
    }
    return bytes
  },
  read(data) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.length)
    const messages = []
    for (let at = 0; at < bytes.length; at += 9) messages.push({ type: bytes[at] === 1 ? 'note' : '', n: bytes.readDoubleLE(at + 1) })
    return messages
  },
}

/** Frames of so many messages, written and read by hand or as JSON; a question is a frame of one byte. */
async function raw(send, onFrame, flushed) {
  const { write, read } = side === 'nats-json' ? json : byHand
  if (end === 'far') {
    let got = 0
    onFrame((bytes) => {
      if (bytes.length === 1) return void send(Uint8Array.of(1))
      for (const message of read(bytes)) if (message.type === 'note' && ++got % perAck === 0) send(Uint8Array.of(0))
    })
    await flushed()
    if (side !== 'tcp') said('ready')
    return told('end')
  }
  let n = 0
  let acknowledged = () => {}
  let answered = () => {}
  onFrame((bytes) => (bytes[0] === 1 ? answered() : acknowledged(perAck)))
  await flushed()
  const rate = await pour(
    (count) => {
      for (let i = 0; i < count; i += batch) send(write(Array.from({ length: batch }, () => ({ type: 'note', n: n++ }))))
    },
    (tell) => (acknowledged = tell),
  )
  await after(300)
  const p50 = await ping(
    () =>
      new Promise((resolve) => {
        answered = resolve
        send(Uint8Array.of(1))
      }),
  )
  process.send(['figures', { rate, p50 }])
  await told('end')
}

await ways[Object.hasOwn(ways, side) ? side : 'nats']()
process.disconnect()
