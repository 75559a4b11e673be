// `npm run damage:journal`: damages copies of a SQLite journal at random, reads each by every query, and compares the answers with those of the
// undamaged one. What changes an answer must be refused when it is read, or found by verify; no actor may start from a wrong state; nothing may
// hang or end the process. Every damage is a line in the result file, which is appended to.

import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anyText, commandLine, flag, whole } from '@troupe/testkit/internal'
import { damageAt } from './damages.mjs'

const { damages, seed, result, markless } = commandLine({
  name: 'npm run damage:journal',
  about: 'Damages copies of a SQLite journal at random, and compares every query with an undamaged copy.',
  options: {
    damages: whole('how many', 1000),
    seed: whole('what they are made from', 1, {}),
    result: anyText('file', 'where each damage is appended as a line of JSON', 'damage-results.jsonl'),
    markless: flag('removes the mark of the last commit too: shows what cannot be noticed without it'),
  },
})
const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'troupe-damage-'))
/** How many one process reads, and how long it may be silent. */
const [atOnce, silentMs] = [20, 60_000]

let state = seed >>> 0
const random = () => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32

const references = ['closed', 'killed'].map((how) => {
  const folder = join(scratch, how)
  mkdirSync(folder)
  const { status, signal, stderr } = spawnSync(process.execPath, [here('./reference.mjs'), join(folder, 'journal.db'), `--${how}`], {
    encoding: 'utf8',
  })
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(`the reference cannot be made: ${stderr}`)
  if (markless) rmSync(join(folder, 'journal.db-commits'), { force: true })
  // Read from a copy: reading it folds its log.
  const copy = join(scratch, `${how}-read`)
  cpSync(folder, copy, { recursive: true })
  const script = `import { answersOf } from ${JSON.stringify(here('./queries.mjs'))}; process.stdout.write(JSON.stringify(await answersOf(${JSON.stringify(join(copy, 'journal.db'))})))`
  const read = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', maxBuffer: 1e9 })
  const answers = JSON.parse(read.stdout)
  if (answers.verify !== 0 || Object.values(answers).some((answer) => answer?.refused ?? answer?.unexpected))
    throw new Error(`the reference is not whole: ${JSON.stringify(answers.verify)}`)
  return { folder, answers }
})

/** Reads some journals in a process of its own; says what came of each. */
function readAll(paths, reference) {
  return new Promise((resolve) => {
    const task = join(scratch, 'task.json')
    writeFileSync(task, JSON.stringify({ paths, reference }))
    const child = spawn(process.execPath, [here('./reader.mjs'), task], { stdio: ['ignore', 'pipe', 'pipe'] })
    const outcomes = new Map()
    let [rest, present, hung, errors] = ['', undefined, false, '']
    const watch = () =>
      setTimeout(() => {
        hung = true
        child.kill('SIGKILL')
      }, silentMs)
    let timer = watch()
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      clearTimeout(timer)
      timer = watch()
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      for (const line of lines.map((text) => JSON.parse(text))) {
        if (line.begins !== undefined) present = line.begins
        else {
          outcomes.set(line.path, line)
          present = undefined
        }
      }
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (present !== undefined)
        outcomes.set(present, { path: present, outcome: hung ? 'hang' : 'crash', detail: `${code ?? signal} ${errors.slice(-500)}` })
      resolve(outcomes)
    })
  })
}

const counts = {}
const failed = []
try {
  for (let done = 0; done < damages;) {
    const { folder, answers } = references[Math.floor(done / atOnce) % 2]
    let left = Array.from({ length: Math.min(atOnce, damages - done) }, (_, i) => {
      const place = join(scratch, String(done + i))
      cpSync(folder, place, { recursive: true })
      const path = join(place, 'journal.db')
      let how = damageAt(path, random)
      while (how.where === 'there is no such file') how = damageAt(path, random)
      return { n: done + i, place, path, ...how }
    })
    done += left.length
    while (left.length > 0) {
      const outcomes = await readAll(
        left.map(({ path }) => path),
        answers,
      )
      for (const { n, kind, where, path, place } of left.filter((one) => outcomes.has(one.path))) {
        const { outcome, detail } = outcomes.get(path)
        const line = {
          seed,
          n,
          kind,
          where,
          outcome,
          ...(detail === undefined ? {} : { detail }),
          node: process.version,
          ...(markless ? { markless } : {}),
        }
        appendFileSync(result, `${JSON.stringify(line)}\n`)
        const row = (counts[kind] ??= {})
        row[outcome] = (row[outcome] ?? 0) + 1
        if (['wrong state', 'missed', 'hang', 'crash'].includes(outcome)) failed.push(line)
        rmSync(place, { recursive: true, force: true })
      }
      // Those behind one that ended the process are read by the next one.
      left = left.filter((one) => !outcomes.has(one.path))
    }
    if (done % 100 < atOnce) console.log(`${done} damages, ${failed.length} not noticed`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
const byName = ([one], [other]) => (one < other ? -1 : 1)
for (const [kind, row] of Object.entries(counts).toSorted(byName)) {
  const told = Object.entries(row).toSorted(byName)
  console.log(`${kind.padEnd(45)} ${told.map(([outcome, n]) => `${n} ${outcome}`).join(', ')}`)
}
for (const line of failed.slice(0, 20)) console.log(JSON.stringify(line).slice(0, 600))
const sum = (outcome) => failed.filter((line) => line.outcome === outcome).length
console.log(`${damages} damages: ${sum('wrong state')} wrong states, ${sum('missed')} missed, ${sum('hang')} hangs, ${sum('crash')} crashes`)
process.exitCode = failed.length === 0 ? 0 : 1
