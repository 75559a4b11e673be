// Who hears of whose end: claims 25, 26, 29 and 30, watching from outside, and C5 as a property.

import { createTestKit } from '@troupe/testkit'
import { fc } from './properties.ts'
import { describe, expect, test } from 'vitest'
import {
  ActorSystem,
  type ActorContext,
  type AnyRef,
  type Behavior,
  ignore,
  ManualRuntime,
  receive,
  same,
  type Signal,
  stopped,
  unhandled,
} from '@troupe/core'

type Do = (ctx: ActorContext<Do>) => void

/** An actor that does what it is told, and notes its signals. */
function doer(signals: Signal[] = []): Behavior<Do> {
  return receive<Do>(
    (ctx, act) => {
      act(ctx)
      return same
    },
    (_ctx, signal) => {
      signals.push(signal)
      return same
    },
  )
}
const terminated = (signals: readonly Signal[]): Signal[] => signals.filter((s) => s.type === 'Terminated')

describe('25. watch is idempotent; watching a dead actor still notifies; unwatch silences even a Terminated already queued', () => {
  test('watching twice delivers one Terminated', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const target = kit.system.spawn(ignore)
    const watcher = kit.system.spawn(doer(signals))
    watcher.tell((ctx) => {
      ctx.watch(target)
      ctx.watch(target)
    })
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(terminated(signals)).toEqual([{ type: 'Terminated', ref: target, reason: 'normal' }])
    await kit.end()
  })

  test('watching a dead actor delivers Terminated exactly once, with its reason and cause', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const boom = new Error('boom')
    const target = kit.system.spawn(
      receive<string>(() => {
        throw boom
      }),
      { supervision: 'stop' },
    )
    target.tell('go')
    await kit.settle()
    expect(kit.system.phaseOf(target)).toBe('terminated')
    const watcher = kit.system.spawn(doer(signals))
    watcher.tell((ctx) => {
      ctx.watch(target)
      ctx.watch(target)
    })
    await kit.settle()
    expect(terminated(signals)).toEqual([{ type: 'Terminated', ref: target, reason: 'failure', cause: boom }])
    watcher.tell((ctx) => ctx.watch(target))
    await kit.settle()
    expect(terminated(signals)).toHaveLength(2)
    await kit.end()
  })

  test('unwatch silences a Terminated that is already queued', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const target = kit.system.spawn(ignore)
    const watcher = kit.system.spawn(doer(signals))
    await kit.settle()
    target.stop()
    await kit.settle()
    watcher.tell((ctx) => {
      ctx.watch(target)
      ctx.unwatch(target)
    })
    await kit.settle()
    expect(terminated(signals)).toEqual([])
    await kit.end()
  })

  test('unwatch and watch again while the old Terminated is queued delivers one', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const target = kit.system.spawn(ignore)
    const watcher = kit.system.spawn(doer(signals))
    target.stop()
    await kit.settle()
    watcher.tell((ctx) => {
      ctx.watch(target)
      ctx.unwatch(target)
      ctx.watch(target)
    })
    await kit.settle()
    expect(terminated(signals)).toHaveLength(1)
    await kit.end()
  })

  test('a watcher that stops is told nothing, and leaves no entry at its target', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const target = kit.system.spawn(ignore)
    const watcher = kit.system.spawn(doer(signals))
    watcher.tell((ctx) => ctx.watch(target))
    await kit.settle()
    watcher.stop()
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(terminated(signals)).toEqual([])
    await kit.end()
  })
})

describe('26. watchWith delivers the message instead; mixing both on one ref is refused until unwatch', () => {
  test('watchWith delivers its message once, and no Terminated', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const target = kit.system.spawn(ignore)
    const got: string[] = []
    const watcher = kit.system.spawn(doer(signals))
    watcher.tell((ctx) => ctx.watchWith(target, () => void got.push('gone')))
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(got).toEqual(['gone'])
    expect(terminated(signals)).toEqual([])
    await kit.end()
  })

  test.each([
    ['before the end', false],
    ['with the news queued', true],
  ])('called again with another message %s, the last one counts, once', async (_when, ended) => {
    const kit = createTestKit()
    const target = kit.system.spawn(ignore)
    const got: string[] = []
    const watcher = kit.system.spawn(doer())
    if (ended) target.stop()
    await kit.settle()
    watcher.tell((ctx) => {
      ctx.watchWith(target, () => void got.push('first'))
      ctx.watchWith(target, () => void got.push('last'))
    })
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(got).toEqual(['last'])
    await kit.end()
  })

  test('mixing is refused in both directions until unwatch', async () => {
    const kit = createTestKit()
    const target = kit.system.spawn(ignore, { name: 'target' })
    const errors: unknown[] = []
    const attempt = (act: () => void): void => {
      try {
        act()
      } catch (error) {
        errors.push(error)
      }
    }
    const watcher = kit.system.spawn(doer(), { name: 'watcher' })
    watcher.tell((ctx) => {
      ctx.watch(target)
      attempt(() => ctx.watchWith(target, () => {}))
      ctx.unwatch(target)
      ctx.watchWith(target, () => {})
      attempt(() => ctx.watch(target))
      attempt(() => ctx.watch(ctx.self))
    })
    await kit.settle()
    expect(errors).toHaveLength(3)
    for (const error of errors) expect(error).toMatchObject({ code: 'not-allowed', message: expect.stringContaining('/user/') })
    await kit.end()
  })

  test('changing over to watchWith while a Terminated is queued delivers the message, not the Terminated', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const got: string[] = []
    const target = kit.system.spawn(ignore)
    target.stop()
    await kit.settle()
    const watcher = kit.system.spawn(doer(signals))
    watcher.tell((ctx) => {
      ctx.watch(target)
      ctx.unwatch(target)
      ctx.watchWith(target, () => void got.push('gone'))
    })
    await kit.settle()
    expect(terminated(signals)).toEqual([])
    expect(got).toEqual(['gone'])
    await kit.end()
  })

  test('unwatch drops a watchWith message that is already queued, and counts it', async () => {
    const kit = createTestKit()
    const got: string[] = []
    const target = kit.system.spawn(ignore)
    target.stop()
    await kit.settle()
    const watcher = kit.system.spawn(doer())
    watcher.tell((ctx) => {
      ctx.watchWith(target, () => void got.push('gone'))
      ctx.unwatch(target)
    })
    await kit.settle()
    expect(got).toEqual([])
    expect((await kit.checkLedger()).dropped).toBe(1)
    await kit.end()
  })
})

