// `npm run bench:diff <rev>`: the core of another revision against the working tree's, interleaved in one run, on the
// same loads. The other core is checked out into a temporary worktree and built there; the compiled loads are copied
// beside it, so that only the core differs. CPU time by default, since it is steadier; --wall for time as it passes.
//   npm run bench:diff -- main --only ping-pong,"ask sequential" --rounds 10

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anyText, commandLine, flag, misuse, required, someOf, whole } from '@troupe/testkit/internal'
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
  about: "The core of another revision against the working tree's, interleaved in one run, on the same loads. Above 1: the working tree is better.",
  words: { revision: required(anyText('revision', 'what to compare with, such as main or HEAD~1', undefined)) },
  options: {
    only: someOf(
      'benchmark',
      plan.map((e) => e.name),
      'just these',
      'those of the hot path',
    ),
    rounds: whole('rounds of each side', 7),
    wall: flag('measures time as it passes instead of CPU time'),
  },
}
const { revision, rounds, wall, only: names = hotPath } = commandLine(command)
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
const base = join(folder, 'base')
const loads = join(folder, 'bench')

/** One core under the loads: a folder in which `troupe` resolves to it. */
function prepareBase(): void {
  git('worktree', 'add', '--detach', base, revision)
  symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'))
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', 'packages/core'], { cwd: base, stdio: 'inherit' })
  mkdirSync(join(loads, 'node_modules'), { recursive: true })
  writeFileSync(join(loads, 'package.json'), '{ "type": "module" }')
  cpSync(join(root, 'bench/dist'), join(loads, 'dist'), { recursive: true })
  symlinkSync(join(base, 'packages/core'), join(loads, 'node_modules/troupe'))
}

function cleanUp(): void {
  try {
    git('worktree', 'remove', '--force', base)
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
  console.log(
    `base ${git('rev-parse', '--short', revision)}, head ${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'packages/core') === '' ? '' : ' with changes'}; ${rounds} rounds, ${wall ? 'time' : 'CPU time'}\n`,
  )
  console.log(`${'benchmark'.padEnd(28)}${'base'.padStart(10)}${'head'.padStart(10)}${'ratio'.padStart(8)}${'of bests'.padStart(10)}   of each round`)
  const progress = new Progress(names.length * rounds * 2)
  for (const name of names) {
    const samples: Record<'base' | 'head', number[]> = { base: [], head: [] }
    // The best repetition of all is the one that was disturbed least.
    const best = { base: 0, head: 0 }
    const where = { base: join(loads, 'dist'), head: join(root, 'bench/dist') }
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? (['base', 'head'] as const) : (['head', 'base'] as const)) {
        progress.step(`${name} · ${side}`)
        const args =
          name === 'idle'
            ? ['--expose-gc', join(where[side], 'native/idle.js'), 'troupe', '300000']
            : [join(where[side], 'run/one.js'), 'troupe', name, '200', '400', wall ? 'wall' : 'cpu']
        const found = (await json({ file: process.execPath, args })) as number[] | undefined
        if (found === undefined) throw new Error(`there is no benchmark '${name}'`)
        samples[side].push(median(found))
        best[side] = name === 'idle' ? Math.min(...found, best[side] || Infinity) : Math.max(...found, best[side])
      }
    progress.end()
    // Pairs of one round saw the same machine, so their ratios say more than the ratio of the medians.
    const ratios = samples.head.map((head, i) => (name === 'idle' ? samples.base[i]! / head : head / samples.base[i]!)).toSorted((a, b) => a - b)
    const middle = median(ratios)
    const bests = name === 'idle' ? best.base / best.head : best.head / best.base
    console.log(
      `${name.padEnd(28)}${short(median(samples.base)).padStart(10)}${short(median(samples.head)).padStart(10)}${middle.toFixed(3).padStart(8)}${bests.toFixed(3).padStart(10)}   ${ratios.map((r) => r.toFixed(2)).join(' ')}`,
    )
  }
  console.log('\nAbove 1: head is better.')
} finally {
  cleanUp()
}
