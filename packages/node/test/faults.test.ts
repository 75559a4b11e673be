// Threads that are lost: how it is noticed, what becomes of their actors, and that every message is accounted for.

import { describe, expect, test } from 'vitest'
import { type ActorRef, ignore, type Observation, setup, supervise } from '@troupe/core'
import { defineActor } from '@troupe/node'
import { subject, type Subject } from '../dist-test/subject.js'
import { ringer } from '../dist-test/ringer.js'
import { endOf, how, outputOf } from './own-process.ts'
import { patience, stageDefaults, stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

/** Whether threads share no memory: then nobody sees what a hung one was doing, and there are no bells. */
const byPorts = stageDefaults.sharedMemory === false

const restart = supervise({ backoff: { min: 0, max: 0 } })

describe('a thread is lost', () => {
  test.each<[string, Subject, string]>([
    ['by process.exit', { type: 'exit' }, 'exit'],
    ['by an error outside of any handler', { type: 'throw-outside' }, 'error'],
    ['by an unhandled rejection', { type: 'reject' }, 'error'],
  ])('%s: its actors fail with ThreadLost, their supervisors decide, others are untouched', async (_how, message, why) => {
    const s = stage()
    const observed: Observation[] = []
    s.system.events.listen((event) => void observed.push(event as Observation), 'thread.lost')
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart, placement: { thread: 0 } })
    const beside = s.subject({ name: 'beside', dispatcher: 'parallel', supervision: 'stop', placement: { thread: 0 } })
    const other = s.subject({ name: 'other', dispatcher: 'parallel', placement: { thread: 1 } })
    await Promise.all([a, beside, other].map((ref) => s.system.started(ref)))
    a.tell(message)
    expect(await s.system.whenTerminated(beside)).toMatchObject({ reason: 'failure', cause: { code: 'thread-lost', why } })
    expect(await a.ask({ type: 'state' })).toEqual({ count: 1, incarnation: 1 })
    expect(await other.ask({ type: 'state' })).toEqual({ count: 1, incarnation: 0 })
    expect(observed).toMatchObject([{ type: 'thread.lost', thread: 0, why, actors: 2 }])
    await s.end()
  })

  // Node promises to end the thread, not that it always can: where V8 finds no moment to, the whole process is aborted
  // (SEMANTICS.md says so). That is no fault of what is tested here, so such a run does not count; any other end does.
  test('by running out of memory', { timeout: 160_000 }, async () => {
    let ended = await endOf('oom-main.js', [byPorts ? 'ports' : 'shared'])
    for (let aborted = 1; aborted < 3 && ended.signal === 'SIGABRT' && ended.errors.includes('heap out of memory'); aborted++)
      ended = await endOf('oom-main.js', [byPorts ? 'ports' : 'shared'])
    if (ended.code !== 0) throw new Error(`oom-main.js ${how(ended)}`)
    expect(JSON.parse(ended.out)).toEqual({ reason: 'failure', code: 'thread-lost', why: 'out-of-memory', beside: 'untouched', off: 0 })
  })

  const seen = byPorts ? 'knows no name, and says so' : 'names the actor and the message'
  test(`by an endless loop: the watchdog ${seen}, and the thread is replaced`, async () => {
    // Long enough that only who spins is silent for so long, also on a busy machine.
    const s = stage({ hangAfter: 2000 })
    const observed: Observation[] = []
    s.system.events.listen((event) => void observed.push(event as Observation), 'thread.lost')
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart })
    await s.system.started(a)
    a.tell({ type: 'note', value: 1 })
    a.tell({ type: 'spin' })
    await s.until('the loss', () => observed.length > 0)
    const [actor, message] = byPorts ? [undefined, undefined] : ['/user/a', 'spin']
    const cause = { message: expect.stringContaining(byPorts ? 'without shared memory' : 'since it took a spin') as unknown }
    expect(observed).toMatchObject([{ why: 'hung', actor, message, cause }])
    expect(await a.ask({ type: 'state' })).toMatchObject({ incarnation: 1 })
    await s.end()
  })

  test.each(['stop', 'kill'] as const)('a %s of an actor whose module never loads ends it', async (verb) => {
    const s = stage()
    const url = new URL('../dist-test/never-loads.js', import.meta.url).href
    const there = { dispatcher: 'parallel', placement: { thread: 0 } }
    const ref = s.system.spawn(defineActor(url, 'never', () => ignore)(), { name: 'a', ...there })
    // The order to make this one is behind that for the other.
    await s.system.started(s.subject({ name: 'b', ...there }))
    s.system[verb](ref)
    expect((await s.system.whenTerminated(ref)).reason).toBe(verb === 'kill' ? 'killed' : 'normal')
    await s.end()
  })

  test('a kill that meets an endless loop on a thread takes the thread, and ends', async () => {
    const s = stage({ hangAfter: 2000 })
    let kid!: ActorRef<Subject>
    const parent = s.system.spawn(
      setup<never>((ctx) => {
        kid = ctx.spawn(subject({ report: s.report }), { dispatcher: 'parallel' })
        return ignore
      }),
      { stopTimeout: 600_000 },
    )
    await s.hears('PostStart')
    const observed: Observation[] = []
    s.system.events.listen((event) => void observed.push(event as Observation), 'thread.lost')
    kid.tell({ type: 'hang' })
    // It is in its loop once it does not answer any more.
    await expect(kid.ask({ type: 'echo', value: 1 }, { timeout: 500 })).rejects.toMatchObject({ code: 'ask-timeout' })
    s.system.kill(parent)
    expect(await s.system.whenTerminated(parent)).toMatchObject({ reason: 'killed' })
    expect(s.system.phaseOf(kid)).toBe('terminated')
    expect(observed).toMatchObject([{ why: 'hung' }])
    await s.end()
  })

  test('by hand', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart, placement: { thread: 1 } })
    await s.system.started(a)
    s.threads.terminate(1)
    await s.hears('PreStart', 2)
    expect(await a.ask({ type: 'state' })).toMatchObject({ incarnation: 1 })
    await s.end()
  })

  test('T2: what it had not acknowledged is unknown, and the ledger adds up', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: 'stop', placement: { thread: 0 } })
    await a.ask({ type: 'echo', value: 1 })
    a.tell({ type: 'exit' })
    for (let i = 0; i < 1000; i++) a.tell({ type: 'note', value: i })
    await s.system.whenTerminated(a)
    const ledger = await s.checkLedger()
    expect(ledger.unknown).toBeGreaterThanOrEqual(1)
    expect(ledger.unknown + ledger.deadLettered).toBeLessThanOrEqual(1001)
    await s.end()
  })

  test('questions to it reject with ThreadLost at once; those that waited here are kept', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart, placement: { thread: 0 } })
    a.tell({ type: 'never' })
    await s.hears('waiting for ever')
    const asked = a.ask({ type: 'echo', value: 1 }, { timeout: 60_000 })
    await s.checkLedger()
    s.threads.terminate(0)
    await expect(asked).rejects.toMatchObject({ code: 'thread-lost' })
    expect(await a.ask({ type: 'echo', value: 2 })).toBe(2)
    await s.end()
  })

  test('children that lived on it are gone for those who watch them from elsewhere', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart, placement: { thread: 0 } })
    a.tell({ type: 'spawn', name: 'kid' })
    await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
    const kid = s.reports.find((r) => r.what === 'spawned')!.value as typeof a
    const watcher = s.subject({ name: 'w', dispatcher: 'parallel', placement: { thread: 1 } })
    watcher.tell({ type: 'watch', ref: kid })
    await watcher.ask({ type: 'echo', value: 0 })
    await kid.ask({ type: 'echo', value: 0 })
    s.threads.terminate(0)
    await s.hears('Terminated {"path":"/user/a/kid","reason":"failure"}')
    await s.end()
  })

  test('senders on other threads reach the actor again after its restart, in order', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart, placement: { thread: 0 }, script: { quiet: true } })
    const b = s.subject({ name: 'b', dispatcher: 'parallel', placement: { thread: 1 }, script: { quiet: true } })
    b.tell({ type: 'ask', ref: a, value: 'before' })
    await s.hears('answer before')
    s.threads.terminate(0)
    await s.until('the loss', () => s.logs.some((l) => l.fields['why'] === 'terminated'))
    for (let i = 0; i < 50; i++) b.tell({ type: 'tell', ref: a, message: { type: 'note', value: i } })
    await s.hears('note 49')
    expect(s.heard().filter((h) => h.startsWith('note'))).toEqual(Array.from({ length: 50 }, (_, i) => `note ${i}`))
    await s.end()
  })

  test('an actor whose thread dies again and again comes back each time, as long as its policy lets it', async () => {
    const s = stage()
    const a = s.subject({
      name: 'a',
      dispatcher: 'pinned',
      supervision: supervise({ limit: { restarts: 100, within: 1000 }, backoff: { min: 0, max: 0 } }),
    })
    for (let i = 0; i < 6; i++) {
      await a.ask({ type: 'echo', value: i })
      a.tell({ type: 'exit' })
      await s.until('the loss', () => s.logs.filter((l) => l.fields['why'] === 'exit').length > i)
    }
    expect(await a.ask({ type: 'state' })).toMatchObject({ incarnation: 6 })
    await s.end()
  })
})

