// Work that takes longer than `hangAfter`: with breaths, and with a time of its own. Most of it is waiting, so the tests run beside each other.

import { describe, expect, test } from 'vitest'
import { type ActorRef, type Observation, receive, same, type SpawnOptions, supervise } from '@troupe/core'
import { laborer, type Labor, patient, unwatched } from '../dist-test/laborer.js'
import { type Stage, stageDefaults, stagesOfTests } from './stage.ts'

const stage = stagesOfTests(true)

/** Whether threads share no memory: then nobody sees whose turn it is. */
const byPorts = stageDefaults.sharedMemory === false
const restart = supervise({ backoff: { min: 0, max: 0 } })

/** Long enough that a busy machine does not keep a thread silent for so long, and short enough to be exceeded in a test. */
const hangAfter = 1000
const tooLong = 1.5 * hangAfter

function losses(s: Stage): Observation[] {
  const seen: Observation[] = []
  s.system.events.listen((event) => void seen.push(event as Observation), 'thread.lost')
  return seen
}
function words(s: Stage): { readonly ref: ActorRef<string>; readonly heard: string[] } {
  const heard: string[] = []
  const ref = s.system.spawn(
    receive<string>((_ctx, word) => {
      heard.push(word)
      return same
    }),
  )
  return { ref, heard }
}
const spawned = async (s: Stage, behavior: ReturnType<typeof laborer>, options: SpawnOptions): Promise<ActorRef<Labor>> => {
  const ref = s.system.spawn(behavior, { supervision: restart, ...options })
  await s.system.started(ref)
  return ref
}

describe.concurrent('breathing', () => {
  test('work that breathes outlives hangAfter', async () => {
    const s = stage({ hangAfter })
    const lost = losses(s)
    const a = await spawned(s, laborer(), { dispatcher: 'parallel' })
    expect(await a.ask({ type: 'breathe', stretches: 25, ms: tooLong / 25 })).toBe(0)
    expect(lost).toEqual([])
    await s.end()
  })

  test('what is told meanwhile leaves, and others on the thread are served, while the work goes on', async () => {
    const s = stage()
    const report = words(s)
    const a = await spawned(s, laborer(), { dispatcher: 'parallel', placement: { thread: 0 } })
    const beside = await spawned(s, laborer(), { dispatcher: 'parallel', placement: { thread: 0 } })
    a.tell({ type: 'wait', report: report.ref })
    await s.until('the first words', () => report.heard.length > 0)
    expect(report.heard).toEqual(['at work'])
    beside.tell({ type: 'release' })
    await s.until('the release', () => report.heard.length > 1)
    await s.end()
  })

  test('what was told before a breath has left, also if nobody waits for the breath; the thread hangs all the same', async () => {
    const s = stage({ hangAfter })
    const lost = losses(s)
    const report = words(s)
    const a = await spawned(s, laborer(), { dispatcher: 'parallel' })
    a.tell({ type: 'last-words', report: report.ref })
    await s.until('the loss', () => lost.length > 0)
    expect(report.heard).toEqual(['last words'])
    expect(lost).toMatchObject([{ why: 'hung' }])
    await s.end()
  })

  test.skipIf(byPorts)('who hangs after a breath is named, with its message', async () => {
    const s = stage({ hangAfter })
    const lost = losses(s)
    const a = await spawned(s, laborer(), { name: 'a', dispatcher: 'parallel', placement: { thread: 0 } })
    const beside = await spawned(s, laborer(), { name: 'beside', dispatcher: 'parallel', placement: { thread: 0 } })
    a.tell({ type: 'breathe-and-spin' })
    beside.tell({ type: 'release' })
    await s.until('the loss', () => lost.length > 0)
    expect(lost).toMatchObject([{ why: 'hung', actor: '/user/a', message: 'breathe-and-spin' }])
    await s.end()
  })
})

