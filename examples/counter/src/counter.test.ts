import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { Counter } from './counter.ts'

test('the counter stays between 0 and its maximum', async () => {
  const kit = createTestKit()
  const counter = kit.system.spawn(Counter, { args: [3, () => {}] })
  counter.tell.decrement()
  for (let i = 0; i < 5; i++) counter.tell.increment()
  const full = counter.ask.get()
  counter.tell.setMax(2)
  const cut = counter.ask.get()
  counter.tell.reset()
  const none = counter.ask.get()
  await kit.settle()
  expect(await Promise.all([full, cut, none])).toEqual([3, 2, 0])
  await kit.end()
})

test('a failure is heard by onError first, and with resume the actor goes on', async () => {
  const kit = createTestKit()
  const lines: string[] = []
  const counter = kit.system.spawn(Counter, { args: [3, (line) => lines.push(line)], supervision: 'resume' })
  counter.tell.increment()
  const refused = counter.ask.setMax(-1).catch((cause: Error) => cause.message)
  const after = counter.ask.get()
  await kit.settle()
  expect([await refused, await after]).toEqual(['-1 is no maximum', 0])
  counter.stop()
  await kit.settle()
  expect(lines).toEqual(['started', 'failed: -1 is no maximum', 'stopped'])
  await kit.end()
})
