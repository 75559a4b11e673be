// comedy 2: actors with topics, created as children by promises. What it can express naturally: ping-pong and asks.

import comedy from 'comedy'
import { answer, expectEqual, latch } from './protocol.mjs'

// `test` is comedy's own way to be silent; it prints its configuration otherwise.
const system = comedy.createSystem({ test: true })
const root = await system.rootActor()

await answer({
  'ping-pong': async () => {
    const hops = 20_000
    const { open, opened } = latch()
    const pair = []
    const player = (i) => ({
      ball: (left) => {
        if (left > 0) void pair[1 - i].send('ball', left - 1)
        else open()
      },
    })
    pair.push(await root.createChild(player(0)), await root.createChild(player(1)))
    void pair[0].send('ball', hops)
    await opened
    for (const member of pair) await member.destroy()
    return hops
  },
  counting: async () => {
    const n = 20_000
    let sum = 0
    const { open, opened } = latch()
    // A question overtakes what was sent before it, so the last addition ends the run, not a final `read`.
    const counter = await root.createChild({ add: (by) => ((sum += by) === n ? open(sum) : undefined) })
    for (let i = 0; i < n; i++) void counter.send('add', 1)
    expectEqual(await opened, n, 'counting')
    await counter.destroy()
    return n
  },
  'fork-join create': async () => {
    const n = 500
    let done = 0
    for (let i = 0; i < n; i++) {
      const worker = await root.createChild({ work: (k) => (Math.sin(k) < 2 ? ++done : 0) })
      await worker.sendAndReceive('work', i)
      await worker.destroy()
    }
    expectEqual(done, n, 'fork-join create')
    return n
  },
  'ask sequential': async () => {
    const n = 10_000
    const target = await root.createChild({ echo: (value) => value })
    let sum = 0
    for (let i = 0; i < n; i++) sum += await target.sendAndReceive('echo', 1)
    expectEqual(sum, n, 'ask')
    await target.destroy()
    return n
  },
  'ask concurrent': async () => {
    const n = 20_000
    const target = await root.createChild({ echo: (value) => value })
    for (let i = 0; i < n; i += 1_000) await Promise.all(Array.from({ length: 1_000 }, () => target.sendAndReceive('echo', 1)))
    await target.destroy()
    return n
  },
})