test('a module or export that is not there is named', async () => {
  const s = stage()
  const { receive } = await import('@troupe/core')
  const gone = defineActor('file:///no/such/module.js', 'nobody', () => receive(() => {}))
  const unnamed = defineActor(new URL('../dist-test/subject.js', import.meta.url).href, 'nobody', () => receive(() => {}))
  await expect(s.system.started(s.system.spawn(gone(), { dispatcher: 'parallel' }))).rejects.toMatchObject({
    cause: { code: 'not-on-thread', message: expect.stringContaining('file:///no/such/module.js') as unknown },
  })
  await expect(s.system.started(s.system.spawn(unnamed(), { dispatcher: 'parallel' }))).rejects.toMatchObject({
    cause: { message: expect.stringContaining('has no export "nobody"') as unknown },
  })
  expect(() =>
    s.system.spawn(
      receive(() => {}),
      { dispatcher: 'parallel' },
    ),
  ).toThrow(/defineActor/)
  await s.end()
})

// Each thread once started threads of its own, which did the same, without end.
test('a program that a thread runs again, because it does not ask where it is, is told so', async () => {
  const out = await outputOf('unguarded-main.js')
  expect(out).toMatch(/unguarded-main\.js cannot be loaded on a thread: .*if \(isMainThread\)/)
  expect(out.trim().split('\n')).toHaveLength(1)
})

