// `npm run bench:diff <rev>`: the core of another revision against the working tree's, interleaved in one run, on the same
// loads, each in a process of its own. The other core is checked out into a temporary worktree and built there; the compiled
// loads are copied beside it, so that only the core differs. Base runs twice, so that each line says what noise is here;
// `--self` has base alone, against itself. By time or CPU time, whichever is steadier for the line.
//   npm run bench:diff -- main --only ping-pong,"ask sequential" --rounds 10

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anyText, commandLine, flag, misuse, someOf, whole } from '@troupe/testkit/internal'
import { compare, type Rounds, steadier } from './noise.ts'
import { plan } from './plan.ts'
import { Progress } from './progress.ts'
import { json } from './rounds.ts'
import { median, short } from './statistics.ts'

const hotPath = [
  'ping-pong',
  'thread ring',
  'counting',
  'fork-join throughput',
  'fork-join create',
  'big',
  'ask sequential',
  'ask concurrent',
  'idle',
]
const command = {
  name: 'npm run bench:diff',
  about:
    "The core of another revision against the working tree's, interleaved in one run, on the same loads. Above 1: the working tree is better. A line takes about 3 s a round, two with --self: three and a half minutes for the hot path in 7 rounds.",
  words: { revision: anyText('revision', 'what to compare with, such as main or HEAD~1; with --self HEAD, if left out', undefined) },
  options: {
    only: someOf(
      'benchmark',
      plan.map((e) => e.name),
      'just these',
      'those of the hot path',
    ),
    rounds: whole('rounds of each side', 7, { from: 3 }),
    self: flag('base against itself alone: what this machine makes of no difference'),
  },
}
const { revision: given, rounds, self, only: names = hotPath } = commandLine(command)
if (given === undefined && !self) misuse(command, '<revision> is missing: what to compare with, such as main or HEAD~1; or --self')
const revision = given ?? 'HEAD'
const root = fileURLToPath(new URL('../../../', import.meta.url))
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Whether git knows the revision, asked before anything is made. */
function exists(): boolean {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`) !== ''
  } catch {
    return false
  }
}
if (!exists()) misuse(command, `There is no revision '${revision}' in this repository; git branch -a and git log show what there is`)

const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
const checkout = join(folder, 'base')
const loads = join(folder, 'bench')

/** One core under the loads: a folder in which `@troupe/core` resolves to it. */
/**
 * V8's young generation grows with what a program throws away, and one that loads a hundred modules begins with a larger one than one that loads
 * a single file: what differed then was the collector, by a factor of two where queues are deep. It has the same size on both sides.
 */
const young = ['--min-semi-space-size=16']

/**
 * Measured of each process at least. Where a repetition takes long, the old generation is collected in every third or so, and which of them that is
 * differs by side: of two repetitions the median is a matter of luck.
 */
const repetitions = 9

function prepareBase(): void {
  git('worktree', 'add', '--detach', checkout, revision)
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  // Before there was a build of its own, the compiler was all of it.
  const build = existsSync(join(checkout, 'tools/build.mjs')) ? ['tools/build.mjs'] : ['node_modules/typescript/bin/tsc', '-b']
  execFileSync(process.execPath, [...build, 'packages/core'], { cwd: checkout, stdio: 'inherit' })
  mkdirSync(join(loads, 'node_modules/@troupe'), { recursive: true })
  writeFileSync(join(loads, 'package.json'), '{ "type": "module" }')
  cpSync(join(root, 'bench/dist'), join(loads, 'dist'), { recursive: true })
  symlinkSync(join(checkout, 'packages/core'), join(loads, 'node_modules/@troupe/core'))
}

/** Base twice and head; where it is only about noise, base twice. */
const sides: readonly (keyof Rounds)[] = self ? ['base', 'again'] : ['base', 'again', 'head']

/** The figures of each round, by clock; the order of the sides turns with the rounds. */
async function measure(name: string, progress: Progress): Promise<Record<string, Rounds>> {
  const found: Record<string, Record<keyof Rounds, number[]>> = {}
  for (let round = 0; round < rounds; round++)
    for (let i = 0; i < sides.length; i++) {
      const side = sides[(i + round) % sides.length]!
      const where = side === 'head' ? join(root, 'bench/dist') : join(loads, 'dist')
      progress.step(`${name} · ${side}`)
      for (const [clock, rates] of Object.entries(await ratesOf(name, where)))
        (found[clock] ??= { base: [], again: [], head: [] })[side].push(median(rates))
    }
  return Object.fromEntries(Object.entries(found).map(([clock, { base, again, head }]) => [clock, { base, again, head: self ? undefined : head }]))
}

/** More is better: of bytes, the inverse. */
async function ratesOf(name: string, where: string): Promise<Record<string, readonly number[]>> {
  const args =
    name === 'idle'
      ? ['--expose-gc', join(where, 'native/idle.js'), 'troupe', '300000']
      : [...young, join(where, 'run/one.js'), 'troupe', name, '200', '400', 'both', String(repetitions)]
  const found = await json({ file: process.execPath, args })
  if (found === undefined) throw new Error(`there is no benchmark '${name}'`)
  return name === 'idle' ? { bytes: (found as number[]).map((bytes) => 1 / bytes) } : (found as Record<string, readonly number[]>)
}

function cleanUp(): void {
  try {
    git('worktree', 'remove', '--force', checkout)
  } catch {
    // It was never added.
  }
  rmSync(folder, { recursive: true, force: true })
}
process.on('SIGINT', () => {
  cleanUp()
  process.exit(130)
})

try {
  prepareBase()
  const head = git('status', '--porcelain', 'packages/core') === '' ? '' : ' with changes'
  const against = self ? 'against itself' : `head ${git('rev-parse', '--short', 'HEAD')}${head}`
  console.log(`base ${git('rev-parse', '--short', revision)}, ${against}; ${rounds} rounds\n`)
  const columns = self ? ['base', 'again', 'ratio'] : ['base', 'head', 'ratio', 'base again']
  console.log(`${'benchmark'.padEnd(24)}${columns.map((c) => c.padStart(11)).join('')}      noise  by    ${self ? '' : 'verdict'}`)
  const progress = new Progress(names.length * rounds * sides.length)
  const worse: string[] = []
  for (const name of names) {
    const measured = await measure(name, progress)
    progress.end()
    const clock = steadier(measured)
    const { base, again, head: heads } = measured[clock]!
    const { ratio, self: selfRatio, noise, verdict } = compare(measured[clock]!)
    if (verdict === 'worse') worse.push(name)
    const figure = (values: readonly number[]): string => short(clock === 'bytes' ? 1 / median(values) : median(values))
    const shown = self ? [figure(base), figure(again), selfRatio.toFixed(3)] : [figure(base), figure(heads!), ratio.toFixed(3), selfRatio.toFixed(3)]
    const figures = `${shown.map((c) => c.padStart(11)).join('')}   ±${(100 * noise).toFixed(1).padStart(5)} %  ${clock.padEnd(6)}`
    console.log(`${name.padEnd(24)}${figures}${self ? '' : verdict}`)
  }
  console.log(
    self
      ? '\nSo far a line may stray from 1 without any difference, in 19 of 20 cases.'
      : `\nAbove 1: head is better. Beyond what base shows against itself, worse: ${worse.join(', ') || 'none'}.`,
  )
} finally {
  cleanUp()
}
