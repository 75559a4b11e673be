// What single things cost that once took the square of their number, or held the loop: each as a ratio, or a time of the loop, of one run. Medians
// of several rounds, in which both sides of a ratio take turns. Prints one line of JSON.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ActorSystem } from '@troupe/core'
import { eventSourced, persistence } from '@troupe/persistence'
import { environment, event, sourceOf } from './store.mjs'

const { store, folder, url } = JSON.parse(process.argv[2])
const rounds = 5
const scope = { scope: 'default', epoch: 1 }
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
async function timed(work) {
  const since = performance.now()
  await work()
  return performance.now() - since
}
/** For how long the loop was held meanwhile, in ms: the longest time, or that which one turn in a hundred takes. */
async function held(work, percentile = 100) {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  await new Promise((resolve) => setTimeout(resolve, 20))
  loop.reset()
  await work()
  await new Promise((resolve) => setTimeout(resolve, 20))
  loop.disable()
  return (percentile === 100 ? loop.max : loop.percentile(percentile)) / 1e6
}
/** How many times as long one takes as the other; both take turns. */
async function ratio(one, other) {
  const [a, b] = [[], []]
  for (let i = 0; i <= rounds; i++) {
    const [first, second] = [await one(i), await other(i)]
    // The first round warms up.
    if (i > 0) {
      a.push(first)
      b.push(second)
    }
  }
  return median(a) / median(b)
}

const source = await sourceOf(store, { folder, url })
const journal = await source.open(environment)
await journal.raise('default', 1)
async function append(group) {
  for (const { is, cause } of await journal.append(group)) if (is !== 'stored') throw new Error(`not stored: ${is}`, { cause })
}
const run = (id, first, events) => ({ write: 'run', id, first, events, timers: [], ...scope })
const events = (count, tags = []) => Array.from({ length: count }, (_, i) => ({ ...event, tags, time: event.time + i }))

/** Readers of runs of 20,000 events against runs of 1,000, each event. */
async function longRuns() {
  await append([run('long/1', 1, events(20_000, ['long']))])
  await append([run('short/1', 1, events(1000, ['short']))])
  const read = (tag, count) => async () => {
    let seen = 0
    const ms = await timed(async () => {
      for (let i = 0; i < 20_000 / count; i++) for await (const some of journal.events({ tag, batch: 100, once: true })) seen += some.length
    })
    if (seen !== 20_000) throw new Error(`${seen} events were read`)
    return ms
  }
  return ratio(read('long', 20_000), read('short', 1000))
}

/** How long (p99) looking for a tag, and for a rare kind, holds the loop. */
async function rareTag() {
  for (let i = 0; i < 40; i++) await append([run(`cart/${i}`, 1, events(2000, ['usual'])), run(`rare/${i}`, 1, events(1, ['rare']))])
  const look = async () => {
    for (const query of [{ tag: 'usual' }, { tag: 'rare' }, { kind: 'rare' }, { kind: 'rare', tag: 'usual' }])
      for await (const some of journal.events({ ...query, batch: 1000, once: true })) if (some.length === 0) throw new Error('nothing')
  }
  await look()
  return median([await held(look, 99), await held(look, 99), await held(look, 99)])
}

/** 20,000 events that were committed one by one against as many in runs, replayed: of one actor, and of 200 actors. */
async function oneByOne(actors) {
  const each = 20_000 / actors
  const ids = (kind) => Array.from({ length: actors }, (_, i) => `${kind}${actors}/${i}`)
  await append(ids('packed').map((id) => run(id, 1, events(Math.min(each, 1000)))))
  for (let first = 1001; first <= each; first += 1000) await append(ids('packed').map((id) => run(id, first, events(1000))))
  for (let first = 1; first <= each; first++) await append(ids('single').map((id) => run(id, first, events(1))))
  const read = (kind) => async () => {
    let seen = 0
    const ms = await timed(async () => {
      for (let i = 0; i < 5; i++)
        for await (const part of journal.replay(
          ids(kind).map((id) => ({ id, after: 0 })),
          1000,
        ))
          seen += part.events.length
    })
    if (seen !== 100_000) throw new Error(`${seen} events were read`)
    return ms
  }
  return ratio(read('single'), read('packed'))
}

