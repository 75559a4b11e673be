// `npm run sim:mutants`: does the simulator notice? Mutants of core's source by operator, and classic bugs by hand, each
// simulated until a promise breaks. Prints what survived; ends with a failure if a classic does, or more than 15 % of the rest.
//
//   npm run sim:mutants -- [--count 90] [--seeds 6000] [--start 1] [--limit 90] [--only classics|operators|border|persistence|cluster] [--json file] [--name text] [--again file] [--in text] [--salt word]

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { anyText, commandLine, misuse, oneOf, whole } from '@troupe/testkit/internal'
import { border } from './border.mjs'
import { classics } from './classics.mjs'
import { cluster } from './cluster.mjs'
import { equivalentKinds, equivalents } from './equivalents.mjs'
import { mutantsOf } from './operators.mjs'
import { persistence } from './persistence.mjs'
import { Workshop } from './workshop.mjs'

const command = {
  name: 'npm run sim:mutants',
  about:
    "Does the simulator notice? Bugs planted in a copy of core, each simulated until a promise breaks. Ends with 1 if a classic survives, or more than 15 % of the operators'.",
  options: {
    count: whole('how many mutants by operator', 90, { from: 0 }),
    seeds: whole('how many seeds each is simulated with at most', 6000),
    start: whole('the first of them: the same each time, so that two proofs can be compared', 1, {}),
    limit: whole('seconds that each is simulated for at most', 90),
    only: oneOf(
      'kind',
      ['classics', 'operators', 'border', 'persistence', 'cluster'],
      'just these; border: bugs of the border between threads; persistence: of the gate and its journal; cluster: of nodes (default: classics and operators)',
      undefined,
    ),
    name: anyText('text', 'just the classics with this in their name (default: all)', undefined),
    in: anyText('text', 'just mutants by operator of files with this in their path (default: all)', ''),
    // Another word gives another sample: how well the checks do on mutants that nobody looked at.
    salt: anyText('word', 'another word, another sample of mutants by operator (default: none)', ''),
    again: anyText('file', 'just those that survived in this file, written by --json (default: none)', undefined),
    json: anyText('file', 'where the results are written as JSON (default: nowhere)', undefined),
  },
}
const { count, seeds, start, limit, only, name: named, in: within, salt, again, json } = commandLine(command)
/** Bugs by hand: of the core, of the border, of persistence, or of a cluster. */
const planted = { border, persistence, cluster }[only] ?? classics
if (named !== undefined && !planted.some((c) => c.name.includes(named)))
  misuse(command, `--name knows no classic with '${named}' in its name; there are: ${planted.map((c) => c.name).join(', ')}`)
// Said now and not when hours of work are to be written.
if (json !== undefined && (!existsSync(dirname(resolve(json))) || statSync(json, { throwIfNoEntry: false })?.isDirectory() === true))
  misuse(command, `--json cannot write '${json}': it is a folder, or in a folder that does not exist`)
const survivors = again === undefined ? [] : survivorsIn(again)

function survivorsIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).results.filter((r) => r.kind === 'operator' && r.outcome.how === 'survived')
  } catch (cause) {
    return misuse(command, `--again takes a file that --json has written, and cannot read '${file}': ${cause.message}`)
  }
}

/** What is mutated: cell, phase, mailbox, timers, supervision, watch, ask; channels, task groups, subscriptions, supervisors. */
const files = [
  'cell/turn/cell.ts',
  'cell/life/phase-change.ts',
  'cell/life/pending.ts',
  'cell/life/starting.ts',
  'cell/life/stopping.ts',
  'cell/life/restarting.ts',
  'cell/life/ending.ts',
  'cell/life/ending-children.ts',
  'cell/life/step-timer.ts',
  'cell/life/failing.ts',
  'cell/life/outcome.ts',
  'cell/life/incarnation.ts',
  'cell/life/run-commands.ts',
  'cell/ref/watch.ts',
  'cell/ask/ask.ts',
  'cell/context/timers.ts',
  'cell/context/stash.ts',
  'cell/life/draining.ts',
  'cell/turn/children.ts',
  'cell/ref/adapter.ts',
  'cell/turn/guarded-turn.ts',
  'cell/life/group-restart.ts',
  'queues/ring.ts',
  'queues/priority-heap.ts',
  'queues/governed-mailbox.ts',
  'queues/timers.ts',
  'deciders/supervision.ts',
  'patterns/channel.ts',
  'patterns/wait-list.ts',
  'patterns/select.ts',
  'patterns/task-group.ts',
  'patterns/supervisor/answering.ts',
  'patterns/supervisor/controlling.ts',
  'patterns/supervisor/decide.ts',
  'patterns/supervisor/engine.ts',
  'patterns/supervisor/operations.ts',
  'patterns/supervisor/roster.ts',
  'patterns/supervisor/tree.ts',
  'system/event-stream.ts',
]

/** Those of them that are asked for. */
function filesWithin() {
  const some = files.filter((file) => file.includes(within))
  return some.length > 0 ? some : misuse(command, `--in knows no file with '${within}' in its path; there are: ${files.join(', ')}`)
}
filesWithin()

/** Another package than core. */
const elsewhere = ['border', 'persistence', 'cluster'].includes(only) ? only : undefined
const workshop = new Workshop({ of: elsewhere })
for (const { file, before } of elsewhere === undefined ? equivalents : [])
  if (!workshop.source(file).includes(before)) throw new Error(`An equivalent mutant does not fit ${file} any more: ${JSON.stringify(before)}`)
const results = []
/** Bugs by hand that do not fit the sources any more. */
const broken = []
process.on('exit', () => workshop.close())
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

