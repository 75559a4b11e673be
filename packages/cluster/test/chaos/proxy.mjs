// The way of one node to NATS, which may take its time: `delay` ms in each direction. It can be cut as a network is: nothing comes through and nobody is told; when it is mended, what was under way
// arrives, late.

import { connect, createServer } from 'node:net'

export async function startProxy(port, { delay = 0 } = {}) {
  const pairs = new Set()
  let stalled = false
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    const pair = [near, far]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const [socket, other] of [pair, pair.toReversed()]) {
      socket.setNoDelay(true)
      socket.on('data', (bytes) => {
        if (delay > 0) setTimeout(() => other.destroyed || other.write(bytes), delay)
        else if (!other.write(bytes)) socket.pause()
      })
      other.on('drain', () => {
        if (!stalled) socket.resume()
      })
      // An end is part of what is under way: behind a cut nobody hears of it.
      socket.on('close', () => (stalled ? undefined : end()))
      socket.on('error', () => {})
    }
    if (stalled) for (const socket of pair) socket.pause()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `nats://127.0.0.1:${server.address().port}`,
    cut() {
      stalled = true
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    mend() {
      stalled = false
      for (const pair of pairs) {
        if (pair.some((socket) => socket.destroyed)) for (const socket of pair) socket.destroy()
        else for (const socket of pair) socket.resume()
      }
    },
    close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      server.close()
    },
  }
}
