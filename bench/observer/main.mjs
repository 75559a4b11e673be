// What it costs to be looked at: a system without an observer, with one that nobody looks through, and one that somebody does, saturated;
// and a hundred thousand busy actors with a page open. Windows of one process take turns, and what differs between those in which nobody looks is noise.

import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { commandLine, someOf, whole } from '@troupe/testkit/internal'

const { rounds, actors, only } = commandLine({
  name: 'npm run bench:observer',
  about: 'Nanoseconds for each message without an observer, with one that nobody looks through, and while somebody does.',
  options: {
    rounds: whole('windows of each', 24),
    actors: whole('actors of the crowd', 100_000),
    only: someOf('workloads', ['ping-pong', 'big', 'crowd', 'scroll'], 'which', 'all'),
  },
})

const one = fileURLToPath(new URL('one.mjs', import.meta.url))
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1]

/** At most so many percent while nobody looks, so many nanoseconds while somebody does. */
const budgets = { 'ping-pong': 8, big: 16 }
const unarmed = 2

let missed = 0
let undecided = 0
/** Whether a bound holds, in a word. Where what differs between two alike, or the error of what was measured, is more than the bound, nobody knows. */
function verdict(value, noise, bound, unit) {
  if (noise > bound) {
    undecided++
    return 'noise'
  }
  if (value <= bound) return `≤ ${bound} ${unit}`
  missed++
  return 'missed'
}

/** The mean of all but the eighth on either side, and twice its error. */
function steady(all) {
  const eighth = all.length >> 3
  const kept = all.toSorted((a, b) => a - b).slice(eighth, all.length - eighth)
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length
  const spread = Math.sqrt(kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / kept.length)
  return { mean, error: (2 * spread) / Math.sqrt(kept.length) }
}

/**
 * What windows differ by from those right before them and from those right after them in which nobody looks. Each of these alone, for a window that something else disturbed
 * must be as likely to stand on either side; beside the mean of two, what is cut off would be more of one.
 */
function beside(windows, differ) {
  const [before, after] = ['before', 'after'].map((side) => steady(windows.map((window) => differ(window, window[side]))))
  return { mean: (before.mean + after.mean) / 2, error: (before.error + after.error) / 2 }
}
/** By how many percent; above 0 where it is more. */
const percentOf = (value, other) => Math.log(value / other) * 100
const signed = ({ mean, error }) => `${mean < 0 ? '−' : '+'}${Math.abs(mean).toFixed(1)} ± ${error.toFixed(1)}`

/** What each window differs by from those without an observer beside it; one more of those is the noise. */
function messages(workload) {
  const found = JSON.parse(execFileSync(process.execPath, [one, workload, String(rounds)], { encoding: 'utf8' }))
  const base = median(found.again.map(({ before }) => before))
  const percent = (way) => beside(found[way], ({ ns }, nobody) => percentOf(ns, nobody))
  const [again, attached] = [percent('again'), percent('attached')]
  const armed = beside(found.armed, ({ ns }, nobody) => ns - nobody)
  return [
    `${base.toFixed(1)} ns`,
    `${signed(again)} %`,
    `${signed(attached)} %`,
    verdict(attached.mean, Math.max(attached.error, Math.abs(again.mean) + again.error), unarmed, '%'),
    `${signed(armed)} ns`,
    verdict(armed.mean, armed.error, budgets[workload], 'ns'),
  ]
}

process.stdout.write(`load before: ${loadavg()[0].toFixed(2)}\n`)
const row = (cells) => process.stdout.write(`${cells.map((t, i) => (i === 0 ? t.padEnd(12) : t.padStart(16))).join('')}\n`)
const workloads = Object.keys(budgets).filter((workload) => only?.includes(workload) !== false)
if (workloads.length > 0) row(['', 'nobody', 'again', 'attached', '', 'armed', ''])
for (const workload of workloads) row([workload, ...messages(workload)])

/** With a page open: so many percent of the messages a second at most, and kilobytes a second of the feed. */
const crowdBudget = { percent: 5, kilobytes: 200 }

/**
 * Windows of each way take turns; what a way costs is told beside the windows right before and after it in which nobody looks, by the clock or by time of the processor,
 * whichever makes less of no difference. In parts: what turns and samples cost, in Flow, from short windows; and what looks took.
 */
function crowd() {
  const ways = ['overview', 'actors', 'flow']
  const script = fileURLToPath(new URL('crowd.mjs', import.meta.url))
  const given = [script, String(actors), String(Math.ceil(rounds / 2)), '5', ways.join(',')]
  const found = JSON.parse(execFileSync(process.execPath, given, { encoding: 'utf8', maxBuffer: 2 ** 24 }))
  const costsBy = (by, way) => beside(found[way], (seen, nobody) => percentOf(nobody[by], seen[by]))
  const by = costsBy('clock', 'again').error <= costsBy('cpu', 'again').error ? 'clock' : 'cpu'
  const again = costsBy(by, 'again')
  const line = (cells) => process.stdout.write(`${cells.map((t, i) => (i === 0 ? t.padEnd(14) : t.padStart(16))).join('')}\n`)
  line([`${actors} busy`, 'messages/s', 'costs', '', 'feed', '', 'rounds/s'])
  line(['nobody', `${(median(found.again.map(({ before }) => before.clock)) / 1e6).toFixed(2)} M`, `${signed(again)} %`, `by ${by}`])
  for (const way of ways) {
    const costs = costsBy(by, way)
    const kilobytes = median(found[way].map(({ bytes }) => bytes)) / 1024
    line([
      way,
      `${(median(found[way].map(({ clock }) => clock)) / 1e6).toFixed(2)} M`,
      `${signed(costs)} %`,
      verdict(costs.mean, costs.error, crowdBudget.percent, '%'),
      `${kilobytes.toFixed(1)} KB/s`,
      verdict(kilobytes, 0, crowdBudget.kilobytes, 'KB/s'),
      median(found[way].map(({ rounds: n }) => n)).toFixed(1),
    ])
  }
  const turns = beside(found.parts.turns, ({ on }, off) => percentOf(off, on))
  const { looks } = found.parts
  line([
    'flow in parts',
    `turns ${signed(turns)} %`,
    `looks ${looks.toFixed(1)} %`,
    verdict(turns.mean + looks, turns.error, crowdBudget.percent, '%'),
  ])
}

if (only?.includes('crowd') !== false) crowd()

/** Frames a second that the page makes of so many, at least; a browser on a busy machine makes fewer. */
const smooth = 50

function scroll() {
  const script = fileURLToPath(new URL('scroll.mjs', import.meta.url))
  const found = JSON.parse(execFileSync(process.execPath, [script, String(actors), '4'], { encoding: 'utf8' }))
  if (found === null) return void process.stdout.write('scroll: no Chromium here, or name one with TROUPE_CHROMIUM\n')
  const said = ({ fps, longest }) => {
    if (fps < smooth) missed++
    return `${fps.toFixed(0)} frames/s (${fps < smooth ? 'missed' : `≥ ${smooth}`}), the longest ${longest.toFixed(0)} ms`
  }
  process.stdout.write(`${actors} actors in a browser: overview ${said(found.overview)}; list scrolled ${said(found.list)}\n`)
}
if (only?.includes('scroll') !== false) scroll()
process.stdout.write(`load after: ${loadavg()[0].toFixed(2)}\n`)
if (undecided > 0) process.stdout.write(`${undecided} without a verdict: the noise is larger than the bound; run it again on a quieter machine\n`)
process.exitCode = missed + undecided === 0 ? 0 : 1