test('29. a name can be reused inside the Terminated handler, and is keyed by uid', async () => {
  const kit = createTestKit()
  const uids: number[] = []
  const watcher = kit.system.spawn(
    receive<AnyRef>(
      (ctx, ref) => {
        ctx.watch(ref)
        return same
      },
      (ctx, signal) => {
        if (signal.type !== 'Terminated') return unhandled
        uids.push(signal.ref.uid)
        if (uids.length < 5) {
          const next = ctx.system.spawn(ignore, { name: 'phoenix' })
          ctx.watch(next)
          next.stop()
        }
        return same
      },
    ),
  )
  const first = kit.system.spawn(ignore, { name: 'phoenix' })
  watcher.tell(first)
  await kit.settle()
  first.stop()
  await kit.settle()
  expect(uids).toHaveLength(5)
  expect(new Set(uids).size).toBe(5)
  expect(kit.system.find('/user/phoenix')).toBeUndefined()
  await kit.end()
})

test('29. a name can be reused by the parent inside ChildStopped', async () => {
  const kit = createTestKit()
  let lives = 0
  const parent = kit.system.spawn(
    receive<'go'>(
      (ctx) => {
        ctx.spawn(ignore, { name: 'child' }).stop()
        return same
      },
      (ctx, signal) => {
        if (signal.type === 'ChildStopped' && ++lives < 4) ctx.spawn(ignore, { name: 'child' }).stop()
        return same
      },
    ),
  )
  parent.tell('go')
  await kit.settle()
  expect(lives).toBe(4)
  await kit.end()
})

/** Microseconds of processor time that a system takes to stop `n` watched actors: what others do on the machine is not in it. */
function stopWatched(n: number): number {
  const system = ActorSystem.create('many', { runtime: new ManualRuntime(), keepAlive: false })
  let heard = 0
  const watcher = system.spawn(
    receive<AnyRef[]>(
      (ctx, refs) => {
        for (const ref of refs) ctx.watch(ref)
        return same
      },
      (_ctx, signal) => {
        if (signal.type === 'Terminated') heard++
        return same
      },
    ),
  )
  const refs = Array.from({ length: n }, () => system.spawn(ignore))
  watcher.tell(refs)
  system.pump()
  const before = process.cpuUsage()
  for (const ref of refs) ref.stop()
  system.pump()
  const { user, system: kernel } = process.cpuUsage(before)
  expect(heard).toBe(n)
  expect(system.counts().active).toBe(1)
  void system.shutdown()
  system.pump()
  return user + kernel
}

test('30. stop of 100,000 watched actors at once completes without quadratic cost', () => {
  stopWatched(10_000)
  const small = Math.min(stopWatched(10_000), stopWatched(10_000))
  const large = Math.min(stopWatched(100_000), stopWatched(100_000))
  // Ten times the actors; quadratic cost would be a hundred times the time.
  expect(large / small).toBeLessThan(50)
})

