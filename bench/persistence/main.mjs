// `npm run bench:persistence`: commands per second of persistent actors, on every store and beside those of others, in one run on one
// machine: rounds are interleaved, medians are shown, and budgets are ratios between rows of the same run.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { amount, commandLine, someOf, whole } from '@troupe/testkit/internal'
import { budgets, costRows, endSides, idleMost, limits, memoryMost, placeOf, shapes, sides } from './sides.mjs'

const { only, seconds, rounds } = commandLine({
  name: 'npm run bench:persistence',
  about: 'Commands per second of persistent actors on every store that is there, beside others, with the budgets of the design as ratios.',
  options: {
    only: someOf(
      'side',
      sides.map(({ name }) => name),
      'just these',
      'all',
    ),
    seconds: amount('how long each is measured', 3, { from: 0.1, to: 600 }),
    rounds: whole('how often each is measured', 3),
  },
})

/** Runs one side once; undefined where it failed, which is told. */
function measure(side, shape) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  const { file, args, cwd } = side.command(shape, placeOf(folder), Math.min(1, seconds / 2), seconds)
  return new Promise((resolve) => {
    execFile(file, args, { cwd, timeout: seconds * 3000 + (side.minutes ?? 2) * 60_000, maxBuffer: 1e8 }, (cause, out, err) => {
      rmSync(folder, { recursive: true, force: true })
      try {
        const figure = JSON.parse(out.trim().split('\n').at(-1))
        if (figure.rate === 0) throw new Error('nothing was done')
        resolve(figure)
      } catch {
        console.log(`  ${side.label}${shape === undefined ? '' : `, ${shape.name}`}: ${err.trim().split('\n')[0] || cause?.message || 'no figure'}`)
        resolve(undefined)
      }
    })
  })
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)]
const shown = (rate) =>
  rate === undefined
    ? '–'
    : rate >= 1e6
      ? `${(rate / 1e6).toFixed(2)} M`
      : rate >= 1e4
        ? `${(rate / 1e3).toFixed(0)} k`
        : `${(rate / 1e3).toFixed(2)} k`

const taking = []
for (const side of sides) {
  if (only !== undefined && !only.includes(side.name)) continue
  const missing = await side.prepare()
  if (missing === undefined) taking.push(side)
  else console.log(`left out: ${side.label}: ${missing}`)
}
/** By side and shape, what every round said. */
const figures = new Map(taking.map(({ name }) => [name, shapes.map(() => [])]))
/** Of sides that are measured once. */
const alone = new Map()
try {
  for (const side of taking) if (side.shapes?.length === 0) alone.set(side.name, await measure(side, undefined))
  for (let round = 1; round <= rounds; round++)
    for (const side of taking)
      for (const [i, shape] of shapes.entries()) {
        if (side.shapes?.includes(i) === false) continue
        const figure = await measure(side, shape)
        if (figure !== undefined) figures.get(side.name)[i].push(figure)
      }
} finally {
  await endSides()
}
const of = (name, shape, figure = 'rate') => {
  const found = figures.get(name)?.[shape] ?? []
  return found.length === 0 ? undefined : median(found.map((one) => one[figure] ?? 0))
}

console.log(`\nCommands per second; latency in ms at p50 / p99; medians of ${rounds}\n`)
console.log(`${''.padEnd(34)}${shapes.map(({ name }) => name.padEnd(30)).join('')}`)
for (const { name, label, shapes: own } of taking) {
  if (own?.length === 0) continue
  console.log(
    label.padEnd(34) +
      shapes
        .map((_, i) =>
          of(name, i) === undefined
            ? '–'.padStart(8).padEnd(30)
            : `${shown(of(name, i)).padStart(8)}  ${(of(name, i, 'p50') ?? 0).toFixed(2)} / ${(of(name, i, 'p99') ?? 0).toFixed(2)}`.padEnd(30),
        )
        .join(''),
  )
}
const [idle, memory] = [alone.get('idle'), alone.get('memory')]
if (idle !== undefined) console.log(`\nAn idle actor: ${Math.round(idle.plain)} bytes, a persistent one ${Math.round(idle.persistent)}`)
if (memory !== undefined)
  console.log(
    `\nSQLite after 1,000,000 events of 1,000 actors, MB: heap ${memory.heap}, external ${memory.external}, resident ${memory.resident} (at most ${memory.peak})`,
  )
console.log('')
let missed = 0
const judge = (text, value, { least = -Infinity, most = Infinity }) => {
  if (value === undefined) return
  const met = value >= least && value <= most
  if (!met) missed++
  console.log(
    `${met ? 'ok    ' : 'MISSED'}  ${text}: ${value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2)}, ${most === Infinity ? `at least ${least}` : `at most ${most}`}`,
  )
}
for (const { row, of: other, shape, least } of budgets) {
  const [a, b] = [of(row, shape), of(other, shape)]
  judge(`${row} / ${other}, ${shapes[shape].name}`, a === undefined || b === undefined ? undefined : a / b, { least })
}
for (const { row, figure, ...bounds } of limits)
  for (const [i, { name }] of shapes.entries()) judge(`${row}, ${figure}, ${name}`, of(row, i, figure), bounds)
judge('an idle persistent actor / a plain one', idle?.ratio, { most: idleMost })
for (const [figure, most] of Object.entries(memoryMost)) judge(`memory of SQLite, ${figure}, MB`, memory?.[figure], { most })
for (const name of ['costs', 'costs-postgres'])
  for (const { figure, text, ...bounds } of costRows)
    judge(`${name === 'costs' ? 'SQLite' : 'PostgreSQL'}, ${text}`, alone.get(name)?.[figure], bounds)
process.exitCode = missed === 0 ? 0 : 1
