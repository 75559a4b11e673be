// A kind that no node hosts: who asks hears that, and not that time has passed.

import { type ActorRef, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { onStage } from './stage.ts'

type Hello = { readonly type: 'hello'; readonly replyTo: ActorRef<string> }
const greeter = () =>
  receive<Hello>((_ctx, { replyTo }) => {
    replyTo.tell('hello')
    return same
  })

test('an ask of a kind that no node hosts is rejected by an error that says so, before its time is over', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a', 'b')
    const kind = a!.cluster!.sharded<Hello>('greeter', greeter, { role: 'greeters' })
    await kind.ready
    for (const timeout of [1_000, 60_000]) {
      const since = stage.world.sim.now
      const cause: unknown = await kind
        .ref('x')
        .ask({ type: 'hello' }, { timeout })
        .catch((reason: unknown) => reason)
      expect(cause).toMatchObject({ code: 'kind-not-hosted', kind: 'greeter' })
      expect(String(cause)).toContain('no node of sim with the role greeters has registered greeter')
      // A host that is only starting gets as long as a failover takes.
      expect(stage.world.sim.now - since).toBeLessThanOrEqual(Math.min(timeout, stage.world.lease + 2_100))
      expect(stage.world.sim.now - since).toBeGreaterThanOrEqual(Math.min(0.9 * timeout, stage.world.lease + 2_000))
    }
  }))

test('a host that comes in time answers, and what was told before it came arrives', () =>
  onStage(async (stage) => {
    stage.world.nodeOptions = (name) => (name === 'b' ? { roles: ['greeters'] } : {})
    const [a] = await stage.nodes('a')
    const kind = a!.cluster!.sharded<Hello>('greeter', greeter, { role: 'greeters' })
    await kind.ready
    const asked = kind.ref('x').ask({ type: 'hello' }, { timeout: 60_000 })
    const [b] = await stage.nodes('b')
    b!.cluster!.sharded<Hello>('greeter', greeter, { role: 'greeters' })
    expect(await asked).toBe('hello')
    // The only host leaves: nobody hosts it any more.
    b!.leave()
    await stage.until('b is gone', () => a!.cluster!.members.length === 1)
    await expect(kind.ref('x').ask({ type: 'hello' }, { timeout: 60_000 })).rejects.toMatchObject({ code: 'kind-not-hosted' })
  }))
