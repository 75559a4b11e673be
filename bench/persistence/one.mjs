// One side of bench:persistence, in a process of its own: actors that persist one event per command and answer, each with a window of
// commands in flight; or groups handed to the journal itself; or a journal that is read back. Prints one line of JSON.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ActorSystem, receive, same, setup } from '@troupe/core'
import { eventSourced, persistence } from '@troupe/persistence'
import { environment, event, sourceOf } from './store.mjs'

const { store, actors, window, warm, seconds, folder, url } = JSON.parse(process.argv[2])
let done = 0
let measuring = false
const late = []

/** Runs `begin`, which goes on by itself, and says how fast that is. */
async function measured(begin) {
  begin()
  await new Promise((resolve) => setTimeout(resolve, warm * 1000))
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  measuring = true
  const [before, since] = [done, performance.now()]
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const rate = ((done - before) / (performance.now() - since)) * 1000
  late.sort((a, b) => a - b)
  const at = (part) => late[Math.floor(late.length * part)] ?? 0
  console.log(JSON.stringify({ rate, p50: at(0.5), p99: at(0.99), loop: loop.percentile(99) / 1e6 }))
  process.exit(0)
}
const took = (since) => {
  if (measuring && (done & 15) === 0) late.push(performance.now() - since)
}

const counter = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n, e) => n + e.by },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', by: 1 })
      ctx.tell(m.replyTo, m.at)
    },
  },
})

/** An actor that keeps a window of commands open to one counter, as those of the Pekko peer do. */
const asker = (ref) =>
  setup((ctx) => {
    const add = () => ref.tell({ type: 'add', at: performance.now(), replyTo: ctx.self })
    for (let i = 0; i < window; i++) add()
    return receive((_ctx, at) => {
      done++
      took(at)
      add()
      return same
    })
  })

/** The same from outside of the system: promises, each with its time limit. */
async function keepAsking(ref) {
  for (;;) {
    const at = performance.now()
    await ref.ask({ type: 'add', at }, { timeout: 60_000 })
    done++
    took(at)
  }
}

async function throughActors(journal, begin) {
  const system = ActorSystem.create('bench', { extensions: [persistence({ journal })] })
  const refs = Array.from({ length: actors }, (_, i) => system.spawn(counter(String(i))))
  await Promise.all(refs.map((ref) => ref.ask({ type: 'add', at: 0 }, { timeout: 60_000 })))
  await measured(() => {
    for (const ref of refs) begin(system, ref)
  })
}
const asTold = (system, ref) => void system.spawn(asker(ref))
const asAsked = (_system, ref) => {
  for (let i = 0; i < window; i++) void keepAsking(ref)
}

/** Groups of one run per actor, each of a window of events: what the gate would hand over. */
async function throughJournal(journal) {
  await journal.raise('default', 1)
  const events = Array.from({ length: window }, () => event)
  const most = Math.max(1, Math.min(actors, journal.limits.writes, Math.floor(journal.limits.events / window)))
  const next = new Map()
  const append = async () => {
    for (let at = 0; ; at = (at + most) % actors) {
      const since = performance.now()
      const group = Array.from({ length: Math.min(most, actors - at) }, (_, i) => {
        const id = `counter/${at + i}`
        return { write: 'run', id, first: next.get(id) ?? 1, events, timers: [], scope: 'default', epoch: 1 }
      })
      const outcomes = await journal.append(group)
      for (const [i, { id, first }] of group.entries()) {
        if (outcomes[i].is !== 'stored') throw new Error(`not stored: ${outcomes[i].is}`, { cause: outcomes[i].cause })
        next.set(id, first + window)
      }
      done += group.length * window
      took(since)
    }
  }
  await measured(() => void append())
}

async function replay(journal) {
  await journal.raise('default', 1)
  const events = Array.from({ length: 100 }, () => event)
  const each = Math.max(100, Math.floor(200_000 / actors / 100) * 100)
  const ids = Array.from({ length: actors }, (_, i) => `counter/${i}`)
  for (let first = 1; first <= each; first += 100)
    for (let i = 0; i < ids.length; i += 100)
      await journal.append(ids.slice(i, i + 100).map((id) => ({ write: 'run', id, first, events, timers: [], scope: 'default', epoch: 1 })))
  const read = async () => {
    for (;;) {
      for (let i = 0; i < ids.length; i += 256)
        for await (const part of journal.replay(
          ids.slice(i, i + 256).map((id) => ({ id, after: 0 })),
          1000,
        ))
          done += part.events.length
    }
  }
  await measured(() => void read())
}

const journal = await sourceOf(store, { folder, url })
if (store.endsWith('-journal')) await throughJournal(await journal.open(environment))
else if (store.endsWith('-replay')) await replay(await journal.open(environment))
else await throughActors(journal, store.endsWith('-asked') ? asAsked : asTold)
