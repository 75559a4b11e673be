// Control verbs that an async signal handler asks for about its own actor, in every signal of its life.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type Phase, receive, same } from '@troupe/core'

const signals = ['PreStart', 'PostStart', 'PreRestart', 'PostStop', 'PostRestart', 'PreStop'] as const
const verbs = ['suspend', 'resume', 'restart', 'stop', 'kill'] as const
const rows = signals.flatMap((type) => verbs.map((verb) => ({ type, verb })))

test.each(rows)('$verb, asked for by the handler of $type, is done when that is over', async ({ type, verb }) => {
  const kit = createTestKit()
  let asked = 0
  const ref = kit.system.spawn(
    receive<string>(
      () => same,
      async (ctx, signal) => {
        if (signal.type !== type || asked++ > 0) return same
        await Promise.resolve()
        if (verb === 'suspend') kit.system.suspend(ctx.self, 'a test')
        else kit.system[verb](ctx.self)
        await Promise.resolve()
        return same
      },
    ),
  )
  await kit.settle()
  if (type === 'PreRestart' || type === 'PostRestart' || type === 'PostStop') kit.system.restart(ref)
  if (type === 'PreStop') ref.stop()
  await kit.advance(10_000)
  const ends = verb === 'stop' || verb === 'kill' || type === 'PreStop'
  const wanted: Phase = ends ? 'terminated' : verb === 'suspend' ? 'suspended' : 'running'
  expect(kit.system.phaseOf(ref)).toBe(wanted)
  // A restart asked for while one is under way is that one; asked for while starting, it is made once the actor is up.
  const again = type === 'PreStart' || type === 'PostStart' || type === 'PostRestart'
  const first = type === 'PreStart' || type === 'PostStart' ? 0 : 1
  if (!ends) expect((await kit.system.inspect(ref)).incarnation).toBe(first + (verb === 'restart' && again ? 1 : 0))
  await kit.end()
})
