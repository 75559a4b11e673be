// Failures outside of a message handler, and while unstashing: BEHAVIOURS 10 and 11.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, type Behavior, NotABehavior, receive, same, setup, type Signal, StashOverflow } from '@troupe/core'
import { boom, keeper, type Msg, often, say } from './keeper.ts'

describe('10. failures while unstashing', () => {
  type Stashing = Msg | { type: 'open' }
  const gatekeeper = (log: string[]): Behavior<Stashing> =>
    setup<Stashing>((ctx) => {
      const open: Behavior<Stashing> = receive<Stashing>((_c, m) => {
        if (m.type === 'boom') throw m.cause
        if (m.type === 'say') log.push(m.word)
        return same
      })
      if (ctx.incarnation > 0) return open
      return receive<Stashing>((c, m) => {
        if (m.type === 'open') {
          c.stash.unstashAll()
          return open
        }
        c.stash.add(m)
        return same
      })
    })

  test('the failure of a handler while unstashing loses none of the rest of the stash, also on a second failure', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(gatekeeper(log), { supervision: often })
    for (const m of [say('a'), boom(), say('b'), boom(), say('c')]) ref.tell(m)
    ref.tell({ type: 'open' })
    ref.tell(say('after'))
    await kit.settle()
    expect(log).toEqual(['a', 'b', 'c', 'after'])
    expect(await kit.checkLedger()).toMatchObject({ failed: 2, stashed: 0, queued: 0 })
    await kit.end()
  })

  test('a stash that was not yet unstashed survives the restart', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      receive<Stashing>((c, m) => {
        if (m.type === 'boom') throw m.cause
        if (m.type === 'open') c.stash.unstashAll()
        else if (c.incarnation === 0) c.stash.add(m)
        else if (m.type === 'say') log.push(m.word)
        return same
      }),
      { supervision: often },
    )
    for (const m of [say('a'), say('b'), boom()]) ref.tell(m)
    await kit.settle()
    expect((await kit.system.inspect(ref)).stashed).toBe(2)
    ref.tell({ type: 'open' })
    await kit.settle()
    expect(log).toEqual(['a', 'b'])
    await kit.end()
  })

  test('a stash that overflows with error is a failure of the actor and loses nothing that it held', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<Stashing>((c, m) => {
        c.stash.add(m)
        return same
      }),
      { stash: { capacity: 2 }, supervision: 'resume' },
    )
    for (const word of ['a', 'b', 'c']) ref.tell(say(word))
    await kit.settle()
    expect(kit.logs.find((l) => l.level === 'error')?.fields['cause']).toBeInstanceOf(StashOverflow)
    expect(await kit.checkLedger()).toMatchObject({ stashed: 2, failed: 1 })
    await kit.end()
  })
})

