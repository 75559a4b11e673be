// The process that is killed, with actors in it: each keeps a window of questions open, whose answers leave when what they saw is durable.
// Says what an answer said, as soon as it is there; or, where it is leaky, when the question is asked.

import { writeSync } from 'node:fs'
import { ActorSystem } from '@troupe/core'
import { eventSourced, persistence } from '@troupe/persistence'
import { dataOf, ids, sourceOf } from './store.mjs'

const { epoch, leaky, seed, ...place } = JSON.parse(process.argv[2])
let state = seed >>> 0
const random = () => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32
const say = (id, first, count) => writeSync(1, `${JSON.stringify([[id, first, count]])}\n`)

const account = eventSourced('account', {
  initial: () => 0,
  events: { moved: (_, e) => e.seq },
  commands: {
    move(ctx, m) {
      const first = ctx.seq + 1
      for (let seq = first; seq < first + m.count; seq++) ctx.persist(JSON.parse(dataOf(m.id, seq, epoch)))
      ctx.tell(m.replyTo, first)
    },
    last: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

const journal = sourceOf(place)
// A machine that is busy with other things is no trouble of the journal's.
const system = ActorSystem.create('chaos', {
  extensions: [persistence({ journal })],
  askTimeout: 120_000,
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
await Promise.all(
  ids.map(async (id) => {
    const ref = system.spawn(account(id.slice('account/'.length)))
    let next = (await ref.ask({ type: 'last' })) + 1
    const ask = async () => {
      for (;;) {
        const count = 1 + Math.floor(random() * 4)
        if (leaky) say(id, next, count)
        next += count
        const first = await ref.ask({ type: 'move', id, count })
        if (!leaky) say(id, first, count)
      }
    }
    await Promise.all(Array.from({ length: 5 }, ask))
  }),
).catch(() => process.exit(0))
