// One side of one benchmark in a process of its own: `node one.js <troupe|raw> <benchmark> <warm-up ms> <measure ms>`.
// Prints operations per second of each repetition after the warm-up as JSON; exits with 3 for a benchmark it lacks.
// An argument `both` gives the rates by time and by CPU time, which is often steadier: `{ "wall": […], "cpu": […] }`; one more says how many
// repetitions are measured at least.

import { natives } from '../native/loads.ts'
import { onRaw, onTroupe } from '../savina/stage.ts'
import { suite } from '../savina/suite.ts'

const [side = '', name = '', warm = '0', time = '0', clock = 'wall', least = '1'] = process.argv.slice(2)
if (side !== 'troupe' && side !== 'raw') throw new Error('usage: one.js <troupe | raw> <benchmark> [warm-up ms] [measure ms]')

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The rates of one repetition. */
interface Rates {
  readonly wall: number
  readonly cpu: number
}

function load(): (() => Promise<Rates>) | undefined {
  const benchmark = suite.find((b) => b.name === name)
  if (benchmark !== undefined) {
    const stage = side === 'troupe' ? onTroupe : onRaw
    return async () => {
      const cpu = cpuNow()
      const elapsed = await stage(benchmark)
      return { wall: (benchmark.operations * 1000) / elapsed, cpu: (benchmark.operations * 1000) / (cpuNow() - cpu) }
    }
  }
  const run = natives[name]?.[side as 'troupe' | 'raw']
  if (run === undefined) return undefined
  return async () => {
    const cpu = cpuNow()
    const started = performance.now()
    const operations = await run()
    return { wall: (operations * 1000) / (performance.now() - started), cpu: (operations * 1000) / (cpuNow() - cpu) }
  }
}

/** So many times at least, and again until the time is over. */
async function repeat(measure: () => Promise<Rates>, ms: number, times: number): Promise<Rates[]> {
  const end = performance.now() + ms
  const rates: Rates[] = []
  do rates.push(await measure())
  while (rates.length < times || performance.now() < end)
  return rates
}

const measure = load()
if (measure === undefined) process.exit(3)
await repeat(measure, Number(warm), 1)
const rates = await repeat(measure, Number(time), Number(least))
const wall = rates.map((r) => r.wall)
console.log(JSON.stringify(clock === 'both' ? { wall, cpu: rates.map((r) => r.cpu) } : wall))
process.exit(0)
