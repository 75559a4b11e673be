// Runs one side of one contest in this process, warm, a few times; prints the rates as JSON. Rates are per second of CPU
// time, the collector's included: all of it is on one thread, and a busy machine then does not decide who wins.

import { contests } from './loads.ts'

const [name = '', side = '', times = '3'] = process.argv.slice(2)
const load = contests[name]![side]!
await load()
await load()
const rates: number[] = []
for (let i = 0; i < Number(times); i++) {
  const before = process.cpuUsage()
  const answered = await load()
  const { user, system } = process.cpuUsage(before)
  rates.push((answered * 1e6) / (user + system))
}
console.log(JSON.stringify(rates))
