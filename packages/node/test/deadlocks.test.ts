// Actors on several threads that wait for each other in a circle: one question of it is refused, and nothing else is.

import { type ActorRef, ActorSystem } from '@troupe/core'
import { afterEach, expect, test } from 'vitest'
import { type Asker, asker } from './actors/asker.ts'
import { inProcess } from './in-process.ts'

const systems: ActorSystem[] = []
afterEach(async () => {
  for (const system of systems.splice(0)) await system.shutdown()
})

/** Members on threads by number, or on the main one; a question that nobody refuses would end by its timeout, much later. */
function members(warn: (fields: unknown, text: string) => void, ...on: readonly (number | undefined)[]): ActorRef<Asker>[] {
  const system = ActorSystem.create('one', { askTimeout: 30_000, logger: { debug: () => {}, info: () => {}, warn, error: () => {} } })
  systems.push(system)
  inProcess(system, 3)
  return on.map((thread, i) =>
    system.spawn(asker(), thread === undefined ? { name: `m${i}` } : { name: `m${i}`, dispatcher: 'parallel', placement: { thread } }),
  )
}

test.each([
  ['two threads', [0, 1]],
  ['three threads', [0, 1, 2]],
  ['a thread and the main one', [0, undefined]],
  ['two on one thread and one on another', [0, 0, 1]],
] as const)('a circle over %s is refused with its paths', async (_where, on) => {
  const all = members(() => {}, ...on)
  const [first, ...others] = all as [ActorRef<Asker>, ...ActorRef<Asker>[]]
  const answer = await first.ask({ type: 'ask', through: [...others, first] })
  expect(answer).toMatch(/^deadlock: /)
  const cycle = answer.slice('deadlock: '.length).split(' → ')
  expect(cycle[0]).toBe(cycle.at(-1))
  expect(cycle.slice(1).toSorted()).toEqual(all.map((ref) => ref.path).toSorted())
})

test('a circle is warned of where only that was wanted', async () => {
  const warnings: string[] = []
  const [first, second] = members((_fields, text) => void warnings.push(text), 0, 1) as [ActorRef<Asker>, ActorRef<Asker>]
  // Nobody refuses it, so it ends by its timeout: long enough for the circle to be found first, on a busy machine too.
  const options = { deadlock: 'warn', timeout: 2_000 } as const
  expect(await first.ask({ type: 'ask', through: [second, first], options })).toBe('ask-timeout')
  expect(warnings.filter((text) => text.includes('cycle of waiting actors'))).toHaveLength(1)
})

test('a question that was put aside keeps nobody waiting, and is answered', async () => {
  const [first, second] = members(() => {}, 0, 1) as [ActorRef<Asker>, ActorRef<Asker>]
  const kept = first.ask({ type: 'keep' })
  expect(await second.ask({ type: 'ask', through: [first, second] })).toMatch(/^deadlock|^the end/)
  expect(await kept).toBe('kept')
})

test('a chain of questions that is no circle is answered', async () => {
  const [first, second, third] = members(() => {}, 0, 1, 2) as [ActorRef<Asker>, ActorRef<Asker>, ActorRef<Asker>]
  expect(await Promise.all([first.ask({ type: 'ask', through: [second, third] }), second.ask({ type: 'ask', through: [third] })])).toEqual([
    'the end',
    'the end',
  ])
})
