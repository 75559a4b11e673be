// The whole check, in the order in which a newcomer wants to hear of problems: each step's name and time, the output of
// what failed and how to run it alone, and one last line "N passed, N failed". Passed are tests; a step that fails for
// another reason than a failing test counts as one failure. What needs no tests is checked one after the other while they run: tests wait for
// others now and then, and a core has nothing to do.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNats } from './engines/nats.mjs'
import { findPostgres } from './engines/postgres.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const scratch = mkdtempSync(join(tmpdir(), 'troupe-test-'))
const report = join(scratch, 'vitest.json')
const longest = 600_000

/** A step runs a package's own command, or a file of ours, with this Node, so that no shell and no npx stands between. */
const step = (name, pkg, args, alone, more = {}) => ({ name, pkg, args, alone, ...more })
const build = step('build and types', 'tools/build.mjs', [], 'npm run build')
const checks = [
  step('lint', 'oxlint:oxlint', ['--deny-warnings'], 'npm run lint'),
  step('format', 'oxfmt:oxfmt', ['--check', '.'], 'npm run format, then look at git diff'),
  step('unused', 'knip:knip', ['--no-config-hints', '--no-progress'], 'npx knip'),
  step('packages', 'tools/published.mjs', [], 'node tools/published.mjs', { needsBuild: true }),
  step('size', 'size-limit:size-limit', [], 'npm run size', { needsBuild: true, shows: /\d\S* kB with.*/ }),
]
const tests = step(
  'tests',
  'vitest:vitest',
  ['run', '--project', 'together', '--project', 'alone', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  'npm run test:unit',
  {
    live: true,
  },
)

function commandOf(pkg) {
  if (pkg.endsWith('.mjs')) return join(root, pkg)
  const [name, command] = pkg.split(':')
  const folder = join(root, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[command])
}

async function run({ pkg, args, live }) {
  let command
  try {
    command = commandOf(pkg)
  } catch {
    return { ok: false, output: `${pkg.split(':')[0]} is not installed. Run npm install first.` }
  }
  const child = spawn(process.execPath, [command, ...args], { cwd: root, stdio: live ? 'inherit' : 'pipe', timeout: longest })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => output.push(text))
  const { status, signal, cause } = await new Promise((end) => {
    child.once('error', (error) => end({ status: 1, signal: null, cause: error }))
    child.once('close', (code, by) => end({ status: code, signal: by }))
  })
  if (cause !== undefined) output.push(String(cause))
  if (signal !== null) output.push(`\nended by ${signal}${signal === 'SIGTERM' ? ` after ${longest / 1000} s` : ''}`)
  return { ok: status === 0, output: output.join('').trim() }
}

/** What the test run counted, and what it found, in words; undefined when it never got to counting. */
function counted() {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    const found = []
    for (const { name, message, assertionResults } of testResults) {
      const file = relative(root, name)
      if (message !== '') found.push(`${file}: ${message}`)
      for (const t of assertionResults) if (t.status === 'failed') found.push(`${file}: ${t.fullName}`)
      // Skipped ones have another name; these were never reached, because the process that ran the file is gone.
      const unreached = assertionResults.filter((t) => t.status === 'pending')
      if (unreached.length > 0)
        found.push(`${file}: its process died in or before "${unreached[0].fullName}"; ${unreached.length} tests did not finish`)
    }
    return { passed: Number(numPassedTests), failed: Number(numFailedTests), found }
  } catch {
    return undefined
  }
}

const broken = []
const findings = []
const summary = []
let passed = 0
let failed = 0
await take(build)
const built = broken.length === 0
const possible = checks.filter(({ needsBuild }) => built || needsBuild !== true)
for (const { name } of checks) if (!possible.some((check) => check.name === name)) summary.push(`  skipped  ${name.padEnd(18)}it needs ${build.name}`)
const checking = async () => {
  for (const check of possible) await take(check)
}
await Promise.all([checking(), take(tests)])

async function take(s) {
  console.log(`▸ ${s.name}`)
  const since = performance.now()
  const { ok, output } = await run(s)
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  const ran = s.live ? counted() : undefined
  passed += ran?.passed ?? 0
  if (!ok) {
    broken.push(s)
    failed += Math.max(1, ran?.failed ?? 0)
    if (output !== '') console.log(`${output}\n`)
    findings.push(...(ran?.found ?? []))
  }
  const shown = s.shows?.exec(output)?.[0]
  summary.push(`  ${ok ? 'ok     ' : 'FAILED '}  ${s.name.padEnd(18)}${seconds.padStart(6)} s${shown === undefined ? '' : `   ${shown}`}`)
}
rmSync(scratch, { recursive: true, force: true })
if (passed === 0 && failed === 0) {
  failed = 1
  console.log('\nNo test ran at all.')
}
console.log(`\n${summary.join('\n')}`)
// Said again at the end, where it is read: what was not tried is not known to work.
for (const [name, find] of Object.entries({ postgres: findPostgres, nats: findNats }))
  if (find() === undefined) console.log(`  SKIPPED  tests with a real ${name}: none was found. npm run engines -- --only ${name} fetches one.`)
for (const finding of findings) console.log(`  ${finding}`)
for (const s of broken) console.log(`\n${s.name} failed; alone: ${s.alone}`)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
