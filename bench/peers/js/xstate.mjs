// XState 5: actor logic from transitions; events are delivered synchronously, there is no mailbox between actors.

import { createActor, fromTransition, waitFor } from 'xstate'
import { answer, bytesEach, dice, expectEqual, latch } from './protocol.mjs'

const actorOf = (transition, state) => createActor(fromTransition(transition, state)).start()

function ring(size, hops) {
  return async () => {
    const { open, opened } = latch()
    const members = []
    for (let i = 0; i < size; i++)
      members.push(
        actorOf((state, m) => {
          if (m.left > 0) members[(i + 1) % size].send({ type: 'ball', left: m.left - 1 })
          else open()
          return state
        }, undefined),
      )
    members[0].send({ type: 'ball', left: hops })
    await opened
    for (const member of members) member.stop()
    return hops
  }
}

const echo = () =>
  actorOf((state, m) => {
    m.reply(m.value)
    return state
  }, undefined)

const ask = (target) => new Promise((resolve) => target.send({ type: 'echo', value: 1, reply: resolve }))

await answer({
  'ping-pong': ring(2, 200_000),
  'thread ring': ring(100, 200_000),
  counting: async () => {
    const n = 200_000
    const counter = actorOf((sum, m) => sum + m.by, 0)
    for (let i = 0; i < n; i++) counter.send({ type: 'add', by: 1 })
    const snapshot = await waitFor(counter, (s) => s.context === n)
    expectEqual(snapshot.context, n, 'counting')
    counter.stop()
    return n
  },
  'fork-join throughput': async () => {
    const workers = 60
    const each = 2_000
    let done = 0
    const members = Array.from({ length: workers }, () =>
      actorOf((seen, m) => {
        if (Math.sin(m.n) < 2 && seen + 1 === each) done++
        return seen + 1
      }, 0),
    )
    for (let n = 0; n < each; n++) for (const member of members) member.send({ type: 'work', n })
    expectEqual(done, workers, 'fork-join throughput')
    for (const member of members) member.stop()
    return workers * each
  },
  'fork-join create': async () => {
    const n = 200_000
    let done = 0
    for (let i = 0; i < n; i++) {
      const worker = actorOf((state, m) => {
        if (Math.sin(m.n) < 2) done++
        return state
      }, undefined)
      worker.send({ type: 'work', n: i })
      worker.stop()
    }
    expectEqual(done, n, 'fork-join create')
    return n
  },
  big: async () => {
    const size = 120
    const pings = 500
    const { open, opened } = latch()
    const members = []
    let done = 0
    for (let i = 0; i < size; i++) {
      const roll = dice(i + 1)
      let left = pings
      members.push(
        actorOf((state, m) => {
          if (m.type === 'ping') members[m.from].send({ type: 'pong' })
          else if (left-- > 0) members[roll(size)].send({ type: 'ping', from: i })
          else if (++done === size) open()
          return state
        }, undefined),
      )
    }
    for (const member of members) member.send({ type: 'pong' })
    await opened
    for (const member of members) member.stop()
    return size * pings * 2
  },
  'ask sequential': async () => {
    const n = 100_000
    const target = echo()
    let sum = 0
    for (let i = 0; i < n; i++) sum += await ask(target)
    expectEqual(sum, n, 'ask')
    target.stop()
    return n
  },
  'ask concurrent': async () => {
    const n = 100_000
    const target = echo()
    for (let i = 0; i < n; i += 1_000) await Promise.all(Array.from({ length: 1_000 }, () => ask(target)))
    target.stop()
    return n
  },
  idle: () =>
    bytesEach(100_000, async (n) => {
      let greeted = 0
      const logic = fromTransition((state) => (greeted++, state), undefined)
      const actors = Array.from({ length: n }, (_, i) => createActor(logic, { id: `a${i}` }).start())
      for (const actor of actors) actor.send({ type: 'hello' })
      expectEqual(greeted, n, 'idle')
      return actors
    }),
})
