// The signals of a life, in the orders of DESIGN section 5, with handlers and setups that take their time.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type Behavior, empty, receive, same, setup, type Signal, StartTimeout, stopped, unhandled, withOptions } from '@troupe/core'
import { boom, gate, keeper, type Msg, often, say } from './keeper.ts'

const pause = (): Promise<void> => new Promise((resolve) => queueMicrotask(resolve))

/** Logs everything it sees as `name:what`; `slow` makes each step async. */
const logged = (name: string, log: string[], slow: boolean, kids: string[] = []): Behavior<Msg> =>
  setup<Msg>(async (ctx) => {
    log.push(`${name}:setup`)
    if (slow) await pause()
    for (const kid of kids) ctx.spawn(logged(kid, log, slow), { name: kid })
    return receive<Msg>(
      (_c, m) => {
        if (m.type === 'boom') throw m.cause
        log.push(`${name}:${m.type}`)
        return same
      },
      async (_c, s) => {
        if (slow) await pause()
        log.push(`${name}:${s.type}`)
        if (slow) await pause()
        return same
      },
    )
  })

describe.each([false, true])('the order of signals, handlers async: %s', (slow) => {
  test('start: setup, PreStart, PostStart, and only then messages', async () => {
    const kit = createTestKit()
    const log: string[] = []
    kit.system.spawn(logged('a', log, slow)).tell(say('hello'))
    await kit.settle()
    expect(log).toEqual(['a:setup', 'a:PreStart', 'a:PostStart', 'a:say'])
    await kit.end()
  })

  test('stop: PreStop, then the children, each heard of, then PostStop', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(logged('a', log, slow, ['b', 'c']))
    await kit.settle()
    log.length = 0
    ref.stop()
    await kit.settle()
    expect(log[0]).toBe('a:PreStop')
    expect(log.at(-1)).toBe('a:PostStop')
    expect(log.filter((l) => l === 'a:ChildStopped')).toHaveLength(2)
    expect(log.filter((l) => l.startsWith('b:'))).toEqual(['b:PreStop', 'b:PostStop'])
    expect(log.filter((l) => l.startsWith('c:'))).toEqual(['c:PreStop', 'c:PostStop'])
    await kit.end()
  })

  test('restart: PreRestart, the children, PostStop; then setup, PreStart, PostStart, PostRestart', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(logged('a', log, slow, ['b']), { supervision: often })
    await kit.settle()
    log.length = 0
    ref.tell(boom())
    ref.tell(say('kept'))
    await kit.settle()
    const b = ['b:PreStop', 'b:PostStop']
    expect(log.filter((l) => l.startsWith('a:'))).toEqual([
      'a:PreRestart',
      'a:PostStop',
      'a:setup',
      'a:PreStart',
      'a:PostStart',
      'a:PostRestart',
      'a:say',
    ])
    expect(log.slice(0, 4)).toEqual(['a:PreRestart', ...b, 'a:PostStop'])
    await kit.end()
  })

  test('kill: no PreStop, but PostStop', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(logged('a', log, slow, ['b']))
    await kit.settle()
    log.length = 0
    kit.system.kill(ref)
    await kit.settle()
    expect(log.filter((l) => l.startsWith('a:'))).toEqual(['a:ChildStopped', 'a:PostStop'])
    expect(kit.system.counts().active).toBe(0)
    await kit.end()
  })
})

test('PreRestart and PostRestart carry the cause', async () => {
  const kit = createTestKit()
  const causes: unknown[] = []
  const ref = kit.system.spawn(
    receive<Msg>(
      (_c, m) => {
        if (m.type === 'boom') throw m.cause
        return same
      },
      (_c, s) => {
        if (s.type === 'PreRestart' || s.type === 'PostRestart') causes.push(s.cause)
        return same
      },
    ),
    { supervision: often },
  )
  const cause = new Error('boom')
  ref.tell(boom(cause))
  await kit.settle()
  kit.system.restart(ref, 'asked for')
  await kit.settle()
  expect(causes).toEqual([cause, cause, 'asked for', 'asked for'])
  await kit.end()
})

test.each(['the setup', 'a setup inside a setup', 'an async setup'])('a signal handler given to %s with onSignal is heard', async (what) => {
  const kit = createTestKit()
  const heard: string[] = []
  const plain = receive<Msg>(() => same)
  const given = setup<Msg>(() => (what === 'an async setup' ? Promise.resolve(plain) : plain)).onSignal((_c, s) => {
    heard.push(s.type)
    return same
  })
  const ref = kit.system.spawn(what === 'a setup inside a setup' ? setup<Msg>(() => given) : given)
  await kit.settle()
  ref.stop()
  await kit.settle()
  expect(heard).toEqual(['PreStart', 'PostStart', 'PreStop', 'PostStop'])
  await kit.end()
})