describe('11. throws elsewhere', () => {
  test('a throw in an adapter goes through supervision, with the foreign message', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let adapter!: ActorRef<number>
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        log.push(`setup ${ctx.incarnation}`)
        if (ctx.incarnation === 0)
          adapter = ctx.adapt((n: number): Msg => {
            if (n === 13) throw new Error('unlucky')
            return say(String(n))
          })
        return receive<Msg>((_c, m) => {
          if (m.type === 'say') log.push(m.word)
          return same
        })
      }),
      { supervision: often },
    )
    await kit.settle()
    adapter.tell(1)
    adapter.tell(13)
    await kit.settle()
    expect(log).toEqual(['setup 0', '1', 'setup 1'])
    expect(kit.logs.at(-1)!.fields).toMatchObject({ actor: ref.path, cause: new Error('unlucky'), message: 'number', directive: 'restart' })
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })

  test('a throw in an adapter of a reentrant actor is accounted for as one failed message', async () => {
    const kit = createTestKit()
    let adapter!: ActorRef<number>
    kit.system.spawn(
      setup<Msg>((ctx) => {
        adapter = ctx.adapt((): Msg => {
          throw new Error('unlucky')
        })
        return receive<Msg>(() => same)
      }),
      { supervision: 'resume', reentrant: true },
    )
    await kit.settle()
    adapter.tell(13)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ failed: 1, inProgress: 0 })
    await kit.end()
  })

  test('a guard that throws refuses the message, and does not harm the actor', async () => {
    const kit = createTestKit()
    const validate = (): never => {
      throw new Error('bad guard')
    }
    const ref = kit.system.spawn(keeper(), { accepts: { '~standard': { version: 1, vendor: 'test', validate } } })
    const asked = ref.ask({ type: 'get' }).catch((error: unknown) => error)
    await kit.settle()
    expect(await asked).toMatchObject({ code: 'ask-refused', message: expect.stringContaining('bad guard') as string })
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(await kit.checkLedger()).toMatchObject({ deadLettered: 1, inProgress: 0 })
    await kit.end()
  })

  test.each(['Terminated', 'ChildStopped', 'ChildFailed', 'ReceiveTimeout'] as const)(
    'a throw in onSignal of %s goes through supervision',
    async (type) => {
      const kit = createTestKit()
      const incarnations: number[] = []
      const cause = new Error(`bad ${type}`)
      const ref = kit.system.spawn(
        setup<Msg>((ctx) => {
          incarnations.push(ctx.incarnation)
          if (ctx.incarnation === 0) {
            const child = ctx.spawn(keeper(), { supervision: 'stop' })
            ctx.watch(child)
            if (type === 'ReceiveTimeout') ctx.setReceiveTimeout(100)
            else child.tell(boom())
          }
          return receive<Msg>(
            () => same,
            (c, s) => {
              if (s.type === type && c.incarnation === 0) throw cause
              return same
            },
          )
        }),
        { supervision: often },
      )
      await kit.advance(150)
      expect(incarnations).toEqual([0, 1])
      expect(kit.system.phaseOf(ref)).toBe('running')
      expect(kit.logs.some((l) => l.fields['cause'] === cause && l.fields['directive'] === 'restart')).toBe(true)
      await kit.end()
    },
  )

  test('an async signal handler that rejects goes through supervision too', async () => {
    const kit = createTestKit()
    const incarnations: number[] = []
    kit.system.spawn(
      setup<Msg>((ctx) => {
        incarnations.push(ctx.incarnation)
        if (ctx.incarnation === 0) ctx.spawn(keeper(), { supervision: 'stop' }).tell(boom())
        return receive<Msg>(
          () => same,
          (_c, s) => (s.type === 'ChildStopped' ? Promise.reject(new Error('late')) : same),
        )
      }),
      { supervision: often },
    )
    await kit.settle()
    expect(incarnations).toEqual([0, 1])
    await kit.end()
  })

  for (const late of [false, true]) {
    const how = late ? 'A rejection' : 'A throw'
    const throwing = (type: Signal['type'], log: string[]): Behavior<Msg> =>
      receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        },
        (_c, s) => {
          log.push(s.type)
          if (s.type !== type) return same
          if (late) return Promise.reject(new Error(`bad ${type}`))
          throw new Error(`bad ${type}`)
        },
      )

    test.each(['PreStop', 'PostStop'] as const)(`${how} in %s is logged and counted; the stop goes on`, async (type) => {
      const kit = createTestKit()
      const log: string[] = []
      const ref = kit.system.spawn(throwing(type, log))
      await kit.settle()
      ref.stop()
      await kit.settle()
      expect(log).toEqual(['PreStart', 'PostStart', 'PreStop', 'PostStop'])
      expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'normal', cause: undefined })
      expect(kit.logs.map((l) => [l.level, l.fields['signal'], l.fields['actor']])).toEqual([['error', type, ref.path]])
      expect(kit.system.counts().supervision.failedEndSignals).toBe(1)
      await kit.end()
    })

    test.each(['PreRestart', 'PostStop'] as const)(`${how} in %s is logged and counted; the restart goes on`, async (type) => {
      const kit = createTestKit()
      const log: string[] = []
      const ref = kit.system.spawn(throwing(type, log), { supervision: often })
      ref.tell(boom())
      await kit.settle()
      expect(kit.system.phaseOf(ref)).toBe('running')
      expect(log).toEqual(['PreStart', 'PostStart', 'PreRestart', 'PostStop', 'PreStart', 'PostStart', 'PostRestart'])
      expect(kit.system.counts().supervision).toMatchObject({ failedEndSignals: 1, restarts: 1 })
      await kit.end()
    })
  }

  test('what a handler returns that is no behavior is a failure', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<Msg>((_c, m) => (m.type === 'say' ? (m.word as never) : same)),
      { supervision: 'stop' },
    )
    ref.tell(say('nonsense'))
    await kit.settle()
    expect((await kit.system.whenTerminated(ref)).cause).toBeInstanceOf(NotABehavior)
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })
})