/** New subjects per second. */
async function subjects() {
  const key = new Uint8Array(32)
  const ms = []
  for (let i = 0; i < rounds; i++)
    ms.push(
      await timed(() =>
        Promise.all(
          Array.from({ length: 2000 }, async (_, n) => {
            if ((await journal.key(`${i} ${n}`)).is === 'none') await journal.addKey(`${i} ${n}`, key)
          }),
        ),
      ),
    )
  return 2_000_000 / median(ms)
}

const alarms = eventSourced('alarm', {
  initial: () => 0,
  events: { rang: (n) => n + 1, large: (n) => n },
  commands: {
    set(ctx, m) {
      ctx.timers.once(`t${m.n}`, 1_000_000_000, { type: 'ring' })
      if (m.replyTo !== undefined) ctx.tell(m.replyTo, m.n)
    },
    ring: (ctx) => ctx.persist({ type: 'rang' }),
    large: (ctx, m) => ctx.persist({ type: 'large', parts: m.parts }),
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})
const limit = { timeout: 300_000 }

/** 20,000 durable timers of one actor against 1,000, each. */
async function timers(system) {
  const set = (count) => async (round) => {
    const ref = system.spawn(alarms(`${count} ${round} ${Math.random()}`))
    const ms = await timed(async () => {
      for (let n = 1; n < count; n++) ref.tell({ type: 'set', n })
      await ref.ask({ type: 'set', n: count }, limit)
    })
    system.stop(ref)
    return ms / count
  }
  return ratio(set(20_000), set(1000))
}
/** An event of 100 MB, above `maxEventBytes`: how long refusing it holds the loop. */
async function oversize(system) {
  const ref = system.spawn(alarms('large'))
  await ref.ask({ type: 'get' }, limit)
  const parts = Array.from({ length: 100 }, () => 'x'.repeat(1_000_000))
  return held(async () => {
    const code = await ref.ask({ type: 'large', parts }, limit).catch((cause) => cause.code)
    if (code !== 'event-too-large') throw new Error(`it was not refused: ${code}`)
  })
}
/** When 50 small actors are up that start together with one of 100,000 events, as a part of the time that one takes. */
async function small(system) {
  const parts = []
  for (let round = 0; round < 3; round++) {
    const [large, ...few] = [`large ${round}`, ...Array.from({ length: 50 }, (_, i) => `small ${round} ${i}`)].map((key) => system.spawn(alarms(key)))
    const since = performance.now()
    const up = async (refs) => {
      await Promise.all(refs.map((ref) => ref.ask({ type: 'get' }, limit)))
      return performance.now() - since
    }
    const [a, b] = await Promise.all([up(few), up([large])])
    parts.push(a / b)
  }
  return median(parts)
}
const rang = (count) => Array.from({ length: count }, () => ({ ...event, type: 'rang', data: '{"type":"rang"}' }))
for (let round = 0; round < 3; round++) {
  for (let first = 1; first <= 100_000; first += 5000) await append([run(`alarm/large ${round}`, first, rang(5000))])
  await append(Array.from({ length: 50 }, (_, i) => run(`alarm/small ${round} ${i}`, 1, rang(10))))
}
const figures = { rate: 1 }
figures.longRuns = await longRuns()
figures.rareTag = await rareTag()
figures.oneByOne = await oneByOne(1)
figures.oneByOneOfMany = await oneByOne(200)
figures.subjects = await subjects()
await journal.close()
const system = ActorSystem.create('costs', { extensions: [persistence({ journal: source })], logger: false })
figures.small = await small(system)
figures.timers = await timers(system)
figures.oversize = await oversize(system)
console.log(JSON.stringify(figures))
process.exit(0)
