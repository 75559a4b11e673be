// `npm run chaos:refs`: actors that live for one request pass their own ref to another node, or to another thread, get an answer and stop,
// over and over. What is kept of them is counted, and the heap is measured after a garbage collection: neither may grow. Appends one line for
// each run to refs.jsonl. Half an hour: `npm run chaos:refs -- --seconds 1800`.

import { appendFileSync } from 'node:fs'
import { ActorSystem } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { Cluster, memory } from '@troupe/cluster'
import { threads } from '@troupe/node'
import { anyText, commandLine, oneOf, whole } from '@troupe/testkit/internal'
import { nursery, server } from './actors.mjs'

const { seconds, between, batch, file } = commandLine({
  name: 'npm run chaos:refs',
  about: 'Refs of actors that live for one request go to another node or thread, over and over. Ends with 1 where anything is kept of them.',
  options: {
    seconds: whole('how long each of the runs takes', 20),
    between: oneOf('border', ['all', 'nodes', 'threads'], 'what the refs cross', 'all'),
    batch: whole('how many requests at a time', 500),
    file: anyText('file', 'where results are appended', 'refs.jsonl'),
  },
})
/** The ends of the last 10,000 actors are remembered on purpose: the heap is compared after more requests than that. */
const warm = 25_000
/** Allowed growth of the heap between the first and the last third of a run; a link that stays takes 1.6 kB. */
const slackBytes = 3 * 1_048_576
const samples = 12
const logger = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false }

/** The links, incoming links and refs that an exchange keeps. */
function tables({ crossings, whereabouts, residents }) {
  const links = crossings.reduce((sum, crossing) => sum + crossing.links.length + crossing.incomingLinks, 0)
  return links + whereabouts.kept.followers + residents.exportedCount
}

async function nodes() {
  const engine = memory()
  const systems = ['home', 'away'].map((name) => ActorSystem.create(name, { logger }))
  const clusters = []
  for (const system of systems) clusters.push(await Cluster.join(system, { name: 'refs', node: system.name, engine, lease: 60_000 }))
  systems[1].spawn(server(), { name: 'server' })
  let to
  while (to === undefined) to = await clusters[0].find('away', '/user/server')
  return {
    to,
    by: systems[0].spawn(nursery()),
    kept: () => systems.reduce((sum, system) => sum + tables(coreOf(system).otherPlaces.border.exchange), 0),
    ledger: () => clusters[0].ledger(),
    close: async () => {
      for (const cluster of clusters) await cluster.leave()
      await Promise.all(systems.map((system) => system.shutdown()))
    },
  }
}

async function pool() {
  const system = ActorSystem.create('refs', { logger })
  threads(system, { size: 2 })
  const on = (thread) => ({ dispatcher: 'parallel', placement: { thread } })
  return {
    to: system.spawn(server(), on(0)),
    by: system.spawn(nursery(), on(1)),
    kept: () => 0,
    ledger: () => system.ledger(),
    close: () => system.shutdown(),
  }
}

async function run(name, open) {
  const { to, by, kept, ledger, close } = await open()
  let requests = 0
  const round = async () => {
    await by.ask({ type: 'round', count: batch, to }, { timeout: 60_000 })
    requests += batch
  }
  const sample = async () => {
    const heaps = [await by.ask({ type: 'measure' }, { timeout: 60_000 }), await to.ask({ type: 'measure' }, { timeout: 60_000 })]
    // Refs are given up after the collection that found them, and the other side hears of it later.
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 5))
    return { requests, kept: kept(), heaps }
  }
  for (let done = 0; done < warm; done += batch) await round()
  const taken = []
  for (let i = 0; i < samples; i++) {
    const until = performance.now() + (seconds * 1_000) / samples
    do await round()
    while (performance.now() < until)
    taken.push(await sample())
  }
  const l = await ledger()
  const open1 = l.sent - (l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
  await close()
  const [first, last] = [taken.slice(0, 4), taken.slice(-4)]
  const least = (part, of) => Math.min(...part.map(of))
  const grown = [0, 1].map((i) => least(last, ({ heaps }) => heaps[i]) - least(first, ({ heaps }) => heaps[i]))
  const moreKept = least(last, (each) => each.kept) - least(first, (each) => each.kept)
  const faults = [
    ...grown.flatMap((bytes, i) => (bytes > slackBytes ? [`the heap of side ${i} grew by ${(bytes / 1e6).toFixed(1)} MB`] : [])),
    ...(moreKept > 2_000 ? [`${moreKept} links and refs more are kept`] : []),
    ...(open1 === 0 ? [] : [`${open1} messages are not accounted for`]),
  ]
  const heap = taken.map(({ heaps }) => heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join('/')).join(' ')
  console.log(`${name}: ${requests} requests in ${seconds} s; kept ${taken[0].kept} to ${taken.at(-1).kept}; heap in MB ${heap}`)
  console.log(faults.length === 0 ? `${name}: nothing is kept` : `${name}: FAILED: ${faults.join('; ')}`)
  appendFileSync(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), name, seconds, requests, grown, moreKept, unaccounted: open1, samples: taken })}\n`,
  )
  return faults.length === 0
}

let good = true
if (between !== 'threads') good = (await run('nodes', nodes)) && good
if (between !== 'nodes') good = (await run('threads', pool)) && good
process.exitCode = good ? 0 : 1
