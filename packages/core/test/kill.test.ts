// A kill ends a whole subtree and waits for no user code: no PreStop, PostStop once each, children first.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type AnyRef, type Behavior, child, receive, same, setup, type Signal, supervisor } from '@troupe/core'

const never = (): Promise<void> => new Promise(() => {})

/** A line of actors, each the parent of the next, that notes its signals and does in each what `act` says. */
function line(names: readonly string[], log: string[], act: (name: string, s: Signal) => unknown, refs: AnyRef[] = []): Behavior<unknown> {
  const [name, ...below] = names
  return setup((ctx) => {
    refs.push(ctx.self)
    if (below.length > 0) ctx.spawn(line(below, log, act, refs), { name: below[0]!, stopTimeout: 60_000 })
    return receive(
      () => never(),
      (_c, s) => {
        if (s.type === 'PreStop' || s.type === 'PostStop') log.push(`${name}:${s.type}`)
        return act(name!, s) as never
      },
    )
  })
}

describe('kill', () => {
  test('ends the subtree at once, though a child below never settles its PostStop and has a minute for it', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const refs: AnyRef[] = []
    const top = kit.system.spawn(
      line(['a', 'b', 'c'], log, (_n, s) => (s.type === 'PostStop' ? never() : same), refs),
      { name: 'a', stopTimeout: 60_000 },
    )
    await kit.settle()
    kit.system.kill(top)
    await kit.settle()
    expect(log).toEqual(['c:PostStop', 'b:PostStop', 'a:PostStop'])
    expect(await Promise.all(refs.map((r) => kit.system.whenTerminated(r)))).toEqual([
      { reason: 'killed', cause: undefined },
      { reason: 'shutdown', cause: undefined },
      { reason: 'shutdown', cause: undefined },
    ])
    await kit.end()
  })

  test.each(['message', 'PreStop', 'PostStop'])('cuts off what hangs in a %s of a stop that is under way, here and below', async (place) => {
    const kit = createTestKit()
    const log: string[] = []
    const refs: AnyRef[] = []
    const top = kit.system.spawn(
      line(['a', 'b', 'c'], log, (_n, s) => (s.type === place ? never() : same), refs),
      { name: 'a', stopTimeout: 60_000 },
    )
    await kit.settle()
    if (place === 'message') for (const ref of refs) (ref as { tell(m: unknown): void }).tell('hang')
    await kit.settle()
    top.stop()
    await kit.settle()
    expect(kit.system.phaseOf(top)).toBe('stopping')
    kit.system.kill(top)
    await kit.settle()
    expect(kit.system.phaseOf(top)).toBe('terminated')
    expect(log.filter((l) => l.endsWith('PostStop'))).toEqual(['c:PostStop', 'b:PostStop', 'a:PostStop'])
    const ledger = await kit.system.ledger()
    expect(ledger.failed).toBe(place === 'message' ? 3 : 0)
    await kit.end()
  })

  test('a rejection of a PostStop that nobody waited for is logged and counted, and does not escape', async () => {
    const kit = createTestKit()
    const top = kit.system.spawn(
      line(['a', 'b'], [], (_n, s) => (s.type === 'PostStop' ? Promise.reject(new Error('late')) : same)),
      { name: 'a' },
    )
    await kit.settle()
    kit.system.kill(top)
    await kit.settle()
    expect(kit.system.counts().supervision.failedEndSignals).toBe(2)
    await kit.end()
  })

  test('of a supervisor ends its declared children without their shutdown time', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const slow = (name: string): Behavior<unknown> =>
      receive<unknown>(
        () => same,
        (_c, s) => {
          log.push(`${name}:${s.type}`)
          return s.type === 'PreStop' || s.type === 'PostStop' ? never() : same
        },
      )
    const top = kit.system.spawn(
      supervisor({ children: [child('x', slow('x'), { shutdown: 'infinity' }), child('y', slow('y'), { shutdown: 60_000 })] }),
      { name: 'sup' },
    )
    await kit.settle()
    log.length = 0
    kit.system.kill(top)
    await kit.settle()
    expect(kit.system.phaseOf(top)).toBe('terminated')
    expect(log.toSorted()).toEqual(['x:PostStop', 'y:PostStop'])
    await kit.end()
  })
})