test('an actor that never started hears nothing of its end, nor does an earlier incarnation', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      const { incarnation } = ctx
      ctx.spawn(keeper())
      if (incarnation === 1) throw new Error('bad start')
      return receive<Msg>(
        () => same,
        (_c, s) => {
          heard.push(`${s.type} ${incarnation}`)
          return same
        },
      )
    }),
    { supervision: 'stop' },
  )
  await kit.settle()
  heard.length = 0
  kit.system.restart(ref)
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(heard).toEqual(['PreRestart 0', 'PostStop 0'])
  await kit.end()
})

describe('startTimeout', () => {
  test.each(['setup', 'PreStart', 'PostStart'] as const)(
    'bounds an async %s; the actor stops with StartTimeout as the cause, its context dead',
    async (place) => {
      const kit = createTestKit()
      const held = gate()
      let late: unknown
      const ref = kit.system.spawn(
        setup<Msg>(async (ctx) => {
          if (place === 'setup') {
            await held.promise
            try {
              ctx.spawn(keeper())
            } catch (error) {
              late = error
            }
          }
          return receive<Msg>(
            () => same,
            async (c, s) => {
              if (s.type !== place) return
              await held.promise
              try {
                c.timers.once('x', 1, say('x'))
              } catch (error) {
                late = error
              }
            },
          )
        }),
        { startTimeout: 100 },
      )
      const started = kit.system.started(ref).catch((error: unknown) => error)
      await kit.advance(99)
      expect(kit.system.phaseOf(ref)).toBe('starting')
      await kit.advance(1)
      const error = (await started) as { code: string; cause: unknown }
      expect(error.code).toBe('actor-initialization')
      expect(error.cause).toBeInstanceOf(StartTimeout)
      expect(kit.system.phaseOf(ref)).toBe('terminated')
      held.open()
      await kit.settle()
      expect(late).toMatchObject({ code: 'context-ended' })
      expect(kit.system.counts().active).toBe(0)
      await kit.end()
    },
  )

  test('is one deadline for all steps of a start together', async () => {
    const kit = createTestKit()
    const gates = [gate(), gate(), gate()]
    const ref = kit.system.spawn(
      setup<Msg>(async () => {
        await gates[0]!.promise
        return receive<Msg>(
          () => same,
          (_c, s) => (s.type === 'PreStart' ? gates[1]!.promise : s.type === 'PostStart' ? gates[2]!.promise : same),
        )
      }),
      { startTimeout: 100 },
    )
    for (const g of gates.slice(0, 2)) {
      await kit.advance(40)
      g.open()
    }
    await kit.advance(19)
    expect(kit.system.phaseOf(ref)).toBe('starting')
    await kit.advance(1)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })

  test('a start that comes in time runs on undisturbed when the deadline passes', async () => {
    const kit = createTestKit()
    const held = gate()
    const ref = kit.system.spawn(
      setup<Msg>(async () => {
        await held.promise
        return receive<Msg>(() => same)
      }),
      { startTimeout: 100 },
    )
    await kit.advance(50)
    held.open()
    await kit.advance(1000)
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })

  test('during a restart it is a failure as any other', async () => {
    const kit = createTestKit()
    let starts = 0
    const ref = kit.system.spawn(
      setup<Msg>(async (ctx) => {
        starts++
        if (ctx.incarnation === 1) await new Promise(() => {})
        return receive<Msg>(() => same)
      }),
      { startTimeout: 100, supervision: often },
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.advance(100)
    expect(starts).toBe(3)
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })
})

describe('stopTimeout', () => {
  const stubborn = (log: string[], place: Signal['type'] | 'message', name = 'child'): Behavior<Msg> =>
    receive<Msg>(
      () => (place === 'message' ? new Promise<void>(() => {}) : same),
      (_c, s) => {
        if (s.type === 'PreStop' || s.type === 'PostStop' || s.type === 'PreRestart') log.push(`${name}:${s.type}`)
        return s.type === place ? new Promise<void>(() => {}) : same
      },
    )

  test.each([
    ['message', 'killed', ['child:PostStop']],
    ['PreStop', 'killed', ['child:PreStop', 'child:PostStop']],
    ['PostStop', 'normal', ['child:PreStop', 'child:PostStop']],
  ] as const)('a stop that a %s holds up goes on without it after stopTimeout, and ends %s', async (place, reason, seen) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(stubborn(log, place), { stopTimeout: 100 })
    const end = kit.system.whenTerminated(ref)
    ref.tell(say('hang'))
    await kit.settle()
    ref.stop()
    await kit.advance(99)
    expect(kit.system.phaseOf(ref)).toBe('stopping')
    await kit.advance(1)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect((await end).reason).toBe(reason)
    expect(log).toEqual(seen)
    await kit.end()
  })

  test.each([
    ['message', ['child:PreRestart', 'child:PostStop']],
    ['PreRestart', ['child:PreRestart', 'child:PostStop']],
    ['PostStop', ['child:PreRestart', 'child:PostStop']],
  ] as const)('a restart that a %s holds up goes on without it after stopTimeout', async (place, seen) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(stubborn(log, place), { stopTimeout: 100 })
    ref.tell(say('hang'))
    await kit.settle()
    kit.system.restart(ref)
    await kit.advance(99)
    expect(kit.system.phaseOf(ref)).toBe('restarting')
    await kit.advance(1)
    expect((await kit.system.inspect(ref)).incarnation).toBe(1)
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(log).toEqual(seen)
    await kit.end()
  })

  test.each(['waits for stopTimeout', 'is killed'])('a stop that the handler of a ChildStopped holds up %s and goes on', async (how) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.spawn(keeper())
        ctx.spawn(keeper())
        return receive<Msg>(
          () => same,
          (_c, s) => {
            if (s.type === 'ChildStopped' || s.type === 'PostStop') log.push(s.type)
            return s.type === 'ChildStopped' ? new Promise<void>(() => {}) : same
          },
        )
      }),
      { stopTimeout: 100 },
    )
    await kit.settle()
    ref.stop()
    await kit.advance(99)
    expect(log).toEqual(['ChildStopped'])
    if (how === 'is killed') {
      kit.system.kill(ref)
      await kit.settle()
    } else await kit.advance(1) // One deadline for both: the second is not waited for any more.
    expect(log).toEqual(['ChildStopped', 'ChildStopped', 'PostStop'])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })

  test('a child that is not done by its parent’s deadline is killed, alone; the parent waits for every child', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const reasons: string[] = []
    const parent = kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.spawn(stubborn(log, 'PreStop', 'slow'), { name: 'slow', stopTimeout: 300 })
        ctx.spawn(stubborn(log, 'ReceiveTimeout', 'good'), { name: 'good' })
        return receive<Msg>(
          () => same,
          (_c, s) => {
            if (s.type === 'ChildStopped') reasons.push(`${s.child.path} ${s.reason}`)
            if (s.type === 'PostStop') log.push('parent:PostStop')
            return same
          },
        )
      }),
      { name: 'parent', stopTimeout: 100 },
    )
    await kit.settle()
    parent.stop()
    await kit.advance(99)
    expect(kit.system.phaseOf(parent)).toBe('stopping')
    await kit.advance(1)
    expect(kit.system.phaseOf(parent)).toBe('terminated')
    expect(reasons).toEqual(['/user/parent/good shutdown', '/user/parent/slow killed'])
    expect(log.slice(-2)).toEqual(['slow:PostStop', 'parent:PostStop'])
    expect(log.slice(0, -2).toSorted()).toEqual(['good:PostStop', 'good:PreStop', 'slow:PreStop'])
    expect((await kit.system.whenTerminated(parent)).reason).toBe('normal')
    await kit.end()
  })
})

test('an actor that is spawned with `stopped` ends at once, normally: whoever watches hears of it, and its messages are dead letters', async () => {
  const kit = createTestKit()
  const heard: Signal[] = []
  const ref = kit.system.spawn(stopped, { name: 'brief' })
  kit.system.spawn(
    setup<never>(
      (ctx) => {
        ctx.watch(ref)
        ctx.spawn(withOptions(stopped, { name: 'child' }))
        return empty
      },
      (_ctx, signal) => {
        heard.push(signal)
        return same
      },
    ),
  )
  ref.tell('lost')
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(await kit.system.whenTerminated(ref)).toMatchObject({ reason: 'normal' })
  expect(heard.filter((s) => s.type === 'Terminated' || s.type === 'ChildStopped')).toMatchObject([
    { type: 'Terminated', ref, reason: 'normal' },
    { type: 'ChildStopped', reason: 'normal' },
  ])
  expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'lost', reason: 'stopped' }])
  // The name is free again.
  kit.system.spawn(empty, { name: 'brief' })
  for (const node of [same, unhandled])
    expect(() => kit.system.spawn(node)).toThrow(/spawn was given .* Use receive\(…\), setup\(…\) or stopped; same and unhandled/)
  await kit.end()
})
