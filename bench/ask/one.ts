// Runs one side of one contest in this process, warm, a few times; prints the rates as JSON.

import { contests } from './loads.ts'

const [name = '', side = '', times = '3'] = process.argv.slice(2)
const load = contests[name]![side]!
await load()
const rates: number[] = []
for (let i = 0; i < Number(times); i++) {
  const before = performance.now()
  const answered = await load()
  rates.push((answered * 1000) / (performance.now() - before))
}
console.log(JSON.stringify(rates))
