// Bytes of heap of an idle actor: plain ones that have counted once, and persistent ones that have persisted one event and answered. Run
// with --expose-gc. Prints one line of JSON.

import { ActorSystem, receive, same } from '@troupe/core'
import { eventSourced, persistence } from '@troupe/persistence'
import { nothing } from './nothing.mjs'

const count = 50_000
const system = ActorSystem.create('idle', { extensions: [persistence({ journal: nothing() })] })
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const plain = (n = 0) =>
  receive((_ctx, m) => {
    if (m.type === 'add') return plain(n + 1)
    m.replyTo.tell(n)
    return same
  })
const counter = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n, e) => n + e.by },
  commands: {
    add: (ctx) => ctx.persist({ type: 'added', by: 1 }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

async function heap() {
  for (let i = 0; i < 4; i++) {
    await pause(20)
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}

async function bytes(make, prefix) {
  const before = await heap()
  let last
  for (let i = 0; i < count; i++) {
    last = system.spawn(make(String(i)), { name: `${prefix}${i}` })
    last.tell({ type: 'add' })
    // So that no more wait at a time than would in a program.
    if (i % 1000 === 999) await last.ask({ type: 'get' }, { timeout: 60_000 })
  }
  return ((await heap()) - before) / count
}

// Both once before, so that what is made once for all is there.
system.spawn(plain(), { name: 'warm' }).tell({ type: 'add' })
await system.spawn(counter('warm')).ask({ type: 'get' })
const plainBytes = await bytes(() => plain(), 'p')
const persistent = await bytes((key) => counter(key), 'c')
console.log(JSON.stringify({ plain: plainBytes, persistent, ratio: persistent / plainBytes }))
process.exit(0)
