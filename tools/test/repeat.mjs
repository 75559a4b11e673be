// `npm run test:repeat`: the tests again and again beside busy processes, to find those that fail now and then. Each run appends a line of
// JSON to a result file, so that several invocations add up; the end is a table of every test that failed at least once in that file.

import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { anyText, commandLine, flag, misuse, whole } from '@troupe/testkit/internal'
import { failureLines, summaryOf } from './results.mjs'
import { realTimeFiles } from './real-time.mjs'
import { root, runVitest } from './run-vitest.mjs'

const name = 'npm run test:repeat'
const given = commandLine({
  name,
  about:
    'The tests again and again beside busy processes, to find those that fail now and then. Appends a line for each run to a result file and ends with every test that failed in any run of that file. Ends with 1 where a test failed in this invocation.',
  options: {
    runs: whole('runs of the suite, or of each file with --alone', 10),
    load: whole('busy processes beside it', 0, { from: 0, to: 64 }),
    cores: { ...whole('number of cores that the tests and the busy processes are pinned to; needs taskset', undefined), shown: 'all' },
    only: { ...anyText('path,…', 'files whose path contains one of these', ''), shown: 'all' },
    list: { ...anyText('file', 'a file with one path on each line, as --only', ''), shown: 'none' },
    timers: flag('the files that depend on real time: those with processes, threads, browsers, timers of the host or systems on its clock'),
    alone: flag('each file in runs of its own'),
    jobs: whole('runs at once', 1, { from: 1, to: 16 }),
    minutes: { ...whole('begins no run after this many minutes', undefined), shown: 'no limit' },
    results: anyText('file', 'where the lines are appended', join(root, 'test-repeat.jsonl')),
  },
})
const prefix = given.cores === undefined ? [] : ['taskset', '-c', given.cores === 1 ? '0' : `0-${given.cores - 1}`]
if (prefix.length > 0 && spawnSync('taskset', ['--version']).status !== 0) misuse({ name }, '--cores needs taskset, which is not on this machine')
if (given.list !== '' && !existsSync(given.list)) misuse({ name }, `cannot read '${given.list}'`)
const listed = given.list === '' ? [] : readFileSync(given.list, 'utf8').split('\n')
const paths = [...given.only.split(','), ...listed, ...(given.timers ? realTimeFiles() : [])].map((path) => path.trim()).filter((path) => path !== '')
if (given.alone && paths.length === 0) misuse({ name }, '--alone needs --only, --list or --timers')
const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim()
const deadline = given.minutes === undefined ? Infinity : performance.now() + given.minutes * 60_000

/** Spins until the process that started it is gone. */
const busy = `process.on('disconnect', () => process.exit(0)); const spin = () => { const until = Date.now() + 50; while (Date.now() < until); setImmediate(spin) }; spin()`
const load = Array.from({ length: given.load }, () => {
  const [program, ...args] = [...prefix, process.execPath, '-e', busy]
  return spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
})

let failedRuns = 0
let done = 0
const queue = runsToDo()
try {
  await Promise.all(Array.from({ length: given.jobs }, work))
} finally {
  for (const child of load) child.kill()
}
console.log(`\n${given.results}: ${summaryOf(readFileSync(given.results, 'utf8'))}`)
console.log(`\nthis invocation: ${done} runs, ${failedRuns} failed`)
process.exitCode = failedRuns === 0 ? 0 : 1

function* runsToDo() {
  for (let run = 1; run <= given.runs; run++) for (const selected of given.alone ? paths.map((path) => [path]) : [paths]) yield [run, selected]
}

async function work() {
  for (const [run, selected] of queue) {
    if (performance.now() >= deadline) return
    done++
    await once(run, selected)
  }
}

async function once(run, selected) {
  const since = performance.now()
  const result = await runVitest(['--project', 'together', '--project', 'alone', ...selected], { prefix, timeoutMs: 3_600_000 })
  const { passed, failures, output } = result
  // Last words of a process that died are printed, and belong to no test.
  const printed = output.map(({ source, text }) => `${source}: ${text}`.slice(0, 4000))
  if (result.ok && output.length > 0)
    failures.push({ file: '', test: '', message: `printed by ${output[0].source}: ${output[0].text}`.slice(0, 2000) })
  const seconds = (performance.now() - since) / 1000
  const { load: busyProcesses, cores } = given
  const node = process.versions.node
  const [loadAverage] = loadavg()
  const about = { time: new Date().toISOString(), commit, node, load: busyProcesses, cores, loadAverage }
  appendFileSync(given.results, `${JSON.stringify({ ...about, selected, seconds, passed, failures, ...(failures.length > 0 && { printed }) })}\n`)
  if (failures.length > 0) failedRuns++
  const what = given.alone ? `${selected[0]}, run ${run}` : `run ${run}`
  console.log(`${what} of ${given.runs}: ${passed} passed, ${failures.length} failed in ${seconds.toFixed(0)} s`)
  for (const line of failureLines(failures)) console.log(line)
}
