// `npm run bench:cluster`: what a cluster carries and how soon it fails over, beside what it is made of: frames of NATS, in batches and one by one,
// and of TCP, in one run on one machine. Rounds are interleaved, medians are shown, and budgets are ratios between rows of the same run.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { amount, commandLine, someOf, whole } from '@troupe/testkit/internal'
import { findNats, startNats } from '../../tools/engines/nats.mjs'
import { freePort } from '../../tools/engines/server.mjs'
import { failovers, takeOver } from './failover.mjs'
import { pekkoFailovers } from './pekko.mjs'

const parts = ['carry', 'failover', 'shards', 'pekko']
const { only, seconds, rounds, kills, takeovers } = commandLine({
  name: 'npm run bench:cluster',
  about: 'Messages and questions between two processes, failover, and the take-over of 1,024 shards, with the budgets of the design as ratios.',
  options: {
    only: someOf('part', parts, 'just these', 'all'),
    seconds: amount('how long each way of carrying is measured', 3, { from: 0.5, to: 60 }),
    rounds: whole('how often each is measured', 3),
    takeovers: whole('how often the shards of a node are taken over', 5),
    kills: whole('how many nodes are killed for the time of a failover', 20),
  },
})
const wanted = (part) => only === undefined || only.includes(part)
const found = findNats()
if (found === undefined) {
  process.stderr.write('No nats-server was found; npm run engines -- --only nats fetches one.\n')
  process.exit(1)
}
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)]
const program = fileURLToPath(new URL('./end.mjs', import.meta.url))
const budgets = []
const budget = (text, value, holds) => budgets.push(`${holds ? 'holds ' : 'MISSED'} ${text}: ${value}`)

const labels = {
  troupe: 'Troupe, actor to actor',
  nats: 'raw NATS, 256 in a frame',
  'nats-json': 'raw NATS, 256 in a frame, as JSON',
  'nats-one': 'raw NATS, one by one',
  tcp: 'raw TCP, 256 in a frame',
}

/** One measurement of one way, in two fresh processes. */
async function carry(side, url) {
  const begin = (end) => {
    const child = fork(program, [JSON.stringify([side, end, url, seconds])])
    const heard = (word) => new Promise((resolve) => child.on('message', ([given, value]) => given === word && resolve(value)))
    return { child, ready: heard('ready'), figures: heard('figures'), gone: new Promise((resolve) => child.once('exit', resolve)) }
  }
  const far = begin('far')
  await far.ready
  const near = begin('near')
  const figures = await Promise.race([near.figures, near.gone.then(() => undefined)])
  for (const { child } of [near, far]) if (child.connected) child.send(['end'])
  const late = setTimeout(() => [near, far].forEach(({ child }) => child.kill('SIGKILL')), 8_000)
  await Promise.all([near.gone, far.gone])
  clearTimeout(late)
  return figures
}

if (wanted('carry')) {
  const figures = new Map(Object.keys(labels).map((side) => [side, []]))
  const server = await startNats(found)
  try {
    for (let round = 0; round < rounds; round++)
      for (const side of figures.keys()) {
        const figure = await carry(side, side === 'tcp' ? String(await freePort()) : server.url)
        if (figure === undefined) console.log(`${labels[side]}: no figure`)
        else figures.get(side).push(figure)
      }
  } finally {
    await server.end()
  }
  const of = (side, figure) => median(figures.get(side).map((one) => one[figure]))
  console.log('\nbetween two processes                messages/s    question p50')
  for (const [side, label] of Object.entries(labels))
    console.log(`${label.padEnd(34)} ${`${(of(side, 'rate') / 1e6).toFixed(2)} M`.padStart(12)} ${`${of(side, 'p50').toFixed(0)} µs`.padStart(15)}`)
  const batched = of('troupe', 'rate') / of('nats', 'rate')
  const single = of('troupe', 'rate') / of('nats-one', 'rate')
  const asks = of('troupe', 'p50') / of('nats', 'p50')
  budget('tell ≥ 0.5× raw NATS in batches', `${batched.toFixed(2)}×`, batched >= 0.5)
  budget('tell ≥ 3× raw NATS one by one', `${single.toFixed(2)}×`, single >= 3)
  budget('question p50 ≤ 2× a raw NATS frame', `${asks.toFixed(2)}×`, asks <= 2)
}

if (wanted('failover')) {
  const times = await failovers(found, { lease: 5_000, kills })
  const most = Math.max(...times)
  console.log(`\nfailover, lease 5 s, ${times.length} kills: median ${(median(times) / 1e3).toFixed(2)} s, longest ${(most / 1e3).toFixed(2)} s`)
  budget('failover with a lease of 5 s ≤ 7 s', `${(most / 1e3).toFixed(2)} s`, most <= 7_000)
}
if (wanted('shards')) {
  const runs = []
  for (let n = 0; n < takeovers; n++) runs.push(await takeOver(found, 1_024))
  // As if it had been 1,024 each time.
  const times = runs.map(({ shards, ms }) => (ms * 1_024) / shards)
  const most = Math.max(...times)
  const raw = median(runs.map(({ shards, raw: ms }) => (ms * 1_024) / shards))
  console.log(
    `\ntake-over of 1,024 shards of a node that ended, ${runs.length} times: median ${median(times).toFixed(0)} ms, longest ${most.toFixed(0)} ms; as many writes to NATS by themselves: ${raw.toFixed(0)} ms`,
  )
  budget('1,024 shards taken over in ≤ 1 s', `${most.toFixed(0)} ms`, most <= 1_000)
}
if (wanted('pekko')) {
  const pekko = await pekkoFailovers(3)
  if (typeof pekko === 'string') console.log(`\nleft out: Pekko Cluster Sharding: ${pekko}`)
  else
    console.log(
      `\nPekko Cluster Sharding as it comes, ${pekko.length} kills: median ${(median(pekko) / 1e3).toFixed(1)} s, longest ${(Math.max(...pekko) / 1e3).toFixed(1)} s`,
    )
}
console.log(`\n${budgets.join('\n')}`)
process.exitCode = budgets.some((line) => line.startsWith('MISSED')) ? 1 : 0
