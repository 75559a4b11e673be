// Every stop ends, whatever the actor was about: BEHAVIOURS 28.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type AnyRef, receive, same, setup, type Signal, stopped, supervise } from '@troupe/core'
import { boom, gate, keeper, type Msg, quick, say } from './keeper.ts'
import { type Slow, waiter } from './waiter.ts'

describe('28. a stop always ends terminated', () => {
  type Stage = (kit: TestKit, until: Promise<void>) => Promise<AnyRef>
  const pendingIn =
    (type: Signal['type'], restarts: boolean): Stage =>
    async (kit, until) => {
      const ref = kit.system.spawn(
        receive<Slow>(
          () => same,
          (c, s) => (s.type === type && c.incarnation === 0 ? until : same),
        ),
      )
      await kit.settle()
      if (restarts) kit.system.restart(ref)
      await kit.settle()
      return ref
    }
  const stages: Readonly<Record<string, Stage>> = {
    'its first turn is still to come': (kit) => Promise.resolve(kit.system.spawn(keeper())),
    'its setup is pending': async (kit, until) => {
      const ref = kit.system.spawn(setup<Msg>(() => until.then(() => keeper())))
      await kit.settle()
      return ref
    },
    'its PreStart is pending': pendingIn('PreStart', false),
    'its PostStart is pending': pendingIn('PostStart', false),
    'its handler is pending': async (kit, until) => {
      const ref = kit.system.spawn(waiter([]))
      ref.tell({ type: 'wait', until })
      await kit.settle()
      return ref
    },
    'it is suspended': async (kit) => {
      const ref = kit.system.spawn(keeper())
      kit.system.suspend(ref, 'a test')
      await kit.settle()
      return ref
    },
    'its PreRestart is pending': pendingIn('PreRestart', true),
    'its PostStop for a restart is pending': pendingIn('PostStop', true),
    'it waits for a handler to restart': async (kit, until) => {
      const ref = kit.system.spawn(waiter([]))
      ref.tell({ type: 'wait', until })
      await kit.settle()
      kit.system.restart(ref)
      await kit.settle()
      return ref
    },
    'it waits for its children to restart': async (kit, until) => {
      const ref = kit.system.spawn(
        setup<Msg>((ctx) => {
          if (ctx.incarnation === 0)
            ctx.spawn(
              receive<Msg>(
                () => same,
                (_c, s) => (s.type === 'PreStop' ? until : same),
              ),
            )
          return receive<Msg>(() => same)
        }),
      )
      await kit.settle()
      kit.system.restart(ref)
      await kit.settle()
      return ref
    },
    'it waits for its backoff': async (kit) => {
      const ref = kit.system.spawn(keeper(), { supervision: supervise({ backoff: { min: 1000 } }) })
      ref.tell(boom())
      await kit.settle()
      return ref
    },
    'its second setup is pending': async (kit, until) => {
      const ref = kit.system.spawn(
        setup<Msg>((ctx) => (ctx.incarnation === 0 ? keeper() : until.then(() => keeper()))),
        { supervision: supervise({ backoff: quick }) },
      )
      ref.tell(boom())
      await kit.settle()
      return ref
    },
    'a behavior that it became is still setting up': async (kit, until) => {
      const ref = kit.system.spawn(receive<Msg>(() => setup<Msg>(() => until.then(() => keeper()))))
      ref.tell(say('become'))
      await kit.settle()
      return ref
    },
  }
  const rows = Object.keys(stages).flatMap((stage) =>
    (['stop', 'kill'] as const).flatMap((verb) => (['settles', 'never settles'] as const).map((outcome) => ({ stage, verb, outcome }))),
  )
  test.each(rows)('told to $verb while $stage, which $outcome', async ({ stage, verb, outcome }) => {
    const kit = createTestKit()
    const held = gate()
    const ref = await stages[stage]!(kit, held.promise)
    expect(kit.system.phaseOf(ref)).not.toBe('terminated')
    const end = kit.system.whenTerminated(ref)
    kit.system[verb](ref)
    await kit.settle()
    if (outcome === 'settles') {
      held.open()
      await kit.settle()
    } else await kit.advance(20_000)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(['normal', 'killed']).toContain((await end).reason)
    expect(kit.system.counts().active).toBe(0)
    await kit.end()
  })

  test('also by the handler that was pending, or by the signal handler that hears of a child', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.spawn(keeper()).stop()
        return receive<Msg>(
          () => same,
          async (_c, s) => {
            await Promise.resolve()
            log.push(s.type)
            return s.type === 'ChildStopped' ? stopped : same
          },
        )
      }),
    )
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(log).toEqual(['PreStart', 'PostStart', 'ChildStopped', 'PreStop', 'PostStop'])
    await kit.end()
  })
})
