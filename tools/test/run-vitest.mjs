// Runs Vitest in a process of its own and returns what came of it. A test that prints something is reported: a passing run is silent, except
// for lines that begin with SKIPPED and say which tests cannot run here.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const reporter = join(root, 'tools/test/reporter.mjs')
/** Separates, on both streams, what tests printed from Vitest's report of the errors. */
export const reportMarker = '\u001EERRORS\u001E'

/** The file behind a command of an installed package, so that no shell and no npx stands between. */
export function commandOf(name, command) {
  const folder = join(root, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[command])
}

/**
 * @typedef {{ file: string, test: string, message: string }} Failure
 * @typedef {{ source: string, text: string }} Output
 * @typedef {{ ok: boolean, passed: number, failed: number, skipped: number, failures: Failure[], files: { file: string, ms: number }[], skippedLines: string[], output: Output[], report: string }} VitestResult
 */

/**
 * Runs the tests that `args` select, as arguments of `vitest run`. `prefix` is a command that starts the process, such as taskset.
 * Resolves to the counts, the failures, the time of each file, the lines about what was skipped, what was printed although nothing should
 * be, and Vitest's own report of the errors. `onProgress` is called with the number of files that ended, of all, and of those that failed.
 */
export async function runVitest(args, { prefix = [], timeoutMs, onProgress = () => {} }) {
  const [program, ...first] = [...prefix, process.execPath]
  const child = spawn(program, [...first, commandOf('vitest', 'vitest'), 'run', `--reporter=${reporter}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    timeout: timeoutMs,
  })
  /** @type {VitestResult} */
  const result = { ok: false, passed: 0, failed: 0, skipped: 0, failures: [], files: [], skippedLines: [], output: [], report: '' }
  let all = 0
  let failedFiles = 0
  let finished = false
  child.on('message', (message) => {
    if (message.type === 'started') all = message.files
    else if (message.type === 'output') result.output.push(message)
    else if (message.type === 'finished') {
      finished = true
      result.passed = message.passed
      result.failed = message.failed
      result.skipped = message.skipped
      result.failures = message.failures
    } else {
      result.files.push({ file: message.file, ms: message.ms })
      if (!message.ok) failedFiles++
    }
    onProgress(result.files.length, all, failedFiles)
  })
  const printed = [collect(child.stdout), collect(child.stderr)]
  const { status, signal } = await new Promise((settle) => {
    child.once('error', (cause) => settle({ status: String(cause), signal: null }))
    child.once('close', (code, by) => settle({ status: code, signal: by }))
  })
  for (const stream of printed) {
    const [before, ...after] = stream.text().split(reportMarker)
    result.output.push({ source: 'a test process', text: before })
    result.report += after.join('')
  }
  if (!process.stdout.isTTY) result.report = stripVTControlCharacters(result.report)
  result.output = withoutSkipped(result.output, result.skippedLines)
  if (signal !== null) result.failures.push(failureOf(`Vitest was ended by ${signal}${signal === 'SIGTERM' ? ` after ${timeoutMs / 1000} s` : ''}`))
  else if (!finished) result.failures.push(failureOf(`Vitest ended with ${status} before it reported`))
  else if (status !== 0 && result.failures.length === 0) result.failures.push(failureOf(`Vitest ended with ${status}`))
  result.ok = result.failures.length === 0
  return result
}

const failureOf = (message) => ({ file: '', test: '', message })

function collect(stream) {
  const parts = []
  stream.setEncoding('utf8').on('data', (text) => parts.push(text))
  return { text: () => parts.join('') }
}

/** Moves lines that begin with SKIPPED to `skippedLines`, each once; returns the output that has anything else. */
function withoutSkipped(output, skippedLines) {
  const rest = []
  for (const { source, text } of output) {
    const lines = stripVTControlCharacters(text).split('\n')
    for (const line of lines) if (line.startsWith('SKIPPED') && !skippedLines.includes(line)) skippedLines.push(line)
    const others = lines.filter((line) => !line.startsWith('SKIPPED')).join('\n')
    if (others.trim() !== '') rest.push({ source, text: others.trim() })
  }
  return rest
}
