// A failure on another thread, in a file, and again from it.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ActorSystem, receive } from '@troupe/core'
import { threads, type Threads } from '@troupe/node'
import { type Capsule, capsuleRecorder, type CapsuleRecorderOptions, observe } from '@troupe/observer'
import { readCapsule } from '@troupe/observer/capsule'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { capsuleOf } from '../../observer/src/capsule/capsule-of.ts'
import { runCommand } from '../src/program.ts'
import { child, redact, till } from './modules/till.mjs'

let folder: string
let system: ActorSystem
let pool: Threads
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tr-'))
  process.env['TROUPE_RUNTIME_DIR'] = folder
})
afterEach(async () => {
  await system.shutdown()
  delete process.env['TROUPE_RUNTIME_DIR']
  rmSync(folder, { recursive: true, force: true })
})

function start(options?: CapsuleRecorderOptions, worker?: string): void {
  system = ActorSystem.create('shop', {
    logger: false,
    keepAlive: false,
    supervision: 'stop',
    // A question to a thread waits until that has started.
    askTimeout: 60_000,
    flightRecorder: capsuleRecorder(options),
  })
  pool = threads(system, { size: 2, keepAlive: false, ...(worker && { worker: new URL(`./modules/${worker}`, import.meta.url) }) })
}

async function troupe(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let out = ''
  let err = ''
  const code = await runCommand(argv, {
    screen: { isTTY: false, columns: 100, rows: 30, colours: false, write: (text) => void (out += text) },
    keys: undefined,
    complain: (text) => void (err += `${text}\n`),
    version: '1.2.3',
  })
  return { code, out, err }
}

const failures = (count: number): Promise<void> => eventually(() => expect(system.failures.count).toBeGreaterThanOrEqual(count))

/** Waits until it holds. What a thread knows is asked for, and on a busy machine a thread may answer too late. */
const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 30_000, interval: 20 })

/** Lets the till fail, on a thread: what it is told is `shop` of the module. */
async function failedTill(): Promise<void> {
  const bank = system.spawn(
    receive<{ replyTo: { tell(rate: { rate: number }): void } }>((_ctx, { replyTo }) => replyTo.tell({ rate: 2 })),
    { name: 'bank' },
  )
  const it = system.spawn(till('eur', bank), { name: 'till', dispatcher: 'parallel' })
  it.tell({ type: 'pay', cents: 100 })
  it.tell({ type: 'refund', cents: 400 })
  it.tell({ type: 'close' })
  await failures(1)
}

test('an actor that failed on a thread is written to a file, fails again from it, and as a test that is red until it is mended', async () => {
  start()
  await observe(system, { every: 100 }).ready
  await failedTill()
  const file = join(folder, 'till.capsule.json')
  await eventually(async () =>
    expect(await troupe('capsule', '/user/till', '--to', file)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/3 messages\nfailed with RangeError: the till has -200 eur.*\nwhole: /s),
    }),
  )
  expect(readCapsule(readFileSync(file, 'utf8'))).toMatchObject({ system: 'shop', path: '/user/till', kind: 'till', code: { name: 'till' } })
  const again = await troupe('replay', file)
  expect(again).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^■ the same failure at message 3 of 3: RangeError.*till\.mjs.*\nwhole/s),
  })
  await eventually(async () =>
    expect(await troupe('capsule', '/user/bank')).toMatchObject({ code: 1, err: expect.stringContaining('what has: /user/till') }),
  )

  // Run as it stands, beside the packages that it imports.
  const built = join(import.meta.dirname, '../dist-test')
  mkdirSync(built, { recursive: true })
  const beside = mkdtempSync(join(built, 'replayed-'))
  try {
    expect(await troupe('replay', file, '--as-test', join(beside, 'till.test.ts'))).toMatchObject({ code: 0 })
    const mended = readFileSync(join(beside, 'till.test.ts'), 'utf8').replace('{ till as actor }', '{ mended as actor }')
    writeFileSync(join(beside, 'mended.test.ts'), mended)
    writeFileSync(join(beside, 'vitest.config.mjs'), 'export default { test: { testTimeout: 60_000 } }')
    const report = join(beside, 'report.json')
    const run = promisify(execFile)(
      process.execPath,
      [vitest(), 'run', '--root', beside, '--no-isolate', '--maxWorkers', '1', '--reporter', 'json', '--outputFile', report],
      { env: withoutVitest() },
    )
    await expect(run).rejects.toThrow('Command failed')
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { name: string; status: string; assertionResults: { failureMessages: string[] }[] }[]
    }
    const [one, other] = testResults.sort((a, b) => a.name.localeCompare(b.name))
    expect(one).toMatchObject({ name: expect.stringContaining('mended'), status: 'passed' })
    expect(other).toMatchObject({ status: 'failed', assertionResults: [{ failureMessages: [expect.stringContaining('the till has -200 eur')] }] })
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
})

