// `npm run sim`, and runs without end: both need processes of their own, and run what was built.

import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const cli = join(root, 'packages/testkit/dist/cli.js')

interface Outcome {
  readonly code: number | string | null
  readonly out: string
  readonly err: string
}

function node(...args: readonly string[]): Promise<Outcome> {
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd: root, timeout: 150_000, env: { ...process.env, TROUPE_SEED: '' } }, (error, out, err) =>
      done({ code: error === null ? 0 : (error.signal ?? error.code ?? null), out, err }),
    )
  })
}

/** A simulation, as the program of a process of its own. */
const simulation = (scenario: string, holdLimit = 1000): Promise<Outcome> =>
  node(
    '--input-type=module',
    '-e',
    `import { simulate } from '@troupe/testkit'
     import { receive, same } from '@troupe/core'
     function spin() { for (let n = 0; ; n = (n + 1) % 1000) if (n < 0) return }
     function wait(ms) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms) }
     async function beget() { for (;;) await Promise.resolve() }
     await simulate(${scenario}, { name: 'endless', seeds: [7], faults: 'none', holdLimit: ${holdLimit} })`,
  )

test.concurrent('a handler that loops for ever ends the process, and the report says seed, actor, message, place and how to see it again', async () => {
  const { code, err } = await simulation(`(sim) => {
    const ref = sim.system.spawn(receive((_c, m) => { if (m === 'spin') spin(); return same }), { name: 'spinner' })
    ref.tell('work')
    ref.tell('spin')
  }`)
  expect(code).toBe('SIGKILL')
  expect(err).toMatch(/Simulation "endless" with seed 7 held its thread for \d/)
  expect(err).toContain('/user/spinner (running) has its turn, with spin#2')
  expect(err).toContain('replay: TROUPE_SEED=7 npm test')
  expect(err).toMatch(/at spin /)
})

test.concurrent.each([
  ['promises that beget promises', "(sim) => void sim.system.spawn(receive(() => beget())).tell('go')", /at beget /],
  ['a scenario that never returns', '() => spin()', /nobody has a turn/],
])('%s are found too', async (_what, scenario, where) => {
  const { code, err } = await simulation(scenario)
  expect(code).toBe('SIGKILL')
  expect(err).toContain('Simulation "endless" with seed 7 held its thread')
  expect(err).toMatch(where)
})

test.concurrent('a step that is long because it has no processor is not one without end', async () => {
  const { code, err } = await simulation("(sim) => void sim.system.spawn(receive(() => { wait(5000); return same })).tell('go')")
  expect({ code, err }).toEqual({ code: 0, err: '' })
})

test.concurrent('a step that waits for ever without using the processor is found too', async () => {
  const { code, err } = await simulation("(sim) => void sim.system.spawn(receive(() => wait()), { name: 'waiter' }).tell('go')", 100)
  expect(code).toBe('SIGKILL')
  expect(err).toContain('held its thread for')
})

test.concurrent('the run of a seed that broke something, and holds its thread when it is made simpler, is reported with what it broke', async () => {
  const { err } = await simulation(`(sim) => {
    let found = globalThis.found
    const ref = sim.system.spawn(receive((_c, n) => {
      if (found && n === 0) spin()
      if (n === 3) { globalThis.found = true; sim.check(false, 'three came') }
      return same
    }))
    sim.plan(5, (i) => ref.tell(i))
  }`)
  expect(err).toMatch(/broke invariant .* with seed 7: three came\. A simpler run of it held its thread/)
})

test.concurrent('it starts at another seed each time, says which, and gives the same again from there', async () => {
  const args = [cli, '--seeds', '1', '--json']
  const [one, other] = await Promise.all([node(...args), node(...args)])
  const first = JSON.parse(one.out) as { start: number; scenarios: { distinct: number; steps: number }[] }
  expect(first.start).not.toBe((JSON.parse(other.out) as { start: number }).start)
  const again = await node(...args, '--start', String(first.start))
  const second = JSON.parse(again.out) as typeof first
  expect(second.scenarios.map((s) => s.steps)).toEqual(first.scenarios.map((s) => s.steps))
  expect([one.code, again.code]).toEqual([0, 0])
})

test.concurrent('a single seed of a single scenario is one run', async () => {
  const { out, code } = await node(cli, '--scenario', 'crowd', '--seed', '7')
  expect(out).toMatch(/\n1 seeds from 7 on in .*, 1 distinct traces, 0 violations\n$/)
  expect(code).toBe(0)
})

test.concurrent.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('interrupted by %s it reports what it has, and ends with %i', async (signal, code) => {
  const child = spawn(process.execPath, [cli, '--seeds', '10000000', '--start', '1', '--scenario', 'misuse'], { cwd: root })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  await new Promise<void>((done) => child.stderr.setEncoding('utf8').on('data', (line: string) => void (/^[1-9]/m.test(line) && done())))
  child.kill(signal)
  const ended = await new Promise<number | null>((done) => child.once('close', done))
  expect(ended).toBe(code)
  expect(out).toMatch(new RegExp(`^seeds from 1 on; the same again: --start 1\\nmisuse +[1-9]\\d* seeds[^]*ended early by ${signal}\\n$`))
})

test.concurrent('a simulation that the test runner ends by its timeout prints its name, its seed and how to run it again', async () => {
  // In the tree, for that is where packages are found.
  const shelf = join(root, 'tools', '.doc-examples')
  mkdirSync(shelf, { recursive: true })
  const folder = mkdtempSync(join(shelf, 'timeout-'))
  try {
    writeFileSync(
      join(folder, 'vitest.config.mjs'),
      `export default { test: { include: ['*.test.mjs'], setupFiles: [${JSON.stringify(join(root, 'tools/sim-timeout.ts'))}] } }`,
    )
    writeFileSync(
      join(folder, 'slow.test.mjs'),
      `import { ignore } from '@troupe/core'
       import { simulate } from '@troupe/testkit'
       import { test } from 'vitest'
       test('takes too long', { timeout: 5 }, () => simulate((sim) => void sim.system.spawn(ignore), { name: 'slow', seeds: 500 }))`,
    )
    const { code, err } = await node(join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder)
    expect(code).toBe(1)
    expect(err).toMatch(/"takes too long" timed out in:\nSimulation "slow" with seed (\d+)\n.*\n {2}replay: TROUPE_SEED=\1 npm test\n/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
