import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { receive, same } from '@troupe/core'

test('a shutdown reports what it left in mailboxes, not what was left by actors that had stopped before', async () => {
  const kit = createTestKit()
  const early = kit.system.spawn(receive<string>(() => same))
  await kit.settle()
  kit.system.suspend(early, 'to let messages queue')
  await kit.settle()
  early.tell('left before')
  early.stop()
  await kit.settle()
  const late = kit.system.spawn(receive<string>(() => same))
  await kit.settle()
  kit.system.suspend(late, 'to let messages queue')
  await kit.settle()
  late.tell('left at shutdown')
  late.tell('left at shutdown')
  const ending = kit.system.shutdown()
  await kit.end()
  expect(await ending).toEqual({ stopped: 1, killed: [], undelivered: 2 })
})
