// A signal handler given to `setup` is for the incarnation: it hears what the present behavior does not handle, whatever
// that has become.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  Actor,
  type ActorContext,
  type ActorRef,
  type Behavior,
  behaviorOfClass,
  child,
  fsm,
  ignore,
  match,
  passivate,
  receive,
  same,
  setup,
  type Signal,
  type SignalHandler,
  stopped,
  supervise,
  supervisor,
  unhandled,
} from '@troupe/core'
import { gate, quick } from './keeper.ts'

type Msg = 'plain' | 'own' | 'setup' | 'fail' | 'watch' | 'child'

/** Notes each signal as `who type`, and answers as told. */
const notes =
  (log: string[], who: string, answer: (s: Signal) => ReturnType<SignalHandler<Msg>> = () => same): SignalHandler<Msg> =>
  (_ctx, s) => {
    log.push(`${who} ${s.type}`)
    return answer(s)
  }

const failing = supervise({ backoff: quick, limit: { restarts: 9, within: 1000 } })

/** Runs through start, `steps`, a restart if one of them fails, and the stop. */
async function live(kit: TestKit, behavior: Behavior<Msg>, ...steps: Msg[]): Promise<void> {
  const ref = kit.system.spawn(behavior, { name: 'it', supervision: failing })
  for (const step of steps) {
    ref.tell(step)
    await kit.settle()
  }
  await kit.settle()
  ref.stop()
  await kit.advance(100)
  await kit.end()
}

describe('a handler given to setup', () => {
  test.each(['as second argument', 'by onSignal'])('%s hears every signal of a behavior that has none', async (how) => {
    const kit = createTestKit()
    const log: string[] = []
    const init = (): Behavior<Msg> =>
      receive<Msg>((_c, m) => {
        if (m === 'fail') throw new Error('fail')
        return same
      })
    await live(kit, how === 'by onSignal' ? setup(init).onSignal(notes(log, 'h')) : setup(init, notes(log, 'h')), 'fail')
    expect(log.map((l) => l.slice(2))).toEqual([
      'PreStart',
      'PostStart',
      'PreRestart',
      'PostStop',
      'PreStart',
      'PostStart',
      'PostRestart',
      'PreStop',
      'PostStop',
    ])
  })

  test('does not take the place of the one inside: it hears what that leaves unhandled', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const inner = notes(log, 'inner', (s) => (s.type === 'PostStart' || s.type === 'PostStop' ? same : unhandled))
    await live(kit, setup<Msg>(() => receive<Msg>(() => same, inner)).onSignal(notes(log, 'outer')))
    expect(log).toEqual(['inner PreStart', 'outer PreStart', 'inner PostStart', 'inner PreStop', 'outer PreStop', 'inner PostStop'])
  })

  test('stays when a message makes the behavior another, with a handler or without', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const plain: Behavior<Msg> = receive((_c, m) => (m === 'own' ? own : same))
    const own: Behavior<Msg> = receive(
      (_c, m) => (m === 'plain' ? plain : same),
      notes(log, 'own', () => unhandled),
    )
    await live(
      kit,
      setup(() => plain, notes(log, 'h')),
      'own',
      'plain',
    )
    expect(log).toEqual(['h PreStart', 'h PostStart', 'h PreStop', 'h PostStop'])
  })

  test('of nested setups hears after those inside it', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const left = (s: Signal): Behavior<unknown> => (s.type === 'PostStop' ? same : unhandled)
    const deepest = setup<Msg>(async () => receive<Msg>(() => same), notes(log, 'c', left))
    const deeper = setup<Msg>(() => setup<Msg>(() => deepest), notes(log, 'b', left))
    await live(
      kit,
      setup(() => deeper, notes(log, 'a')),
    )
    expect(log).toEqual(
      ['c', 'b', 'a']
        .flatMap((who) => `${who} PreStart`)
        .concat(['c PostStart', 'b PostStart', 'a PostStart'], ['c PreStop', 'b PreStop', 'a PreStop'], ['c PostStop']),
    )
  })

  test('that a message handler returned takes the place of one returned before, and stands in front of the first', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let n = 0
    const next = (): Behavior<Msg> => {
      const who = `later${++n}`
      return setup<Msg>(
        () => running,
        notes(log, who, () => unhandled),
      )
    }
    const running: Behavior<Msg> = receive<Msg>((_c, m) => {
      if (m === 'setup') return next()
      if (m === 'plain') return setup<Msg>(() => running)
      if (m === 'fail') throw new Error('fail')
      return same
    })
    await live(
      kit,
      setup(() => running, notes(log, 'first')),
      'setup',
      'setup',
      'plain',
      'fail',
    )
    expect(log).toEqual([
      'first PreStart',
      'first PostStart',
      'later2 PreRestart',
      'first PreRestart',
      'later2 PostStop',
      'first PostStop',
      // The next incarnation begins with what spawn was given.
      'first PreStart',
      'first PostStart',
      'first PostRestart',
      'first PreStop',
      'first PostStop',
    ])
  })

  test('handles for the actor: what it returns is followed, and what it throws is a failure', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const end = kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.setReceiveTimeout(5)
        return ignore
      }).onSignal((_c, s) => (s.type === 'ReceiveTimeout' ? stopped : unhandled)),
    )
    const fails = kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.setReceiveTimeout(5)
        log.push(`begins ${ctx.incarnation}`)
        return ignore
      }).onSignal((c, s) => {
        if (s.type === 'ReceiveTimeout' && c.incarnation === 0) throw new Error('silence')
        return s.type === 'ReceiveTimeout' ? receive<Msg>((_c, m) => void log.push(m)) : unhandled
      }),
      { supervision: failing },
    )
    await kit.advance(20)
    expect(kit.system.phaseOf(end)).toBe('terminated')
    fails.tell('own')
    await kit.settle()
    expect(log).toEqual(['begins 0', 'begins 1', 'own'])
    await kit.end()
  })

  test('of an incarnation that never came up hears nothing', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const broken = setup<Msg>(
      () => {
        throw new Error('no start')
      },
      notes(log, 'h'),
    )
    kit.system.spawn(broken)
    kit.system.spawn(setup<Msg>(() => stopped, notes(log, 'h')))
    await kit.advance(100)
    expect(log).toEqual([])
    await kit.end()
  })
})

