// How an actor ended, told to its parent, its watchers and whoever waits (BEHAVIOURS 62), and how its start is awaited.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, type Behavior, receive, same, setup, type Signal, stopped, supervise } from '@troupe/core'
import { boom, gate, keeper, type Msg, quick, say } from './keeper.ts'

describe('62. reasons', () => {
  type Cause = 'stopped' | 'ref.stop' | 'poison' | 'ctx.stop' | 'kill' | 'failure' | 'parent'
  const rows: readonly (readonly [Cause, string])[] = [
    ['stopped', 'normal'],
    ['ref.stop', 'normal'],
    ['poison', 'normal'],
    ['ctx.stop', 'normal'],
    ['kill', 'killed'],
    ['failure', 'failure'],
    ['parent', 'shutdown'],
  ]
  test.each(rows)('a parent hears ChildStopped without watching, and a watcher Terminated: %s is %s', async (how, reason) => {
    const kit = createTestKit()
    const heard: string[] = []
    let child!: ActorRef<Msg>
    const note = (who: string) => (_c: unknown, s: Signal) => {
      if (s.type === 'ChildStopped' || s.type === 'Terminated')
        heard.push(`${who} ${s.type} ${s.reason} ${typeof s.cause === 'string' ? s.cause : ''}`.trim())
      return same
    }
    const parent = kit.system.spawn(
      setup<Msg>((ctx) => {
        child = ctx.spawn(
          receive<Msg>((_c, m) => {
            if (m.type === 'boom') throw m.cause
            return stopped
          }),
          { supervision: 'stop' },
        )
        return receive<Msg>((c) => {
          c.stop(child)
          return same
        }, note('parent'))
      }),
    )
    await kit.settle()
    kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.watch(child)
        return receive<Msg>(() => same, note('watcher'))
      }),
    )
    await kit.settle()
    const end = kit.system.whenTerminated(child)
    if (how === 'stopped') child.tell(say('stop'))
    else if (how === 'ref.stop') child.stop()
    else if (how === 'poison') child.stop({ after: 'queued' })
    else if (how === 'ctx.stop') parent.tell(say('stop it'))
    else if (how === 'kill') kit.system.kill(child)
    else if (how === 'failure') child.tell(boom('cause'))
    else parent.stop()
    await kit.settle()
    const suffix = how === 'failure' ? ' cause' : ''
    expect(heard.toSorted()).toEqual([`parent ChildStopped ${reason}${suffix}`, `watcher Terminated ${reason}${suffix}`])
    expect((await end).reason).toBe(reason)
    await kit.end()
  })

  test('shutdown of the system ends everybody with shutdown', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper())
    await kit.settle()
    const end = kit.system.whenTerminated(ref)
    await kit.end()
    expect((await end).reason).toBe('shutdown')
  })
})

describe('started and whenTerminated', () => {
  test('started resolves once the actor runs, also for one that has run long since', async () => {
    const kit = createTestKit()
    const held = gate()
    let up = false
    const ref = kit.system.spawn(
      setup<Msg>(async () => {
        await held.promise
        return receive<Msg>(() => same)
      }),
    )
    const started = kit.system.started(ref).then(() => (up = true))
    await kit.settle()
    expect(up).toBe(false)
    held.open()
    await kit.settle()
    expect(up).toBe(true)
    await started
    await kit.system.started(ref)
    await kit.end()
  })

  test.each([true, false])(
    'started rejects for one that is stopped before it came up, asked before and after; in its first turn: %s',
    async (early) => {
      const kit = createTestKit()
      const ref = kit.system.spawn(setup<Msg>(() => new Promise<Behavior<Msg>>(() => {})))
      const started = kit.system.started(ref).catch((error: unknown) => error)
      if (!early) await kit.settle()
      kit.system.kill(ref)
      await kit.settle()
      const never = { code: 'actor-initialization', cause: { code: 'cancelled' } }
      expect(await started).toMatchObject(never)
      await expect(kit.system.started(ref)).rejects.toMatchObject(never)
      expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'killed', cause: undefined })
      await kit.end()
    },
  )

  test('started resolves for one that ran and has ended, however its last start went', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        if (ctx.incarnation > 0) throw new Error('bad restart')
        return keeper()
      }),
      { supervision: 'stop' },
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.system.started(ref)
    await kit.end()
  })

  test('a setup that returns stopped ends normally and never runs', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(setup<Msg>(() => stopped))
    await kit.settle()
    expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'normal', cause: undefined })
    await kit.end()
  })

  test('whenTerminated resolves, before and after the end, with the same reason', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: supervise({ decide: () => 'stop', backoff: quick }) })
    const before = kit.system.whenTerminated(ref)
    const cause = new Error('boom')
    ref.tell(boom(cause))
    await kit.settle()
    expect(await before).toEqual({ reason: 'failure', cause })
    expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'failure', cause })
    await kit.end()
  })
})
