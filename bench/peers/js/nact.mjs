// nact 7, as its documentation writes actors: a function of state and message.

import nact from 'nact'
import { answer, bytesEach, dice, expectEqual, latch } from './protocol.mjs'

const { dispatch, query, spawn, start, stop } = nact

function ring(size, hops) {
  return async () => {
    const system = start()
    const { open, opened } = latch()
    const members = []
    for (let i = 0; i < size; i++)
      members.push(
        spawn(
          system,
          (state, m) => {
            if (m.left > 0) dispatch(members[(i + 1) % size], { type: 'ball', left: m.left - 1 })
            else open()
            return state
          },
          `member-${i}`,
        ),
      )
    dispatch(members[0], { type: 'ball', left: hops })
    await opened
    stop(system)
    return hops
  }
}

const echo = (system) =>
  spawn(
    system,
    (state, m) => {
      dispatch(m.replyTo, m.value)
      return state
    },
    'echo',
  )

await answer({
  'ping-pong': ring(2, 100_000),
  'thread ring': ring(100, 100_000),
  counting: async () => {
    const n = 100_000
    const system = start()
    const { open, opened } = latch()
    const counter = spawn(
      system,
      (sum = 0, m) => {
        if (m.type === 'add') return sum + m.by
        open(sum)
        return sum
      },
      'counter',
    )
    for (let i = 0; i < n; i++) dispatch(counter, { type: 'add', by: 1 })
    dispatch(counter, { type: 'read' })
    expectEqual(await opened, n, 'counting')
    stop(system)
    return n
  },
  'fork-join throughput': async () => {
    const workers = 60
    const each = 1_000
    const system = start()
    const { open, opened } = latch()
    let done = 0
    const members = Array.from({ length: workers }, (_, i) =>
      spawn(
        system,
        (seen = 0, m) => {
          if (Math.sin(m.n) < 2 && seen + 1 === each && ++done === workers) open()
          return seen + 1
        },
        `worker-${i}`,
      ),
    )
    for (let n = 0; n < each; n++) for (const member of members) dispatch(member, { type: 'work', n })
    await opened
    stop(system)
    return workers * each
  },
  'fork-join create': async () => {
    const n = 5_000
    const system = start()
    const { open, opened } = latch()
    let done = 0
    for (let i = 0; i < n; i++) {
      const worker = spawn(
        system,
        (state, m, ctx) => {
          if (Math.sin(m.n) < 2 && ++done === n) open()
          stop(ctx.self)
          return state
        },
        `worker-${i}`,
      )
      dispatch(worker, { type: 'work', n: i })
    }
    await opened
    stop(system)
    return n
  },
  big: async () => {
    const size = 120
    const pings = 200
    const system = start()
    const { open, opened } = latch()
    const members = []
    let done = 0
    for (let i = 0; i < size; i++) {
      const roll = dice(i + 1)
      let left = pings
      members.push(
        spawn(
          system,
          (state, m) => {
            if (m.type === 'ping') dispatch(members[m.from], { type: 'pong' })
            else if (left-- > 0) dispatch(members[roll(size)], { type: 'ping', from: i })
            else if (++done === size) open()
            return state
          },
          `member-${i}`,
        ),
      )
    }
    for (const member of members) dispatch(member, { type: 'pong' })
    await opened
    stop(system)
    return size * pings * 2
  },
  'ask sequential': async () => {
    const n = 10_000
    const system = start()
    const target = echo(system)
    let sum = 0
    for (let i = 0; i < n; i++) sum += await query(target, (replyTo) => ({ type: 'echo', value: 1, replyTo }), 5_000)
    expectEqual(sum, n, 'ask')
    stop(system)
    return n
  },
  'ask concurrent': async () => {
    const n = 20_000
    const system = start()
    const target = echo(system)
    for (let i = 0; i < n; i += 1_000)
      await Promise.all(Array.from({ length: 1_000 }, () => query(target, (replyTo) => ({ type: 'echo', value: 1, replyTo }), 5_000)))
    stop(system)
    return n
  },
  // Fewer than elsewhere: nact copies its map of children at each spawn.
  idle: () =>
    bytesEach(5_000, async (n) => {
      const system = start()
      const { open, opened } = latch()
      let greeted = 0
      for (let i = 0; i < n; i++) {
        const actor = spawn(
          system,
          (state) => {
            if (++greeted === n) open()
            return state
          },
          `a${i}`,
        )
        dispatch(actor, { type: 'hello', id: i })
      }
      await opened
      return system
    }),
})
