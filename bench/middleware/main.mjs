// What middleware costs, and that an empty chain costs nothing: the same ping-pong of one actor with itself, each
// set-up in a process of its own, in rounds that alternate, so that all see the same machine and none another's code.
// Rates are per second of CPU time, so that other load disturbs less; compare ratios, not absolutes.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandLine, flag, whole } from '@troupe/testkit/internal'
import { measured, ActorSystem, receive, same } from '@troupe/core'

const link = { before: (m) => m }
const setups = [
  ['no word about middleware', {}, undefined],
  ['system: middleware []', { middleware: [] }, undefined],
  ['actor: middleware []', {}, { middleware: [] }],
  ['actor: one link', {}, { middleware: [link] }],
  ['actor: metrics', {}, { metrics: measured() }],
]

const { quick, setup: only } = commandLine({
  name: 'npm run bench:middleware',
  about: 'What middleware costs, and that an empty chain costs nothing: rates per second of CPU time, each set-up in fresh processes.',
  words: {
    setup: whole(`one set-up alone, in this process: prints its rate (default: all, each in its own)`, undefined, { from: 0, to: setups.length - 1 }),
  },
  options: { quick: flag('fewer messages and rounds, for a look') },
})
const messages = quick ? 1_000_000 : 2_000_000
const rounds = quick ? 5 : 15

async function round(systemOptions, spawnOptions) {
  const system = ActorSystem.create('bench', { keepAlive: false, ...systemOptions })
  let left = messages
  let done
  const finished = new Promise((resolve) => (done = resolve))
  const ref = system.spawn(
    receive((ctx, m) => {
      if (--left > 0) ctx.self.tell(m)
      else done()
      return same
    }),
    spawnOptions,
  )
  const began = process.cpuUsage()
  for (let i = 0; i < 100; i++) ref.tell(i)
  await finished
  const { user, system: kernel } = process.cpuUsage(began)
  await system.shutdown()
  return messages / (user + kernel)
}

if (only !== undefined) {
  const [, system, spawn] = setups[only]
  await round(system, spawn)
  console.log(await round(system, spawn))
} else {
  const results = setups.map(() => [])
  const flags = quick ? ['--quick'] : []
  const once = (i) => Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), String(i), ...flags], { encoding: 'utf8' }))
  for (let r = 0; r < rounds; r++) for (const i of setups.keys()) results[i].push(once(i))
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
  const base = median(results[0])
  const rows = setups.map(([name], i) => ({
    'set-up': name,
    'M messages per CPU second': median(results[i]).toFixed(2),
    'of the first': `${((100 * median(results[i])) / base).toFixed(0)} %`,
  }))
  console.table(rows)
}
