// The actors of `npm run chaos:refs`: a server, which tells, watches and asks each actor that passed it a ref; requesters, which pass their own ref and
// stop; and a nursery, which spawns requesters and says when all of them are done. The same on nodes and on threads.

import { getHeapStatistics } from 'node:v8'
import { receive, same, setup, stopped } from '@troupe/core'
import { defineActor } from '@troupe/node/threads'

/** Answers each request in one of several ways; measures its heap when it is asked to. */
export const server = defineActor(import.meta.url, 'server', () =>
  receive(
    (ctx, message) => {
      if (message.type === 'measure') {
        message.replyTo.tell(measured())
        return same
      }
      const { n, replyTo } = message
      if (n % 4 === 1) ctx.watch(replyTo)
      if (n % 4 === 2) ctx.ask(replyTo, { type: 'question' }).catch(() => {})
      for (let i = n % 3; i >= 0; i--) replyTo.tell({ type: 'answer', last: i === 0 })
      return same
    },
    () => same,
  ),
)

/** Lives for one request. Every other one lives until its nursery stops it, so that refs of the living are collected as well. */
function requester(to, n, done) {
  return setup((ctx) => {
    to.tell({ type: 'request', n, replyTo: ctx.self })
    return receive((_ctx, message) => {
      if (message.type === 'question') message.replyTo.tell('yes')
      if (message.type !== 'answer' || !message.last) return same
      done()
      return n % 2 === 0 ? stopped : same
    })
  })
}

/** Spawns a number of requesters, and answers when all of them got what they wanted. */
export const nursery = defineActor(import.meta.url, 'nursery', () => {
  let n = 0
  const before = []
  return receive((ctx, message) => {
    if (message.type === 'measure') {
      message.replyTo.tell(measured())
      return same
    }
    let open = message.count
    const spawned = []
    for (let i = 0; i < message.count; i++)
      spawned.push(
        ctx.spawn(
          requester(message.to, n++, () => {
            if (--open === 0) message.replyTo.tell('done')
          }),
        ),
      )
    // A few rounds stay, so that the server always has links to living actors.
    before.push(spawned)
    if (before.length > 4) for (const ref of before.shift()) ref.stop()
    return same
  })
})

function measured() {
  for (let i = 0; i < 2; i++) globalThis.gc?.()
  return getHeapStatistics().used_heap_size
}