describe.skipIf(byPorts)('a thread that rings for another and dies before the wake', () => {
  test('does not leave the main thread asleep', async () => {
    const s = stage()
    // Not replaced, for the start of a thread would wake it.
    const a = s.system.spawn(ringer(), { dispatcher: 'pinned', supervision: 'stop' })
    const b = s.system.spawn(ringer(), { dispatcher: 'parallel' })
    await Promise.all([a.ask({ type: 'bell' }), b.ask({ type: 'bell' })])
    a.tell({ type: 'ring-and-die', bell: undefined })
    await s.system.whenTerminated(a)
    await b.ask({ type: 'bell' }, { timeout: 5000 })
    await s.end()
  })

  test('does not leave a third one asleep', async () => {
    const s = stage()
    const a = s.system.spawn(ringer(), { dispatcher: 'parallel', supervision: restart, placement: { thread: 0 } })
    const b = s.system.spawn(ringer(), { dispatcher: 'parallel', placement: { thread: 1 } })
    const bell = await b.ask({ type: 'bell' })
    await a.ask({ type: 'bell' })
    a.tell({ type: 'ring-and-die', bell })
    await s.until('the loss', () => s.logs.some((l) => l.fields['why'] === 'exit'))
    await b.ask({ type: 'bell' }, { timeout: 5000 })
    await s.end()
  })
})

test('a thread that is started while messages are counted takes part in the count', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', script: { quiet: true } })
  await s.system.started(a)
  a.tell({ type: 'burn', ms: 300 })
  const counted = s.checkLedger()
  const b = s.subject({ name: 'b', dispatcher: 'pinned', script: { quiet: true } })
  await expect(Promise.race([counted, new Promise((resolve) => setTimeout(resolve, patience, 'never counted'))])).resolves.toMatchObject({
    unknown: 0,
  })
  await b.ask({ type: 'echo', value: 1 })
  await s.end()
})

test('a ref that leads to a thread lost before the one that uses it was started finds the actor, or its end', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart, placement: { thread: 0 }, script: { quiet: true } })
  a.tell({ type: 'spawn', name: 'kid' })
  await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
  const kid = s.reports.find((r) => r.what === 'spawned')!.value as typeof a
  await kid.ask({ type: 'echo', value: 0 })
  s.threads.terminate(0)
  await s.until('the loss', () => s.logs.some((l) => l.fields['why'] === 'terminated'))
  await a.ask({ type: 'echo', value: 0 })
  const late = s.subject({ name: 'late', dispatcher: 'pinned' })
  late.tell({ type: 'watch', ref: kid })
  await s.until('its end', () => s.heard('late').some((h) => h.startsWith('Terminated')))
  late.tell({ type: 'tell', ref: kid, message: { type: 'note', value: 'to nobody' } })
  await late.ask({ type: 'echo', value: 0 })
  await s.end()
})
