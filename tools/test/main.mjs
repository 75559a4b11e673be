// `npm test`: build, checks, tests. Shows each step and how far the tests are, the output of what failed and the command that repeats it
// alone, the slowest files, and one last line "N passed, N failed". Passed are tests; a step that fails for another reason than a failing
// test counts as one failure. Checks run beside the tests, one after the other, because tests wait at times and leave a core idle.
//   npm test                              everything
//   npm test -- packages/core examples    build, and the tests whose path contains one of these

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Progress } from './progress.mjs'
import { failureLines } from './results.mjs'
import { commandOf, root, runVitest } from './run-vitest.mjs'

const timeoutMs = 1_200_000
const slowestShown = 5
/** The others have commands of their own: test:ports, test:packed. */
const projects = ['--project', 'together', '--project', 'alone']
const usage = 'Usage: npm test, or npm test -- <path>… for the build and the tests whose path contains one of these'

const build = { name: 'build and types', file: ['tools/build.mjs'], alone: 'npm run build' }
const checks = [
  { name: 'lint', package: ['oxlint', 'oxlint', '--deny-warnings'], alone: 'npm run lint' },
  { name: 'format', package: ['oxfmt', 'oxfmt', '--check', '.'], alone: 'npm run format, then look at git diff' },
  { name: 'unused', package: ['knip', 'knip', '--no-config-hints', '--no-progress'], alone: 'npx knip' },
  { name: 'size', package: ['size-limit', 'size-limit'], alone: 'npm run size', needsBuild: true, shows: /\d\S* kB with.*/ },
]

const paths = readArguments()
const progress = new Progress(process.stdout)
const summary = []
const repeatAlone = []
const failures = []
let passed = 0
let failed = 0
let slowest = []
let skippedLines = []

const built = await check(build)
if (paths.length === 0) await Promise.all([checkAll(), test(projects)])
else await test([...projects, ...paths])
progress.end()
if (passed === 0 && failed === 0) {
  failed = 1
  console.log('\nNo test ran.')
}
console.log(`\n${summary.join('\n')}`)
if (slowest.length > 0) console.log(`\n  slowest files\n${slowest.join('\n')}`)
for (const line of skippedLines) console.log(`  ${line}`)
if (failures.length > 0) console.log(`\n${failures.join('\n')}`)
for (const line of repeatAlone) console.log(`\n${line}`)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function readArguments() {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean', short: 'h' } } })
    if (!values.help) return positionals
    console.log(usage)
    process.exit(0)
  } catch (cause) {
    console.error(`${cause.message.split('. ')[0]}. ${usage}`)
    process.exit(2)
  }
}

async function checkAll() {
  for (const step of checks)
    if (built || !step.needsBuild) await check(step)
    else summary.push(`  skipped  ${step.name.padEnd(18)}it needs ${build.name}`)
}

/** Runs one step that is not the tests; false if it failed. */
async function check(step) {
  progress.begin(step.name)
  const since = performance.now()
  const { ok, output } = await run(step)
  if (!ok) {
    failed++
    progress.print(output)
    repeatAlone.push(`${step.name} failed; alone: ${step.alone}`)
  }
  finish(step.name, ok, since, ok ? step.shows?.exec(output)?.[0] : undefined)
  return ok
}

async function run({ file, package: named, name }) {
  let command
  try {
    command = file === undefined ? [commandOf(named[0], named[1]), ...named.slice(2)] : [join(root, file[0]), ...file.slice(1)]
  } catch {
    return { ok: false, output: `${named[0]} is not installed. Run npm install first.` }
  }
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => output.push(text))
  const { status, signal } = await new Promise((settle) => {
    child.once('error', (cause) => settle({ status: String(cause), signal: null }))
    child.once('close', (code, by) => settle({ status: code, signal: by }))
  })
  if (status !== 0) output.push(`\n${name} ended ${signal === null ? `with ${status}` : `by ${signal}`}`)
  return { ok: status === 0, output: output.join('').trim() }
}

async function test(args) {
  progress.begin('tests')
  const since = performance.now()
  const result = await runVitest(args, { timeoutMs, onProgress: (done, all, failedFiles) => progress.files(done, all, failedFiles) })
  passed = result.passed
  // A file that cannot be loaded has no failing test, and output fails a run in which every test passed.
  failed += Math.max(result.failed, result.failures.length > 0 ? 1 : 0)
  failures.push(...failureLines(result.failures))
  for (const { source, text } of result.output) progress.print(`printed by ${source}:\n${text}\n`)
  const silent = result.output.length === 0
  if (result.ok && !silent) {
    failed++
    failures.push('  A test printed something. Capture what it expects to be logged and assert it; silence the rest.')
  }
  if (result.report !== '') progress.print(result.report)
  const ok = result.ok && silent
  if (!ok) repeatAlone.push('tests failed; alone: npx vitest run <file>, and again and again: npm run test:repeat -- --only <file>')
  finish('tests', ok, since, `${result.files.length} files, ${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped`)
  slowest = result.files
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, slowestShown)
    .map(({ file, ms }) => `  ${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)
  skippedLines = result.skippedLines
}

function finish(name, ok, since, shown) {
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  const line = `  ${ok ? 'ok     ' : 'FAILED '}  ${name.padEnd(18)}${seconds.padStart(6)} s${shown === undefined ? '' : `   ${shown}`}`
  summary.push(line)
  progress.finish(name, line)
}
