// Trees far deeper than the stack: every walk over parents and children is a loop, and nothing that happens once per
// actor costs as much as the way to the top.

import { describe, expect, test } from 'vitest'
import { type ActorRef, ActorSystem, type Behavior, receive, same, setup } from '@troupe/core'

type Ask = { readonly type: 'get'; readonly replyTo: ActorRef<number> } | { readonly type: 'ignore'; readonly replyTo: ActorRef<number> } | 'boom'

/** A chain of `depth` actors; the last one answers. */
const chain = (depth: number, named: boolean, bottom: (ref: ActorRef<Ask>) => void): Behavior<Ask> =>
  setup((ctx) => {
    if (depth === 1) bottom(ctx.self)
    else ctx.spawn(chain(depth - 1, named, bottom), named ? { name: 'n' } : {})
    return receive((_c, m) => {
      if (m === 'boom') throw new Error('boom')
      if (m.type === 'get') m.replyTo.tell(depth)
      return same
    })
  })

async function grow(depth: number, named: boolean): Promise<{ system: ActorSystem; top: ActorRef<Ask>; bottom: ActorRef<Ask> }> {
  const system = ActorSystem.create('deep', { keepAlive: false, logger: false, askTimeout: 60_000 })
  let top!: ActorRef<Ask>
  const bottom = await new Promise<ActorRef<Ask>>((resolve) => (top = system.spawn(chain(depth, named, resolve), { name: 'top' })))
  return { system, top, bottom }
}

describe('a chain of 40,000 actors', () => {
  const depth = 40_000

  test('starts, answers, explains a question that expires, fails, and stops', async () => {
    const { system, top, bottom } = await grow(depth, false)
    expect(await bottom.ask({ type: 'get' })).toBe(1)
    await expect(bottom.ask({ type: 'ignore' }, { timeout: 5 })).rejects.toMatchObject({ code: 'ask-timeout' })
    bottom.tell('boom')
    expect(await bottom.ask({ type: 'get' })).toBe(1)
    expect(system.counts().supervision.restarts).toBe(1)
    const ledger = await system.ledger()
    // The question that expires may do so before its turn comes: then it is dropped.
    expect(ledger.sent).toBe(ledger.handled + ledger.failed + ledger.dropped)
    top.stop()
    expect(await system.whenTerminated(top)).toEqual({ reason: 'normal', cause: undefined })
    expect(system.counts()).toMatchObject({ active: 0, terminated: depth })
    await system.shutdown()
  })

  test('with names, is found, looked at, killed as a whole', async () => {
    const { system, top, bottom } = await grow(depth, true)
    expect(bottom.path.length).toBe('/user/top'.length + 2 * (depth - 1))
    expect(system.find(bottom.path)).toBe(bottom)
    let deepest = await system.inspect()
    let levels = 0
    for (; deepest.children[0] !== undefined; levels++) deepest = deepest.children[0]
    expect(levels).toBe(depth)
    expect(deepest.path).toBe(bottom.path)
    system.kill(top)
    expect(await system.whenTerminated(bottom)).toMatchObject({ reason: 'shutdown' })
    expect(await system.whenTerminated(top)).toMatchObject({ reason: 'killed' })
    await system.shutdown()
  })

  test('ends with its system', async () => {
    const { system } = await grow(depth, false)
    expect((await system.shutdown()).stopped).toBe(depth)
  })

  test('ends with its system past the deadline, and the report names every one of them', async () => {
    const { system, top } = await grow(depth, true)
    const report = await system.shutdown({ deadline: 0 })
    expect(report.killed.length + report.stopped).toBe(depth)
    expect(report.killed).toContain(top.path)
    expect(system.counts().active).toBe(0)
  })
})