describe.concurrent('a hangAfter of its own', () => {
  test.each<[string, () => ReturnType<typeof laborer>, SpawnOptions]>([
    ['given in its definition', patient, { dispatcher: 'parallel' }],
    ['given at spawn', laborer, { dispatcher: 'parallel', hangAfter: 60_000 }],
    ['false, on pinned', unwatched, { dispatcher: 'pinned' }],
  ])('%s: a long turn is none that hangs, also where another has the next', async (_how, behavior, options) => {
    const s = stage({ hangAfter })
    const lost = losses(s)
    const a = await spawned(s, behavior(), options)
    const beside = await a.ask({ type: 'spawn', options: { name: 'beside' } })
    const done = a.ask({ type: 'burn', ms: tooLong })
    const behind = (beside as ActorRef<Labor>).ask({ type: 'burn', ms: hangAfter / 4 })
    expect(await Promise.all([done, behind])).toEqual([0, 0])
    expect(await a.ask({ type: 'burn-later', ms: tooLong })).toBe(0)
    expect(lost).toEqual([])
    await s.end()
  })

  test('may be shorter than that of the threads', async () => {
    const s = stage({ hangAfter: 600_000 })
    const lost = losses(s)
    const a = await spawned(s, laborer(), { dispatcher: 'pinned', hangAfter })
    a.tell({ type: 'spin' })
    await s.until('the loss', () => lost.length > 0)
    expect(lost).toMatchObject([{ why: 'hung' }])
    expect(await a.ask({ type: 'state' })).toBe(1)
    // Idle for longer than that, it shows that it lives.
    await new Promise((resolve) => setTimeout(resolve, tooLong))
    expect(lost).toHaveLength(1)
    await s.end()
  })

  test(`of one actor is not that of another on its thread${byPorts ? ', which by ports it is' : ''}`, async () => {
    const s = stage({ hangAfter })
    const lost = losses(s)
    await spawned(s, patient(), { name: 'patient', dispatcher: 'parallel', placement: { thread: 0 } })
    const a = await spawned(s, laborer(), { name: 'a', dispatcher: 'parallel', placement: { thread: 0 } })
    if (byPorts) {
      expect(await a.ask({ type: 'burn', ms: tooLong })).toBe(0)
      expect(lost).toEqual([])
    } else {
      a.tell({ type: 'spin' })
      await s.until('the loss', () => lost.length > 0)
      expect(lost).toMatchObject([{ why: 'hung', actor: '/user/a' }])
    }
    await s.end()
  })

  test('holds for its children, and ends with it', async () => {
    const s = stage({ hangAfter })
    const lost = losses(s)
    const a = await spawned(s, patient(), { dispatcher: 'parallel', placement: { thread: 0 } })
    const child = (await a.ask({ type: 'spawn', options: {} })) as ActorRef<Labor>
    expect(await child.ask({ type: 'burn', ms: tooLong })).toBe(0)
    a.stop()
    await s.system.whenTerminated(a)
    const b = await spawned(s, laborer(), { dispatcher: 'parallel', placement: { thread: 0 } })
    b.tell({ type: 'spin' })
    await s.until('the loss', () => lost.length > 0)
    await s.end()
  })
})

test.concurrent('a task that is given a time of its own may take it, and one that is not is ended', async () => {
  const s = stage({ hangAfter })
  const module = new URL('../dist-test/laborer.js', import.meta.url).href
  await s.threads.runTask(module, 'burn', [tooLong], { hangAfter: 60_000 })
  await expect(s.threads.runTask(module, 'burn', [60_000])).rejects.toMatchObject({ code: 'thread-lost', why: 'hung' })
  await expect(s.threads.runTask(module, 'burn', [1], { hangAfter: false as never })).rejects.toMatchObject({
    code: 'invalid-option',
    option: 'hangAfter',
  })
  await s.end()
})

test.concurrent('hangAfter: false is refused where others are on the thread, and so is what is no time', async () => {
  const s = stage()
  const refused = { code: 'invalid-option', option: 'hangAfter' }
  expect(() => s.system.spawn(unwatched(), { dispatcher: 'parallel' })).toThrow(expect.objectContaining(refused) as Error)
  expect(() => s.system.spawn(laborer(), { dispatcher: 'parallel', hangAfter: false })).toThrow(/"pinned"/)
  for (const wrong of [0, -1, Number.NaN, Infinity, 1.5, true, '5', null])
    for (const dispatcher of ['parallel', 'pinned', 'concurrent'])
      expect(() => s.system.spawn(laborer(), { dispatcher, hangAfter: wrong as never })).toThrow(expect.objectContaining(refused) as Error)
  const a = await spawned(s, laborer(), { dispatcher: 'parallel' })
  expect(await a.ask({ type: 'spawn', options: { hangAfter: false } })).toMatch(/"pinned"/)
  const pinned = await spawned(s, laborer(), { dispatcher: 'pinned' })
  expect(await pinned.ask({ type: 'spawn', options: { hangAfter: false } })).not.toBeTypeOf('string')
  // On this thread nobody watches over it.
  await s.system.started(s.system.spawn(unwatched()))
  await s.end()
})
