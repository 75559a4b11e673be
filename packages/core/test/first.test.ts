import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorRef, type Behavior, receive, same } from 'troupe'

type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> } | { type: 'boom' }

const counter = (n = 0): Behavior<Counter> =>
  receive((_ctx, m) => {
    switch (m.type) {
      case 'add':
        return counter(n + m.by)
      case 'get':
        m.replyTo.tell(n)
        return same
      case 'boom':
        throw new Error('boom')
    }
  })

test('a restart begins from the behavior given to spawn and keeps what was queued', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(counter(), { name: 'counter' })
  ref.tell({ type: 'add', by: 2 })
  ref.tell({ type: 'boom' })
  ref.tell({ type: 'add', by: 3 })
  const answer = ref.ask({ type: 'get' })
  await kit.advance(20)
  expect(await answer).toBe(3)
  await kit.end()
})
