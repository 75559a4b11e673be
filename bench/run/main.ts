// `npm run bench`: everything, interleaved, into bench/report/. What is not a full run goes into bench/report/partial/.
//   --only ping-pong,big   just these      --peers erlang,raw   just these others (none: no peers at all)
//   --quick                under three minutes; peers that are not built yet are left out
//   --rounds 5             instead of 3, or of 1 with --quick

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commandLine, flag, someOf, whole } from '@troupe/testkit/internal'
import { machine } from './machine.ts'
import { growthPlan, plan } from './plan.ts'
import { Progress } from './progress.ts'
import { verdicts } from './budgets.ts'
import { type Growth, type Latency, markdown, plots, type Report } from './report.ts'
import { interleave, json, type Pace } from './rounds.ts'
import { floor, floorEnlarged, newerNode, ours, oursEnlarged, peerSides, type Side } from './sides.ts'
import { median, short, times } from './statistics.ts'

const extras = ['growth', 'latency']
const given = commandLine({
  name: 'npm run bench',
  about:
    'Everything, interleaved, into bench/report/; what is not a full run goes into bench/report/partial/. A full run takes about 15 minutes and builds the peers whose toolchains are there.',
  options: {
    only: someOf('benchmark', [...plan.map((e) => e.name), ...extras], 'just these', 'all'),
    peers: someOf('peer', ['raw', 'none', ...peerSides.map((s) => s.name)], 'just these others; none: no peers at all', 'all'),
    rounds: whole('rounds of each benchmark (default: 3, with --quick 1)', undefined),
    quick: flag('in under three minutes; peers that are not built yet are left out'),
  },
})
const { quick, only, peers: wanted } = given

const pace: Pace = { rounds: given.rounds ?? (quick ? 1 : 3), warm: quick ? 120 : 400, time: quick ? 150 : 500 }
// What has no budget of its own gets less time.
const calmer: Pace = { rounds: pace.rounds, warm: pace.warm / 2, time: pace.time / 2 }

const absent: string[] = []
const note = (line: string): void => {
  absent.push(line)
  console.log(`left out: ${line}`)
}
const peers = peerSides.filter((side) => {
  if (wanted !== undefined && !wanted.includes(side.name)) return false
  const why = side.prepare(!quick || wanted !== undefined)
  if (why !== undefined) note(`${side.label}: ${why}`)
  return why === undefined
})
const withNewer = (wanted === undefined || wanted.includes('xstate')) && !quick
const newerMissing = withNewer ? newerNode.prepare(true) : undefined
if (newerMissing !== undefined) note(`Node ${newerNode.version}: ${newerMissing}`)
const withRaw = wanted === undefined || wanted.includes('raw')

function sidesOf(entry: (typeof plan)[number]): Side[] {
  const sides: Side[] = [ours]
  if (withRaw) sides.push(floor)
  if (entry.deep && !quick) sides.push(oursEnlarged, ...(withRaw ? [floorEnlarged] : []))
  if (entry.newer && withNewer && newerMissing === undefined) sides.push(...newerNode.sides)
  if (entry.contested) sides.push(...peers)
  return sides
}

const entries = plan.filter((e) => only === undefined || only.includes(e.name))
const growing = only === undefined || only.includes('growth') ? growthPlan : []
const sizesOf = (sizes: readonly number[]): readonly number[] => (quick ? sizes.filter((s) => s <= 100_000) : sizes)
const loaded = only === undefined || only.includes('latency')
const ownSides = withRaw ? [ours, floor] : [ours]
const roundsOf = (name: string): number => (name === 'idle' ? 1 : pace.rounds)
const steps =
  entries.reduce((n, e) => n + sidesOf(e).length * roundsOf(e.name), 0) +
  growing.reduce((n, g) => n + sizesOf(g.sizes).length * ownSides.length * pace.rounds, 0) +
  (loaded ? ownSides.length : 0)