describe('Terminated', () => {
  const watching = (handler: SignalHandler<Msg> | undefined, outer: SignalHandler<Msg>, deathPact: boolean): Behavior<Msg> =>
    setup<Msg>((ctx) => {
      const other = ctx.spawn(receive<string>(() => stopped))
      ctx.watch(other, { deathPact })
      other.tell('end')
      return receive<Msg>(() => same, handler)
    }).onSignal(outer)
  const unheard = (kit: TestKit): number => kit.logs.filter((l) => l.message === 'Terminated was not handled').length

  test.each([
    ['synchronously', (): typeof unhandled => unhandled],
    ['by a promise', async (): Promise<typeof unhandled> => unhandled],
  ])('that everybody left unhandled %s is logged once, and with a death pact a failure', async (_how, leave) => {
    for (const deathPact of [false, true]) {
      const kit = createTestKit()
      const ref = kit.system.spawn(watching(leave, leave, deathPact), { supervision: 'stop' })
      await kit.settle()
      expect(unheard(kit)).toBe(deathPact ? 0 : 1)
      expect(kit.system.phaseOf(ref)).toBe(deathPact ? 'terminated' : 'running')
      if (deathPact) expect((await kit.system.whenTerminated(ref)).cause).toMatchObject({ code: 'death-pact' })
      await kit.end()
    }
  })

  test.each([
    ['synchronously', (): typeof unhandled => unhandled],
    ['by a promise', async (): Promise<typeof unhandled> => unhandled],
  ])('that the setup handles, after the behavior left it %s, is neither', async (_how, leave) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      watching(
        leave,
        notes(log, 'h', async () => same),
        true,
      ),
    )
    await kit.settle()
    expect(log.filter((l) => l.includes('Terminated'))).toEqual(['h Terminated'])
    expect(unheard(kit)).toBe(0)
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })
})

