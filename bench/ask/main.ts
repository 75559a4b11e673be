// `npm run bench:ask [rounds]`: asks, timeouts armed, beside a bare promise-resolver round trip, interleaved, each side
// in fresh processes; and an ask storm with deadlock detection beside one without. Medians and ratios.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandLine, whole } from '@troupe/testkit/internal'
import { contests } from './loads.ts'

const budgets: Readonly<Record<string, number>> = { sequential: 0.45, '1,000 at once': 0.45, 'storm, detection': 0.95 }
const { rounds } = commandLine({
  name: 'npm run bench:ask',
  about: 'Asks beside a bare promise, and deadlock detection beside none, against their budgets. Ends with 1 where one is missed.',
  words: { rounds: whole('rounds of each side', 5) },
})

const script = fileURLToPath(new URL('one.js', import.meta.url))
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const run = (name: string, side: string): number[] =>
  JSON.parse(execFileSync(process.execPath, ['--single-threaded-gc', script, name, side, '5'], { encoding: 'utf8' })) as number[]
const millions = (rate: number): string => `${(rate / 1e6).toFixed(3)} M/s`

console.log(`node ${process.version}, ${rounds} rounds, medians, questions per second of CPU time\n`)
let missed = 0
for (const [name, sides] of Object.entries(contests)) {
  const [ours, floor] = Object.keys(sides) as [string, string]
  const rates: Record<string, number[]> = { [ours]: [], [floor]: [] }
  for (let i = 0; i < rounds; i++) for (const side of i % 2 === 0 ? [ours, floor] : [floor, ours]) rates[side]!.push(...run(name, side))
  const [a, b] = [median(rates[ours]!), median(rates[floor]!)]
  const ok = a / b >= budgets[name]!
  if (!ok) missed++
  const cells = [`${ours} ${millions(a)}`, `${floor} ${millions(b)}`, (a / b).toFixed(2), `budget ${budgets[name]!}`]
  console.log(`${name.padEnd(18)}${cells.map((c) => c.padStart(20)).join('')}${ok ? '' : '  missed'}`)
}
process.exitCode = missed === 0 ? 0 : 1
