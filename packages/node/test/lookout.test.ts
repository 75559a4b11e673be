// Looking at actors of other threads: surveys, names and who waits, as on one thread.

import type { ActorRef } from '@troupe/core'
import { coreOf, phaseNames, type Survey, Surveyor, type Wait } from '@troupe/core/internal'
import { expect, test } from 'vitest'
import { asker } from '../dist-test/asker.js'
import type { Subject } from '../dist-test/subject.js'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

function seen(
  survey: Survey,
  uid: number,
): { readonly queued: number; readonly processed: number; readonly phase: string; readonly parent: number } | undefined {
  const { rows } = survey
  const at = rows.uid.indexOf(uid)
  if (at < 0) return undefined
  return { queued: rows.queued[at]!, processed: rows.processed[at]!, phase: phaseNames[rows.phase[at]!]!, parent: rows.parent[at]! }
}

test('a survey sees actors of threads and those below them, then only what changed there, then who has ended', async () => {
  const s = stage()
  const parent = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 1 }, script: { quiet: true } })
  parent.tell({ type: 'spawn', name: 'kid' })
  await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
  const kid = s.reports.find((r) => r.what === 'spawned')!.value as ActorRef<Subject>
  // It has been made when its parent says so; that it runs is known when it answers.
  await kid.ask({ type: 'echo', value: 0 })
  const { look } = coreOf(s.system).otherPlaces!
  const first = await look!.survey(false)
  expect(first.silent).toEqual([])
  const there = first.parts.find((part) => part.thread === 1)!
  expect(there.whole).toBe(true)
  expect(seen(there, parent.uid)).toMatchObject({ phase: 'running' })
  expect(seen(there, kid.uid)).toMatchObject({ phase: 'running', parent: parent.uid })
  await kid.ask({ type: 'echo', value: 1 })
  const second = (await look!.survey(false)).parts.find((part) => part.thread === 1)!
  expect(second.whole).toBe(false)
  expect(seen(second, kid.uid)!.processed).toBeGreaterThanOrEqual(1)
  expect(seen(second, parent.uid)).toBeUndefined()
  kid.stop()
  await s.system.whenTerminated(kid)
  const third = (await look!.survey(false)).parts.find((part) => part.thread === 1)!
  expect([...third.gone]).toEqual([kid.uid])
  expect(await look!.names([parent.uid])).toMatchObject([{ uid: parent.uid, path: '/user/a', kind: 'subject' }])
  look!.leave()
  const after = (await look!.survey(false)).parts.find((part) => part.thread === 1)!
  expect(after.whole).toBe(true)
  await s.end()
})

test('a question that went to another thread is told of by both, under one mark', async () => {
  const s = stage({ system: { deadlock: 'off' } })
  const [here, there] = [0, 1].map((thread) => s.system.spawn(asker(), { name: `m${thread}`, dispatcher: 'parallel', placement: { thread } }))
  const answer = here!.ask({ type: 'ask', through: [there!, here!], options: { deadlock: 'off', timeout: 30_000 } } as never)
  answer.catch(() => {})
  const core = coreOf(s.system)
  const { look } = core.otherPlaces!
  const main = new Surveyor(core, undefined, look!.markOf)
  const lookAll = async (): Promise<readonly Wait[]> => [...(await look!.waits()), ...(await main.waits())]
  const awayOf = (found: readonly Wait[]): readonly Wait[] => found.filter((w) => w.state === 'away' && w.asker !== undefined)
  const twice = (found: readonly Wait[]): readonly Wait[] => awayOf(found).filter(({ mark }) => found.filter((w) => w.mark === mark).length === 2)
  let waits = await lookAll()
  // The circle closes within a few looks, or the test runs out of time.
  while (twice(waits).length < 2) {
    await new Promise((resolve) => setImmediate(resolve))
    waits = await lookAll()
  }
  expect(awayOf(waits).map(({ askerPath, targetPath, binds }) => [askerPath, targetPath, binds])).toEqual(
    expect.arrayContaining([
      ['/user/m0', '/user/m1', true],
      ['/user/m1', '/user/m0', true],
    ]),
  )
  expect(waits.filter((w) => w.mark !== undefined && w.state === 'queued').map((w) => w.type)).toEqual(['ask'])
  for (const ref of [here!, there!]) s.system.kill(ref)
  await s.end()
})