const progress = new Progress(steps)
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const benchmarks: Report['benchmarks'][number][] = []
for (const entry of entries) {
  const sides = sidesOf(entry)
  const chosen = entry.contested || entry.kind === 'own' ? pace : calmer
  const results = await interleave(
    entry.name,
    sides,
    { ...chosen, rounds: roundsOf(entry.name) },
    (side) => progress.step(`${entry.name} · ${side}`),
    (side, why) => note(`${side} in ${entry.name}: ${why}`),
  )
  benchmarks.push({ ...entry, results })
  progress.end()
  const mine = results['troupe']
  const others = Object.entries(results).filter(([side]) => side !== 'troupe')
  const versus = ([side, f]: (typeof others)[number]): string =>
    `${side} ${times(mine === undefined ? Number.NaN : entry.measure === 'bytes' ? f.median / mine.median : mine.median / f.median)}`
  console.log(
    `${entry.name.padEnd(28)}${mine === undefined ? 'failed' : short(mine.median).padStart(8)} ${entry.unit.padEnd(16)} ${others.map(versus).join('  ')}`,
  )
}

const growth: Growth[] = []
for (const { what, sizes } of growing) {
  const figures: { side: string; size: number; ns: number }[] = []
  for (const size of sizesOf(sizes)) {
    const samples = new Map<string, number[]>(ownSides.map((s) => [s.name, []]))
    for (let round = 0; round < pace.rounds; round++)
      for (const side of ownSides) {
        progress.step(`growth per ${what} at ${short(size)} · ${side.label}`)
        const repetitions = size >= 1_000_000 ? '1' : '3'
        const found = (await json({
          file: process.execPath,
          args: [script('../native/growth.js'), side.name, what, String(size), repetitions],
        })) as number[]
        samples.get(side.name)!.push(...found)
      }
    for (const [side, found] of samples) figures.push({ side, size, ns: median(found) })
  }
  growth.push({ what, figures })
  progress.end()
  console.log(
    `ns per ${what.padEnd(8)} ${ownSides
      .map(
        (s) =>
          `${s.name}: ${figures
            .filter((f) => f.side === s.name)
            .map((f) => `${short(f.ns)} at ${short(f.size)}`)
            .join(', ')}`,
      )
      .join('   ')}`,
  )
}

const latency: Record<string, Latency> = {}
if (loaded)
  for (const side of ownSides) {
    progress.step(`latency under load · ${side.label}`)
    latency[side.name] = (await json({ file: process.execPath, args: [script('../native/latency.js'), side.name, quick ? '1' : '4'] })) as Latency
    progress.end()
    const { probe, loop } = latency[side.name]!
    console.log(`latency under load, ${side.name}: probe p99 ${probe.p99.toFixed(2)} ms, loop delay p99 ${loop.p99.toFixed(2)} ms`)
  }

const all = [ours, floor, oursEnlarged, floorEnlarged, ...newerNode.sides, ...peerSides]
const report: Report = {
  command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
  date: new Date().toISOString().slice(0, 10),
  machine: machine(),
  rounds: pace.rounds,
  versions: Object.fromEntries([ours, ...peers].map((s) => [s.name, s.version()])),
  labels: Object.fromEntries(all.map((s) => [s.name, s.label])),
  absent,
  benchmarks,
  growth,
  latency,
}

const full = !quick && only === undefined && wanted === undefined
const folder = fileURLToPath(new URL(full ? '../../report/' : '../../report/partial/', import.meta.url))
if (!full) rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [file, svg] of Object.entries(plots(report))) writeFileSync(folder + file, svg)
writeFileSync(
  `${folder}report.json`,
  JSON.stringify(report, (key, value: unknown) => (key === 'samples' ? (value as number[]).map((v) => Math.round(v)) : value), 1),
)
writeFileSync(`${folder}report.md`, markdown(report))
const judged = verdicts(report)
for (const v of judged)
  if (v.kept === false)
    console.log(`missed: ${v.benchmark} against ${report.labels[v.against] ?? v.against}: ${times(v.ratio)}, wanted ${times(v.least!)}`)
console.log(`\nreport: ${full ? 'bench/report/report.md' : 'bench/report/partial/report.md'}`)
process.exit(0)
