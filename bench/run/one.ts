// One side of one benchmark in a process of its own: `node one.js <troupe|raw> <benchmark> <warm-up ms> <measure ms>`.
// Prints operations per second of each repetition after the warm-up as JSON; exits with 3 for a benchmark it lacks.
// A last argument `cpu` takes CPU time instead of time: steadier when the machine has other things to do.

import { natives } from '../native/loads.ts'
import { onRaw, onTroupe } from '../savina/stage.ts'
import { suite } from '../savina/suite.ts'

const [side = '', name = '', warm = '0', time = '0', clock = 'wall'] = process.argv.slice(2)
if (side !== 'troupe' && side !== 'raw') throw new Error('usage: one.js <troupe | raw> <benchmark> [warm-up ms] [measure ms]')

const byCpu = clock === 'cpu'
const cpuNow = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The rate of one repetition. */
function load(): (() => Promise<number>) | undefined {
  const benchmark = suite.find((b) => b.name === name)
  if (benchmark !== undefined) {
    const stage = side === 'troupe' ? onTroupe : onRaw
    return async () => {
      const cpu = cpuNow()
      const elapsed = await stage(benchmark)
      return (benchmark.operations * 1000) / (byCpu ? cpuNow() - cpu : elapsed)
    }
  }
  const run = natives[name]?.[side as 'troupe' | 'raw']
  if (run === undefined) return undefined
  return async () => {
    const started = byCpu ? cpuNow() : performance.now()
    const operations = await run()
    return (operations * 1000) / ((byCpu ? cpuNow() : performance.now()) - started)
  }
}

/** At least once, and again until the time is over. */
async function repeat(measure: () => Promise<number>, ms: number): Promise<number[]> {
  const end = performance.now() + ms
  const rates: number[] = []
  do rates.push(await measure())
  while (performance.now() < end)
  return rates
}

const measure = load()
if (measure === undefined) process.exit(3)
await repeat(measure, Number(warm))
console.log(JSON.stringify(await repeat(measure, Number(time))))
process.exit(0)
