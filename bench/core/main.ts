// `npm run bench:core [rounds]`: Troupe beside the raw floor, interleaved, each side in fresh processes; medians and the ratio,
// against the budgets of the core.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandLine, whole } from '@troupe/testkit/internal'
import { contests } from './loads.ts'

const budgets: Readonly<Record<string, number>> = { counting: 0.5, 'ping-pong': 0.45, 'ring of 100': 0.45, 'spawn, message, stop': 0.35 }
const idleBudget = 350
const { rounds } = commandLine({
  name: 'npm run bench:core',
  about: 'Messages, spawning and memory of the core beside the raw floor, against their budgets. Ends with 1 where one is missed.',
  words: { rounds: whole('rounds of each side', 3) },
})

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const run = (args: readonly string[]): unknown => JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
const millions = (rate: number): string => `${(rate / 1e6).toFixed(2)} M/s`

console.log(`node ${process.version}, ${rounds} rounds, medians\n`)
console.log(`${'load'.padEnd(24)}${'troupe'.padStart(12)}${'raw'.padStart(12)}${'ratio'.padStart(8)}${'budget'.padStart(8)}`)
let missed = 0
for (const name of Object.keys(contests)) {
  const rates: { troupe: number[]; raw: number[] } = { troupe: [], raw: [] }
  for (let i = 0; i < rounds; i++)
    for (const side of ['troupe', 'raw'] as const) rates[side].push(...(run([script('one.js'), name, side, '3']) as number[]))
  const ours = median(rates.troupe)
  const raw = median(rates.raw)
  const budget = budgets[name] ?? 0
  const ok = ours / raw >= budget
  if (!ok) missed++
  console.log(
    `${name.padEnd(24)}${millions(ours).padStart(12)}${millions(raw).padStart(12)}${(ours / raw).toFixed(2).padStart(8)}${budget.toFixed(2).padStart(8)}${ok ? '' : '  missed'}`,
  )
}
const bytes = run(['--expose-gc', script('idle.js')]) as number
if (bytes > idleBudget) missed++
console.log(
  `${'bytes per idle actor'.padEnd(24)}${bytes.toFixed(0).padStart(12)}${''.padStart(20)}${String(idleBudget).padStart(8)}${bytes > idleBudget ? '  missed' : ''}`,
)
process.exitCode = missed === 0 ? 0 : 1
