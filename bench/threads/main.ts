// What threads cost and what they give, beside raw code that does the least, in one run. Figures depend on the machine
// and on what else it does: only the ratios mean something.

import { ActorSystem } from '@troupe/core'
import { threads } from '@troupe/node'
import { commandLine } from '@troupe/testkit/internal'
import { burn, burner, echo, sink, source } from './actors.ts'
import { rawPings, rawRate, rawSpeedUp } from './raw.ts'

commandLine({
  name: 'npm run bench:threads',
  about: 'Messages, round trips and work on threads beside raw code that does the least, against their budgets. Takes no arguments.',
})

const small = 400_000
const rounds = 5

interface Budget {
  readonly name: string
  readonly ratio: number
  readonly wanted: number
  readonly atMost?: boolean
}
const budgets: Budget[] = []

async function best(runs: number, run: () => Promise<number>): Promise<number> {
  let most = 0
  for (let i = 0; i < runs; i++) most = Math.max(most, await run())
  return most
}
const millions = (rate: number): string => `${(rate / 1e6).toFixed(2)} M/s`
const quantile = (times: number[], q: number): number => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))]!

async function messages(): Promise<void> {
  const system = ActorSystem.create('bench')
  threads(system, { size: 2 })
  const there = system.spawn(sink(), { dispatcher: 'parallel', placement: { thread: 0 } })
  const origin = system.spawn(source(), { dispatcher: 'parallel', placement: { thread: 1 } })
  await Promise.all([system.started(there), system.started(origin)])
  const fromMain = async (): Promise<number> => {
    const since = performance.now()
    const done = there.ask({ type: 'total', after: small }, { timeout: 60_000 })
    for (let i = 0; i < small; i++) {
      there.tell({ type: 'add', by: i })
      if (i % 20_000 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await done
    return (small / (performance.now() - since)) * 1000
  }
  const betweenThreads = async (): Promise<number> => {
    const since = performance.now()
    const done = there.ask({ type: 'total', after: small }, { timeout: 60_000 })
    await origin.ask({ type: 'send', count: small, to: there }, { timeout: 60_000 })
    await done
    return (small / (performance.now() - since)) * 1000
  }
  const one = await best(rounds, () => rawRate('one', small / 4))
  const batch = await best(rounds, () => rawRate('batch', small))
  const ring = await best(rounds, () => rawRate('ring', small))
  const main = await best(rounds + 1, fromMain)
  const across = await best(rounds + 1, betweenThreads)
  console.log('small messages, one way, best of', rounds)
  console.log('  raw postMessage, one by one      ', millions(one))
  console.log('  raw postMessage, batches of 256  ', millions(batch))
  console.log('  raw ring with msgpackr           ', millions(ring))
  console.log('  main → actor on a thread         ', millions(main))
  console.log('  actor → actor, thread to thread  ', millions(across))
  for (const [name, rate] of [
    ['main → thread', main],
    ['thread → thread', across],
  ] as const) {
    budgets.push(
      { name: `${name} against batches`, ratio: rate / batch, wanted: 2 },
      { name: `${name} against one by one`, ratio: rate / one, wanted: 6 },
      { name: `${name} against the raw ring`, ratio: rate / ring, wanted: 0.5 },
    )
  }
  await system.shutdown()
}

async function roundTrips(): Promise<void> {
  const system = ActorSystem.create('bench')
  threads(system, { size: 2 })
  const there = system.spawn(echo(), { dispatcher: 'parallel' })
  await system.started(there)
  const asks: number[] = []
  const asking = async (): Promise<void> => {
    for (let i = 0; i < 3000; i++) {
      const since = performance.now()
      await there.ask({ type: 'ping', n: i })
      if (i >= 500) asks.push(performance.now() - since)
    }
  }
  const pings = (await rawPings(3000)).slice(500)
  await asking()
  const micros = (ms: number): string => `${Math.round(ms * 1000)} µs`
  console.log('\nround trips, one at a time')
  console.log('  raw ping over a port      ', `p50 ${micros(quantile(pings, 0.5))}`, `p99 ${micros(quantile(pings, 0.99))}`)
  console.log('  ask of an actor           ', `p50 ${micros(quantile(asks, 0.5))}`, `p99 ${micros(quantile(asks, 0.99))}`)
  budgets.push({ name: 'ask against a raw ping, p50', ratio: quantile(asks, 0.5) / quantile(pings, 0.5), wanted: 2, atMost: true })
  await system.shutdown()
}

async function cpuBound(): Promise<void> {
  const system = ActorSystem.create('bench')
  threads(system, { size: 2 })
  const workers = [0, 1].map((thread) => system.spawn(burner(), { dispatcher: 'parallel', placement: { thread } }))
  await Promise.all(workers.map((ref) => system.started(ref)))
  burn(1e7)
  const load = 60_000_000
  const portions = 20
  const run = async (used: typeof workers): Promise<number> => {
    const since = performance.now()
    await Promise.all(
      Array.from({ length: portions }, (_, i) => used[i % used.length]!.ask({ type: 'burn', rounds: load / portions }, { timeout: 60_000 })),
    )
    return performance.now() - since
  }
  await run(workers)
  let one = Infinity
  let two = Infinity
  for (let i = 0; i < rounds; i++) {
    one = Math.min(one, await run(workers.slice(0, 1)))
    two = Math.min(two, await run(workers))
  }
  const raw = await rawSpeedUp(load)
  console.log('\nwork that needs the processor')
  console.log('  raw workers, two against one ', `${raw.toFixed(2)} times as fast: what the machine gives now`)
  console.log('  on one thread             ', `${Math.round(one)} ms`)
  console.log('  on two                    ', `${Math.round(two)} ms, ${(one / two).toFixed(2)} times as fast`)
  budgets.push({ name: 'two threads against one', ratio: one / two, wanted: 1.8 })
  await system.shutdown()
}

await messages()
await roundTrips()
await cpuBound()
console.log('\nbudgets')
for (const { name, ratio, wanted, atMost } of budgets) {
  const kept = atMost === true ? ratio <= wanted : ratio >= wanted
  if (!kept) process.exitCode = 1
  console.log(`  ${kept ? 'kept  ' : 'MISSED'} ${name.padEnd(36)} ${ratio.toFixed(2)} (${atMost === true ? 'at most' : 'at least'} ${wanted})`)
}
