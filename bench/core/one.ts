// One side of one contest in a process of its own: `node one.js <contest> <troupe|raw> <repetitions>`.
// Prints operations per second of each repetition as JSON; the first two warm up and are not counted.

import { contests } from './loads.ts'

const [name = '', side = '', repetitions = '5'] = process.argv.slice(2)
const contest = contests[name]
if (contest === undefined || (side !== 'troupe' && side !== 'raw'))
  throw new Error(`usage: one.js <${Object.keys(contests).join(' | ')}> <troupe | raw> [repetitions]`)
const rates: number[] = []
for (let i = -2; i < Number(repetitions); i++) {
  const started = performance.now()
  await contest[side](contest.n)
  if (i >= 0) rates.push((contest.n / (performance.now() - started)) * 1000)
}
console.log(JSON.stringify(rates))
