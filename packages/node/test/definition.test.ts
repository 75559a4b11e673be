// Bytes say which definition is meant, and never where code is.

import { expect, test } from 'vitest'
import { ActorSystem } from '@troupe/core'
import { counter } from './actors/counter.ts'
import { inProcess } from './in-process.ts'
import { checkControl } from '../../border/src/way/control.ts'
import { Definition, Definitions } from '../../border/src/values/definition.ts'
import type { ThreadLost } from '../src/threads/errors.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

test('an order to spawn or to run a task that brings an address, or what looks like a definition, is refused', () => {
  const order = { op: 'task', id: 1, args: [] }
  expect(() => checkControl({ ...order, url: 'data:text/javascript,', name: 'x' })).toThrow(/field definition/)
  expect(() => checkControl({ ...order, definition: { url: 'data:text/javascript,', name: 'x' } })).toThrow(/field definition/)
  const forged = Object.create(Definition.prototype) as Definition
  expect(() => checkControl({ ...order, definition: forged })).toThrow(/field definition/)
  expect(checkControl({ ...order, definition: new Definition('file:///x.js', 'x') })).toMatchObject({ op: 'task' })
})

test('the number of a definition that nobody has posted ends the thread that sent it, and loads nothing', async () => {
  const system = ActorSystem.create('one', { askTimeout: 30_000, logger: silent })
  const losses: ThreadLost[] = []
  system.events.listen((e) => void losses.push((e as { cause: ThreadLost }).cause), 'thread.lost')
  const { places } = inProcess(system, 2)
  const ref = system.spawn(counter(), { dispatcher: 'parallel', placement: { thread: 1 } })
  await ref.ask({ type: 'get' })
  // A record with a ref of kind 4, a definition, of number 99.
  places
    .get(1)!
    .exchange.knownCrossing(0)!
    .plain((w) => {
      w.byte(4)
      w.byte(23)
      w.byte(4)
      w.whole(99)
    })
  while (losses.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(losses[0]).toMatchObject({ why: 'bad-record', cause: { message: expect.stringContaining('code that nobody has defined') as unknown } })
  await system.shutdown()
})

test('definitions have one number for each way while they are remembered, and the oldest makes room on both sides', () => {
  const ours = new Definitions()
  const first = new Definition('file:///a.js', 'first')
  expect(ours.numberOf(first)).toBe(undefined)
  expect(ours.add(first)).toBe(0)
  expect(ours.numberOf(new Definition('file:///a.js', 'first'))).toBe(0)
  for (let i = 1; i <= 1024; i++) {
    ours.add(new Definition('file:///a.js', `n${i}`))
    ours.came(i, 'file:///a.js', `n${i}`)
  }
  expect(ours.numberOf(first)).toBe(undefined)
  expect(ours.get(1024)?.name).toBe('n1024')
  ours.came(1025, 'file:///a.js', 'last')
  expect(ours.get(1)).toBe(undefined)
})
