// Producers at ten times the consumer's rate, against each overflow policy: how much heap is held, what was lost, and
// how long a stop takes to come about. Full run: 20 s for each policy. `--quick`: 2 s each, for a look.
//
// The consumer works half a millisecond on each message, on the same thread as the producers: 100 % load is its own work alone.
// Held heap is measured after a collection, so that it is what the mailbox keeps and no garbage.
// Needs `node --expose-gc`; `npm run bench:overload` sees to that.

import { commandLine, flag } from '@troupe/testkit/internal'
import { ActorSystem, bounded, grow, priority, receive, same } from '@troupe/core'

const { quick } = commandLine({
  name: 'npm run bench:overload',
  about: 'Producers at ten times the rate of the consumer, against each overflow policy: heap held, messages lost, time to stop.',
  options: { quick: flag('2 s for each policy instead of 20, for a look; misses do not fail it') },
})
const seconds = quick ? 2 : 20
const capacity = 2000
const work = 0.5
const rate = 1000 / work
const producers = 10
const stopEvery = 200

const policies = [
  ['drop-newest', bounded(capacity, 'drop-newest'), capacity],
  ['drop-oldest', bounded(capacity, 'drop-oldest'), capacity],
  ['reject', bounded(capacity, 'reject'), capacity],
  ['grow(2)', bounded(capacity, grow(2)), capacity * 2],
  ['block (offer)', bounded(capacity, 'block'), capacity],
  ['priority, drop-oldest', priority((a, b) => b.rank - a.rank, { capacity, overflow: 'drop-oldest' }), capacity],
]

if (typeof gc !== 'function') throw new Error('run with node --expose-gc')

const message = (rank) => ({ rank, body: new Array(500).fill(rank) })

function spin(ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const heldNow = () => {
  gc()
  return process.memoryUsage().heapUsed
}

/** What that many messages weigh in a mailbox of this kind: the bound, in bytes. */
async function weigh(kind, count) {
  const system = ActorSystem.create('scale', { keepAlive: false, deadLetterCapacity: 0 })
  const ref = system.spawn(
    receive(() => same),
    { mailbox: kind },
  )
  await system.started(ref)
  system.suspend(ref, 'to be weighed')
  await new Promise((resolve) => setTimeout(resolve, 20))
  const before = heldNow()
  for (let i = 0; i < count; i++) ref.tell(message(i % 10))
  const bytes = heldNow() - before
  await system.shutdown()
  return bytes
}

function percentile(values, q) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * q) - 1)] ?? 0
}

async function run(name, kind, bound) {
  const bytes = await weigh(kind, bound)
  // Dead letters are kept on purpose, up to their own capacity; few here, so that the mailbox is what is measured.
  const system = ActorSystem.create('overload', { deadLetterCapacity: 100, keepAlive: false })
  const consumer = () =>
    system.spawn(
      receive(() => {
        spin(work)
        return same
      }),
      { mailbox: kind },
    )
  let ref = consumer()
  await system.started(ref)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const base = heldNow()
  const began = performance.now()
  const end = began + seconds * 1000
  let peak = 0
  let sent = 0
  const stops = []
  const stopping = new Set()
  const state = { running: true }
  const offering = async () => {
    while (state.running) await ref.offer(message(sent++ % 10)).catch(() => {})
  }
  const blocks = name.startsWith('block')
  if (blocks) for (let i = 0; i < producers; i++) void offering()
  let nextStop = began + stopEvery
  let nextLook = began + 100
  await new Promise((resolve) => {
    const pass = () => {
      const now = performance.now()
      if (now >= end) return resolve()
      if (!blocks) {
        const due = Math.floor(((now - began) / 1000) * rate * producers)
        // A pass that came late catches up on a tenth of a second at most.
        for (let left = Math.min(due - sent, rate); left > 0; left--) ref.tell(message(sent++ % 10))
        sent = Math.max(sent, due - rate)
      }
      if (now >= nextStop) {
        nextStop = now + stopEvery
        const old = ref
        ref = consumer()
        const asked = performance.now()
        system.stop(old)
        stopping.add(old)
        void system.whenTerminated(old).then(() => {
          stopping.delete(old)
          stops.push(performance.now() - asked)
        })
      }
      if (now >= nextLook) {
        nextLook = now + 250
        peak = Math.max(peak, heldNow() - base)
      }
      setImmediate(pass)
    }
    setImmediate(pass)
  })
  state.running = false
  const ledger = await system.ledger()
  const { sent: counted, ...rest } = ledger
  const sum = Object.values(rest).reduce((a, b) => a + b, 0)
  if (counted !== sum) throw new Error(`the ledger does not add up: ${JSON.stringify(ledger)}`)
  await system.shutdown({ deadline: 5000 })
  const p99 = percentile(stops, 0.99)
  const limit = bytes * 1.2
  return {
    policy: name,
    sent: counted,
    handled: ledger.handled,
    dropped: ledger.dropped,
    'dead letters': ledger.deadLettered,
    'bound MB': (bytes / 2 ** 20).toFixed(1),
    'peak held MB': (peak / 2 ** 20).toFixed(1),
    'of bound': `${((100 * peak) / bytes).toFixed(0)} %`,
    stops: stops.length,
    'stop p50 ms': percentile(stops, 0.5).toFixed(1),
    'stop p99 ms': p99.toFixed(1),
    ok: peak <= limit && p99 <= 100,
  }
}

const rows = []
for (const [name, kind, bound] of policies) rows.push(await run(name, kind, bound))
console.log(`${producers}× overload for ${seconds} s each, capacity ${capacity}, node ${process.version}`)
console.table(rows)
const bad = rows.filter((r) => !r.ok)
console.log(
  bad.length === 0
    ? 'heap within the bound + 20 %, stop within 100 ms at p99: yes, for every policy'
    : `not within the budget: ${bad.map((r) => r.policy).join(', ')}`,
)
process.exitCode = bad.length === 0 || quick ? 0 : 1
