// Files of tests on Node, Bun and Deno: one process each, a few at a time. A process that is silent for too long is ended.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './suites.mjs'
import { Tally } from './tally.mjs'

/** Longer than any test takes on a busy machine: the longest may run for a minute, and a few minutes go by where several do. */
const patience = 240_000

/** Runs one file; `mode` 'gather' counts its tests and runs none. */
async function runOne(command, { main, bundle, file, known, lines, mode }) {
  const [program, ...args] = command
  const child = spawn(program, [...args, main, bundle, file, lines, JSON.stringify(known), mode ?? 'run'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let last = ''
  const hear = (chunk) => void (last = `${last}${chunk}`.slice(-2000))
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const how = await new Promise((resolve) => {
    let size = -1
    let silent = 0
    const watch = setInterval(() => {
      const now = read(lines).length
      silent = now === size ? silent + 5000 : 0
      size = now
      if (silent >= patience) child.kill('SIGKILL')
    }, 5000)
    child.on('error', (cause) => {
      clearInterval(watch)
      resolve(`could not start: ${cause.message}`)
    })
    // Not 'close': what a test leaves running may hold the pipes for long.
    child.on('exit', (code, signal) => {
      clearInterval(watch)
      const said = silent >= patience ? `ended after ${patience / 1000} s of silence` : `ended with ${signal ?? `code ${code}`}`
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(code === 0 ? said : `${said}: ${last.trim().split('\n').slice(-6).join('\n')}`)
    })
  })
  const tally = new Tally()
  for (const line of read(lines).split('\n')) if (line !== '') tally.hear(JSON.parse(line))
  return { tally, how }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Runs files on a runtime.
 * @param command the runtime and its arguments
 * @param bundled what `bundle` gave
 * @param knownOf the known differences of a file on this runtime
 * @param heard called with each file and its tally, as they end
 */
export async function runFiles(command, files, bundled, knownOf, heard) {
  const scratch = mkdtempSync(join(tmpdir(), 'troupe-runtimes-'))
  const waiting = [...files]
  let n = 0
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const job = { main: bundled.main, bundle: bundled.files.get(file), file, known: knownOf(file) }
      const { tally, how } = await runOne(command, { ...job, lines: join(scratch, `${n++}`) })
      tally.close(how, tally.tests > 0 ? undefined : await gathered(job, join(scratch, `${n++}`)))
      heard(file, tally)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), files.length) }, work))
  rmSync(scratch, { recursive: true, force: true })
}

/** How many tests a file has, as this Node gathers them. */
async function gathered(job, lines) {
  const { tally, how } = await runOne([process.execPath], { ...job, known: [], lines, mode: 'gather' })
  if (tally.tests === undefined) throw new Error(`The tests of ${job.file} cannot be gathered on this Node: ${how}`)
  return tally.tests
}

export { gathered as gatheredHere }