describe('async handlers', () => {
  test('of a Terminated that a restart overtakes are neither asked further nor blamed', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const held = gate()
    const ref = kit.system.spawn(
      setup<Msg>(
        (ctx) => {
          if (ctx.incarnation === 0) {
            const other = ctx.spawn(receive<string>(() => stopped))
            ctx.watch(other, { deathPact: true })
            other.tell('end')
          }
          return receive<Msg>(
            () => same,
            (_c, s) => (s.type === 'Terminated' ? held.promise.then(() => unhandled) : unhandled),
          )
        },
        notes(log, 'h'),
      ),
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    held.open()
    await kit.advance(10)
    expect(log).not.toContain('h Terminated')
    expect(log.slice(-3)).toEqual(['h PreStart', 'h PostStart', 'h PostRestart'])
    expect(kit.logs).toEqual([])
    await kit.end()
  })

  test('that come to unhandled pass the signal on, in the actor’s own turn and one after the other', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const slowly =
      (who: string, answer: Behavior<unknown>): SignalHandler<Msg> =>
      async (ctx, s) => {
        log.push(`${who} ${s.type}`)
        await new Promise<void>((resolve) => void kit.system.sendAfter({ tell: resolve } as never, 5, undefined as never))
        // The context is still alive: nobody was cut off.
        log.push(`${who} ${s.type} ${String(ctx.self === self)}`)
        return answer
      }
    const self = kit.system.spawn(
      setup<Msg>(() => receive<Msg>(() => same, slowly('in', unhandled)), slowly('out', same)),
      { supervision: 'stop' },
    )
    await kit.advance(30)
    expect(kit.system.phaseOf(self)).toBe('running')
    self.stop()
    await kit.advance(30)
    expect(log).toEqual(
      ['PreStart', 'PostStart', 'PreStop', 'PostStop'].flatMap((s) => ['in', 'out'].flatMap((w) => [`${w} ${s}`, `${w} ${s} true`])),
    )
    expect(kit.system.phaseOf(self)).toBe('terminated')
    await kit.end()
  })

  test.each(['PreStart', 'PreStop', 'PostStop', 'PreRestart'] as const)('%s is bounded as a whole, however many hear it', async (which) => {
    const kit = createTestKit()
    const log: string[] = []
    const never = (): Promise<typeof same> => new Promise(() => {})
    const behavior = setup<Msg>(
      () =>
        receive<Msg>(
          (_c, m) => {
            if (m === 'fail') throw new Error('fail')
            return same
          },
          async () => unhandled,
        ),
      notes(log, 'h', (s) => (s.type === which ? never() : same)),
    )
    const ref = kit.system.spawn(behavior, { startTimeout: 50, stopTimeout: 50, supervision: failing })
    await kit.settle()
    if (which === 'PreRestart') ref.tell('fail')
    await kit.advance(60)
    ref.stop()
    await kit.advance(200)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(log).toContain(`h ${which}`)
    await kit.end()
  })

  test('a stop that comes while the first is pending does not let the others hear of a start', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const held = gate()
    const inner: SignalHandler<Msg> = (_c, s) => (s.type === 'PostStart' ? held.promise.then(() => unhandled) : unhandled)
    const ref = kit.system.spawn(setup(() => receive<Msg>(() => same, inner), notes(log, 'h')))
    await kit.settle()
    ref.stop()
    await kit.settle()
    held.open()
    await kit.settle()
    expect(log).toEqual(['h PreStart', 'h PreStop', 'h PostStop'])
    await kit.end()
  })

  test('that reject in the end fail the actor, or are counted in a stop', async () => {
    const kit = createTestKit()
    const behavior = setup<Msg>(
      () =>
        receive<Msg>(
          () => same,
          async () => unhandled,
        ),
      async (_c, s) => {
        if (s.type === 'PostStop') throw new Error('at the end')
        return same
      },
    )
    await live(kit, behavior)
    expect(kit.system.counts().supervision.failedEndSignals).toBe(1)
  })
})

describe('works through', () => {
  test('match, class actors, fsm, passivate and supervisor alike', async () => {
    const kit = createTestKit()
    const log: string[] = []
    class Plain extends Actor {
      override onStop(): void {
        log.push('class onStop')
      }
    }
    type Door = { type: 'push' }
    const door = fsm<{ shut: null }, Door>({ initial: ['shut', null], states: { shut: { on: (at) => at.stay() } } })
    const h =
      (who: string) =>
      (_ctx: unknown, s: Signal): typeof same => {
        log.push(`${who} ${s.type}`)
        return same
      }
    const all: Record<string, Behavior<never>> = {
      match: setup<Door>(() => match<Door>({ push: () => same })).onSignal(h('match')),
      class: behaviorOfClass(Plain).onSignal(h('class')),
      fsm: door.onSignal(h('fsm')),
      passivate: passivate(setup<Door>(() => ignore).onSignal(h('passivate')), { after: 1000 }),
      supervisor: supervisor({ children: [child('a', ignore)] }).onSignal(h('supervisor')),
    }
    for (const [name, behavior] of Object.entries(all)) {
      const ref = kit.system.spawn(behavior as Behavior<Door>, { name })
      await kit.settle()
      ref.stop()
      await kit.settle()
      const heard = log.splice(0)
      const ends = name === 'class' ? ['class onStop'] : [`${name} PostStop`]
      const kin = name === 'supervisor' ? ['supervisor ChildStopped'] : []
      expect(heard.filter((l) => l !== kin[0])).toEqual([`${name} PreStart`, `${name} PostStart`, `${name} PreStop`, ...ends])
    }
    await kit.end()
  })

  test('a supervisor with a handler of its own stays a supervisor: its children stop before it is told of its end', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const kid = receive<string>(
      () => same,
      (_c, s) => void (s.type === 'PostStop' && log.push('kid')),
    )
    const inner = supervisor({ children: [child('kid', kid)] }).onSignal((_c, s) => void (s.type === 'PreStop' && log.push('PreStop')))
    const outer = kit.system.spawn(supervisor({ children: [child('inner', inner)] }), { name: 'outer' })
    await kit.settle()
    expect((kit.system.find('/user/outer/inner/kid') as ActorRef<string>).path).toBe('/user/outer/inner/kid')
    outer.stop()
    await kit.settle()
    expect(log).toEqual(['kid', 'PreStop'])
    await kit.end()
  })

  test('the handler’s context is that of the incarnation it hears for', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const contexts: ActorContext<Msg>[] = []
    const behavior = setup<Msg>(
      (ctx) => {
        contexts.push(ctx)
        return receive<Msg>((_c, m) => {
          if (m === 'fail') throw new Error('fail')
          return same
        })
      },
      (ctx, s) => void (s.type === 'PostStop' && seen.push(ctx === contexts.at(-1))),
    )
    await live(kit, behavior, 'fail')
    expect(seen).toEqual([true, true])
  })
})
