// Messages that cannot go over yet: they wait without costing anything, and each goes when its own way is free.

import { setImmediate as nextPass } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bounded } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

test('an actor whose messages wait for credit takes no turns on the thread they wait on', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', mailbox: bounded(8, 'reject'), stopTimeout: 20 })
  a.tell({ type: 'never' })
  await s.hears('waiting for ever')
  for (let i = 0; i < 4; i++) a.tell({ type: 'note', value: i })
  const dispatcher = coreOf(s.system).dispatchers.use('parallel')
  // Whatever gives what stands here a turn: a restart does as well.
  s.system.suspend(a, 'to see it resumed')
  s.system.resume(a)
  for (let i = 0; i < 10; i++) await nextPass()
  const before = dispatcher.turns
  for (let i = 0; i < 10; i++) await nextPass()
  expect(dispatcher.turns - before).toBeLessThan(5)
  expect((await s.system.inspect(a)).queued).toBe(4)
  await s.end()
})
