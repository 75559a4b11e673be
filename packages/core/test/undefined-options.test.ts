// An option that may be left out may be undefined, too: so that what a program was given can be passed on as it is, also where the compiler
// tells the two apart (`exactOptionalPropertyTypes`).

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { ActorError, buffered, flightRecorder, ignore, receive, same, setup, supervise } from '@troupe/core'

const none = undefined

test('options that are undefined are as good as left out', async () => {
  const kit = createTestKit({ flightRecorder: flightRecorder({ capacity: none }) })
  const policy = supervise({ decide: none, limit: none, onLimit: none, backoff: none, scope: none, retryStart: none })
  expect(policy).toEqual(supervise())
  expect(supervise({ backoff: { min: none, max: none, factor: none, jitter: none } })).toEqual(policy)
  expect(new ActorError('x', { kind: none, severity: none, labels: none, retry: none })).toEqual(new ActorError('x'))
  buffered(1, { overflow: none })
  const other = kit.system.spawn(ignore)
  const heard: string[] = []
  const ref = kit.system.spawn(
    setup<string>((ctx) => {
      ctx.watch(other, { deathPact: none })
      ctx.adapt((text: string) => text, { key: none }).tell('adapted')
      return receive((_ctx, m) => {
        heard.push(m)
        return same
      })
    }),
    { supervision: policy, stash: { capacity: none, overflow: none }, onRestart: { mailbox: none, children: none } },
  )
  void ref.offer('offered', { signal: none })
  await kit.settle()
  expect(heard).toEqual(['offered', 'adapted'])
  ref.stop({ after: none })
  await kit.expectPhase(ref, 'terminated')
  await kit.end()
})