describe('watching from outside', () => {
  test('system.watch makes an actor watch another, and unwatch ends it', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const a = kit.system.spawn(ignore)
    const b = kit.system.spawn(ignore)
    const watcher = kit.system.spawn(doer(signals))
    kit.system.watch(a, watcher)
    kit.system.watch(a, watcher)
    kit.system.watch(b, watcher)
    kit.system.unwatch(b, watcher)
    await kit.settle()
    a.stop()
    b.stop()
    await kit.settle()
    expect(terminated(signals)).toEqual([{ type: 'Terminated', ref: a, reason: 'normal' }])
    await kit.end()
  })

  test('system.watch of a dead actor notifies; a dead watcher is refused', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const dead = kit.system.spawn(ignore, { name: 'dead' })
    dead.stop()
    await kit.settle()
    const watcher = kit.system.spawn(doer(signals))
    kit.system.watch(dead, watcher)
    await kit.settle()
    expect(terminated(signals)).toHaveLength(1)
    expect(() => kit.system.watch(watcher, dead)).toThrow(expect.objectContaining({ code: 'not-allowed' }))
    await kit.end()
  })

  test('whenTerminated and watch asked for by a listener at any moment of the end are answered', async () => {
    const kit = createTestKit()
    const signals: Signal[] = []
    const watcher = kit.system.spawn(doer(signals))
    const ends: Promise<unknown>[] = []
    const targets = ['stopping', 'stopped', 'terminated'].map((phase) => {
      const ref = kit.system.spawn(ignore, { name: phase })
      kit.system.events.listen((event) => {
        const e = event as { type: string; ref?: AnyRef; to?: string }
        if (e.type !== 'actor.phase' || e.ref !== ref || e.to !== phase) return
        ends.push(kit.system.whenTerminated(ref))
        kit.system.watch(ref, watcher)
      })
      return ref
    })
    await kit.settle()
    for (const ref of targets) ref.stop()
    await kit.settle()
    expect(terminated(signals).map((s) => (s.type === 'Terminated' ? s.ref.path : ''))).toEqual([
      '/user/stopping',
      '/user/stopped',
      '/user/terminated',
    ])
    expect(await Promise.all(ends)).toHaveLength(3)
    await kit.end()
  })
})

test('stopping the ref of the top ends the system', async () => {
  const kit = createTestKit()
  kit.system.spawn(doer()).tell((ctx) => ctx.parent.stop())
  await kit.settle()
  expect(kit.system.phase).toBe('closed')
  expect(await kit.system.terminated).toMatchObject({ killed: [] })
})

test('C5: each watch yields exactly one Terminated, none after unwatch, keyed by uid', async () => {
  type Step = { kind: 'watch' | 'with' | 'unwatch' | 'stop' | 'kill' | 'settle' | 'respawn' | 'restart-watcher'; i: number }
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('watch', 'with', 'unwatch', 'stop', 'kill', 'settle', 'respawn', 'restart-watcher'),
    i: fc.nat(2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const kit = createTestKit()
      const told = new Map<number, number>()
      const note = (uid: number): void => void told.set(uid, (told.get(uid) ?? 0) + 1)
      const watcher = kit.system.spawn(
        receive<Do>(
          (ctx, act) => {
            act(ctx)
            return same
          },
          (_ctx, signal) => {
            if (signal.type === 'Terminated') note(signal.ref.uid)
            return same
          },
        ),
      )
      const name = (i: number): string => `t${i}`
      const targets = [0, 1, 2].map((i) => kit.system.spawn(ignore, { name: name(i) }))
      /** Watches that are open, by uid: how many notices each may still yield. */
      const open = new Set<number>()
      const expected = new Map<number, number>()
      await kit.settle()
      for (const { kind, i } of steps) {
        const ref = targets[i]!
        const { uid } = ref
        const dead = kit.system.phaseOf(ref) === 'terminated'
        if (kind === 'watch' || kind === 'with') {
          watcher.tell((ctx) => {
            try {
              if (kind === 'watch') ctx.watch(ref)
              else ctx.watchWith(ref, () => note(uid))
            } catch {
              // Mixed: refused, and the present watch stays.
            }
          })
          await kit.settle()
          open.add(uid)
        } else if (kind === 'unwatch') {
          watcher.tell((ctx) => ctx.unwatch(ref))
          await kit.settle()
          open.delete(uid)
        } else if (kind === 'stop') ref.stop()
        else if (kind === 'kill') kit.system.kill(ref)
        else if (kind === 'restart-watcher') kit.system.restart(watcher)
        else if (kind === 'respawn' && dead) {
          targets[i] = kit.system.spawn(ignore, { name: name(i) })
        }
        await kit.settle()
        for (const u of Array.from(open)) {
          const target = targets.find((t) => t.uid === u)
          if (target !== undefined && kit.system.phaseOf(target) !== 'terminated') continue
          open.delete(u)
          expected.set(u, (expected.get(u) ?? 0) + 1)
        }
        expect(told).toEqual(expected)
      }
      await kit.end()
    }),
    { numRuns: 40 },
  )
})

test('a watcher that stops hears what ends until its PostStop, and nothing after', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const targets = [1, 2, 3].map(() => kit.system.spawn(ignore))
  const watcher = kit.system.spawn(
    receive<'go'>(
      (ctx) => {
        for (const t of targets) ctx.watch(t)
        return same
      },
      (_ctx, signal) => {
        heard.push(signal.type)
        return signal.type === 'Terminated' ? stopped : same
      },
    ),
  )
  watcher.tell('go')
  await kit.settle()
  for (const t of targets) t.stop()
  await kit.settle()
  expect(heard).toEqual(['PreStart', 'PostStart', 'Terminated', 'PreStop', 'Terminated', 'Terminated', 'PostStop'])
  expect(kit.system.phaseOf(watcher)).toBe('terminated')
  await kit.end()
})
