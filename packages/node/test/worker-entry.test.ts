// Threads whose code is a worker entry of the program, as in a bundle: definitions are found by name, and no module is loaded.

import { ActorSystem, type Behavior, ignore } from '@troupe/core'
import { defineActor, threads, type ThreadsOptions } from '@troupe/node'
import { afterEach, expect, test } from 'vitest'
import { Abacus, doubler, manager, type triple } from '../dist-test/named.js'
import { outputOf } from './own-process.ts'

const entry = (name: string): URL => new URL(`../dist-test/${name}.js`, import.meta.url)
const error = (code: string, text: string): unknown => expect.objectContaining({ code, message: expect.stringContaining(text) })
const systems: ActorSystem[] = []
afterEach(() => Promise.all(systems.splice(0).map((system) => system.shutdown())))

function start(options: ThreadsOptions = {}): { system: ActorSystem; pool: ReturnType<typeof threads> } {
  const system = ActorSystem.create('bundled', { askTimeout: 30_000, logger: false })
  systems.push(system)
  return { system, pool: threads(system, { size: 2, worker: entry('named-entry'), ...options }) }
}
const named = (name: string): Behavior<never> => defineActor('file:///app.js', name, () => ignore)()
const onThread = { dispatcher: 'parallel' } as const
/** How the first start of an actor went. */
const startOf = (system: ActorSystem, behavior: Behavior<never>): Promise<unknown> =>
  system.started(system.spawn(behavior, onThread)).then(
    () => 'started',
    (cause: Error) => cause.cause,
  )

test('actors, classes and children of actors are found by their names, whatever their module is said to be', async () => {
  const { system } = start()
  expect(await system.spawn(doubler(), onThread).ask({ type: 'double', n: 21 })).toBe(42)
  expect(await system.spawn(manager(), onThread).ask({ type: 'double', n: 4 })).toBe(8)
  expect(await system.spawn(Abacus, onThread).ask.sum(1, 2)).toBe(3)
})

test('tasks are found by the names that defineTask gave them; others are refused', async () => {
  const { pool } = start({ worker: entry('named-entry').href })
  expect(await pool.runTask<typeof triple>('file:///app.js', 'triple', [5])).toBe(15)
  await expect(pool.runTask('file:///app.js', 'quadruple', [5])).rejects.toEqual(error('not-on-thread', 'knows no "quadruple"'))
})

test('a name that the worker entry does not know fails the start, and says which names it knows', async () => {
  const { system } = start()
  expect(await startOf(system, named('nobody'))).toEqual(
    error('not-on-thread', 'The worker entry knows no "nobody"; it knows doubler, manager, Abacus, triple, twin.'),
  )
})

test('a name that means two definitions is refused, by the thread that has both', async () => {
  const { system } = start()
  expect(await startOf(system, named('twin'))).toEqual(error('not-on-thread', 'Two definitions are named "twin"'))
})

test('a name that means two definitions is refused at spawn, where this thread has both', () => {
  const { system } = start()
  const [one] = ['one', 'two'].map(() => defineActor('file:///app.js', 'same name', () => ignore))
  expect(() => system.spawn(one!(), onThread)).toThrow('Two definitions are named "same name"')
})

test.each([
  ['ends', 'silent-entry', 30_000, 'ended by itself'],
  ['never ends', 'endless-entry', 500, 'has not become a thread of the system within 500 ms'],
])(
  'a worker entry that does not import @troupe/node/worker and %s is a lost thread, and the cause says what to do',
  async (_how, name, hangAfter, says) => {
    const { system } = start({ worker: entry(name), hangAfter })
    expect(await startOf(system, doubler())).toEqual(error('thread-lost', says))
    expect(await startOf(system, doubler())).toEqual(error('thread-lost', 'it must import @troupe/node/worker'))
  },
)

test('what is no file, or not there, is refused before anything starts', () => {
  for (const [worker, says] of [
    [new URL('https://example.com/worker.js'), 'use the URL of a file'],
    ['./worker.js', 'use the URL of a file'],
    [7, 'use the URL of a file'],
    [entry('no-such-entry'), 'there is no such file'],
  ] as const)
    expect(() => start({ worker: worker as URL })).toThrow(says)
})

test('@troupe/node/worker imported by a program that is no thread says where it belongs', async () => {
  expect(await outputOf('misplaced-main.js')).toContain('Import it into a worker entry alone')
})