function vitest(): string {
  return new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url).pathname
}
function withoutVitest(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
}

test('a child of an actor on a thread, what it restarts with, and the second failure in place of the first', async () => {
  start()
  await observe(system, { every: 100 }).ready
  const above = system.spawn(child('above'), { name: 'above', dispatcher: 'pinned' })
  above.tell({ type: 'child', what: 'fail' })
  await failures(1)
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/above/below')).toMatchObject({
      path: '/user/above/below',
      failure: { name: 'Error', message: 'below: fail' },
      entries: [{ type: 'child' }],
    }),
  )
  // It can be looked at as those of this thread can. It restarts after a backoff.
  await eventually(async () => {
    const seen = await troupe('inspect', '/user/above/below')
    expect(seen).toMatchObject({ code: 0, err: '' })
    expect(seen.out).toMatch(/^\/user\/above\/below #\d+\n {2}kind +child\n.*restarts +1\n.*thread 2\n/s)
    expect(seen.out).not.toMatch(/timers|watchers/)
  })
  await eventually(async () =>
    expect(await troupe('tree', '/user/above/below')).toMatchObject({ code: 0, out: expect.stringMatching(/^below {2}1 restart, thread 2/) }),
  )
  await eventually(async () =>
    expect(await troupe('inspect', 'below')).toMatchObject({ code: 1, err: 'There is no actor at below. Did you mean /user/above/below?\n' }),
  )
  above.tell({ type: 'child', what: 'again' })
  await failures(2)
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/above/below')).toMatchObject({
      incarnation: 1,
      failure: { message: 'below: again' },
      entries: [{ type: 'child' }],
    }),
  )
})

test('where its thread is lost, that is said, and which', async () => {
  start()
  await failedTill()
  const other = system.spawn(child('other'), { name: 'other', dispatcher: 'parallel' })
  await other.ask({ type: 'where' })
  for (const { thread } of pool.vitals()) pool.terminate(thread)
  await failures(2)
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/other')).toEqual({
      none: expect.stringMatching(
        /^\/user\/other failed because thread \d, where it ran, was lost \(terminated\), and with it all that was recorded there$/,
      ),
    }),
  )
  // Of a failure before that nothing is left either.
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/till')).toEqual({ none: expect.stringMatching(/failed .*the till has -200.*but .* is gone/) }),
  )
})

test('redact is loaded on threads where it says from where; where it does not, nothing is recorded there', async () => {
  start({ redact, redactAt: { url: new URL('./modules/till.mjs', import.meta.url).href, name: 'redact' } })
  await failedTill()
  const capsule = await eventually(async () => {
    const found = await capsuleOf(system, '/user/till')
    expect(found).toMatchObject({ missing: [expect.stringContaining('what was taken out of refund')] })
    return found
  })
  // Of what it holds only the values: a moment may have any digits.
  expect(JSON.stringify((capsule as Capsule).entries.map(({ value }) => value))).not.toContain('400')
  await system.shutdown()

  start({ redact })
  await failedTill()
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/till')).toEqual({ none: expect.stringMatching(/on a thread, where nothing is recorded: .*redactAt/) }),
  )
  await system.shutdown()

  start({ redact, redactAt: { url: new URL('./modules/till.mjs', import.meta.url).href, name: 'nothing' } })
  await failedTill()
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/till')).toEqual({
      none: expect.stringMatching(/where nothing is recorded: .*cannot be made there: .*no export "nothing"/),
    }),
  )
})

test('a worker entry that knows the recorder by name has it; of one that does not, it is said what is missing', async () => {
  start({}, 'worker.mjs')
  await failedTill()
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/till')).toMatchObject({ path: '/user/till', failure: { name: 'RangeError' }, missing: [] }),
  )
  await system.shutdown()

  start({}, 'worker-without.mjs')
  await failedTill()
  await eventually(async () =>
    expect(await capsuleOf(system, '/user/till')).toEqual({ none: expect.stringMatching(/where nothing is recorded: .*knows no "capsuleRecorder"/) }),
  )
})