const passing = new Set()
function mustPass(test) {
  if (passing.has(test.name)) return
  const without = workshop.test(test)
  if (without !== 'passes') throw new Error(`The test "${test.name}" of ${test.file} ${without} on the sources as they are.`)
  passing.add(test.name)
}

/** By its named test, where it has one; otherwise by the simulator, in the scenario that is made for it where that is known. */
function outcomeOf({ test, scenario }) {
  if (test === undefined) return workshop.simulate(seeds, start, limit * 1000, scenario)
  return workshop.test(test) === 'passes' ? { how: 'survived' } : { how: 'test', text: test.name }
}

async function judge(mutant) {
  if (mutant.test !== undefined) mustPass(mutant.test)
  const compiled = workshop.mutate(mutant.file, mutant.text)
  const outcome = compiled ? await outcomeOf(mutant) : { how: 'does not compile' }
  workshop.restore(mutant.file)
  if (!compiled) return false
  const { text: _text, ...rest } = mutant
  const equivalent =
    equivalents.find((e) => e.file === mutant.file && e.before === mutant.before && e.after === mutant.after) ??
    equivalentKinds.find((k) => k.is(mutant))
  const result = { ...rest, outcome, equivalent: equivalent?.why }
  results.push(result)
  const sign = outcome.how === 'survived' ? (equivalent === undefined ? 'SURVIVED' : 'equivalent') : 'caught'
  const detail =
    outcome.how === 'violation'
      ? `${outcome.invariant} in "${outcome.scenario}" after ${outcome.runs} seeds, ${outcome.steps} steps`
      : outcome.how === 'crash'
        ? `crash: ${outcome.text}`
        : outcome.how === 'test'
          ? `by the test "${outcome.text}"`
          : outcome.how
  console.log(
    `${sign.padEnd(10)} ${mutant.name ?? `${mutant.file}:${mutant.line} ${mutant.operator}: ${mutant.before}  →  ${mutant.after || '(nothing)'}`}\n           ${detail}`,
  )
  return true
}

if (again !== undefined) {
  // Only those that survived an earlier run, to see whether a new check or scenario notices them.
  for (const { file, operator, before: was, after } of survivors) {
    const mutant = mutantsOf(workshop.source(file)).find((m) => m.operator === operator && m.before === was && m.after === after)
    if (mutant !== undefined) await judge({ kind: 'operator', file, ...mutant })
  }
}
if (only !== 'operators' && again === undefined) {
  for (const { name, ...patch } of planted) {
    if (named !== undefined && !name.includes(named)) continue
    const { file, edits, test, scenario } = patch
    let text = workshop.source(file)
    for (const [find, replace] of edits) {
      if (text.split(find).length !== 2)
        throw new Error(`The classic "${name}" does not fit ${file} any more: ${JSON.stringify(find)} occurs ${text.split(find).length - 1} times.`)
      text = text.replace(find, () => replace)
    }
    if (await judge({ kind: 'classic', name, file, before: name, after: '', text, test, scenario })) continue
    // Hours of work are not lost by it, and it is not passed over either.
    broken.push(name)
    console.log(`BROKEN     ${name}\n           does not compile any more`)
  }
}
if (only !== 'classics' && elsewhere === undefined && again === undefined) {
  // Evenly over the files, and the same ones each time.
  const pools = filesWithin().map((file) =>
    shuffled(
      mutantsOf(workshop.source(file)).map((m) => Object.assign(m, { kind: 'operator', file })),
      file + salt,
    ),
  )
  let made = 0
  for (let round = 0; made < count && pools.some((p) => p.length > 0); round++) {
    for (const pool of pools) {
      while (pool.length > 0 && made < count) {
        if (!(await judge(pool.pop()))) continue
        made++
        break
      }
    }
  }
}

summarize()

function summarize() {
  const of = (kind) => results.filter((r) => r.kind === kind)
  const line = (kind) => {
    const all = of(kind)
    const real = all.filter((r) => !(r.outcome.how === 'survived' && r.equivalent !== undefined))
    const caught = real.filter((r) => r.outcome.how !== 'survived')
    const by = caught.filter((r) => r.outcome.how === 'violation')
    return {
      all: all.length,
      equivalent: all.length - real.length,
      caught: caught.length,
      of: real.length,
      share: real.length === 0 ? 1 : caught.length / real.length,
      medianSeeds: median(by.map((r) => r.outcome.runs)),
      medianSteps: median(by.map((r) => r.outcome.steps)),
      within20: by.filter((r) => r.outcome.steps <= 20).length,
      violations: by.length,
    }
  }
  const summary = { seeds, classics: line('classic'), operators: line('operator') }
  for (const [kind, s] of Object.entries({ classics: summary.classics, operators: summary.operators }))
    if (s.all > 0)
      console.log(
        `${kind}: ${s.caught} of ${s.of} caught (${(100 * s.share).toFixed(0)} %), ${s.equivalent} more are equivalent; median ${s.medianSeeds} seeds; shrunk to a median of ${s.medianSteps} steps, ${s.within20} of ${s.violations} to at most 20`,
      )
  if (json !== undefined) writeFileSync(json, JSON.stringify({ summary, results }, undefined, 1))
  if (broken.length > 0) console.log(`${broken.length} planted bugs do not compile any more: ${broken.join(', ')}`)
  process.exitCode = broken.length > 0 || summary.classics.share < 1 || summary.operators.share < 0.85 ? 1 : 0
}

function median(numbers) {
  const sorted = numbers.toSorted === undefined ? [...numbers].sort((a, b) => a - b) : numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

function shuffled(list, word) {
  let state = [...word].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 0x01000193), 0x811c9dc5)
  for (let i = list.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    const j = (state >>> 1) % (i + 1)
    ;[list[i], list[j]] = [list[j], list[i]]
  }
  return list
}
