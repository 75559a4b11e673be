// What it costs to be looked at: a system without an observer, with one that nobody looks through, and one that somebody does, saturated.
// Processes take turns, and the first is measured twice: what differs there is noise.

import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { commandLine, whole } from '@troupe/testkit/internal'

const { rounds, messages } = commandLine({
  name: 'npm run bench:observer',
  about: 'Nanoseconds for each message without an observer, with one that nobody looks through, and while somebody does.',
  options: { rounds: whole('processes of each', 7), messages: whole('messages of each', 4_000_000) },
})

const one = fileURLToPath(new URL('one.mjs', import.meta.url))
const measure = (workload, mode) => JSON.parse(execFileSync(process.execPath, [one, workload, mode, String(messages)], { encoding: 'utf8' })).ns
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1]

/** Beyond noise: at most so many percent while nobody looks, so many nanoseconds while somebody does. */
const budgets = { 'ping-pong': 8, big: 16 }
const unarmed = 2

process.stdout.write(`load before: ${loadavg()[0].toFixed(2)}\n`)
process.stdout.write(
  `${['', 'plain', 'again', 'noise', 'attached', '', 'armed', ''].map((t, i) => (i === 0 ? t.padEnd(12) : t.padStart(10))).join('')}\n`,
)
let missed = 0
for (const workload of Object.keys(budgets)) {
  const taken = { plain: [], again: [], attached: [], armed: [] }
  for (let i = 0; i < rounds; i++) for (const name of Object.keys(taken)) taken[name].push(measure(workload, name === 'again' ? 'plain' : name))
  const ns = Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, median(all)]))
  const base = Math.min(ns.plain, ns.again)
  const noise = (Math.abs(ns.plain - ns.again) / base) * 100
  const attached = (ns.attached / base - 1) * 100
  const armed = ns.armed - base
  const late = [attached > unarmed + noise, armed > budgets[workload] + (noise / 100) * base]
  missed += late.filter(Boolean).length
  const cells = [
    `${ns.plain.toFixed(1)} ns`,
    `${ns.again.toFixed(1)} ns`,
    `${noise.toFixed(1)} %`,
    `${attached.toFixed(1)} %`,
    late[0] ? 'missed' : `≤ ${unarmed} %`,
    `+${armed.toFixed(1)} ns`,
    late[1] ? 'missed' : `≤ ${budgets[workload]} ns`,
  ]
  process.stdout.write(`${workload.padEnd(12)}${cells.map((t) => t.padStart(10)).join('')}\n`)
}
process.stdout.write(`load after: ${loadavg()[0].toFixed(2)}\n`)
process.exitCode = missed === 0 ? 0 : 1
