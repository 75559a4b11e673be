// What Pekko's suites of behaviors, contexts, guardians and stops state and Troupe promises too, where no other test of this
// package has it. Each case: see facts.ts.

import { expect } from 'vitest'
import {
  type ActorContext,
  ActorSystem,
  type ActorRef,
  type AnyRef,
  type Behavior,
  ignore,
  receive,
  same,
  setup,
  type Signal,
  stopped,
  supervise,
  unhandled,
} from '@troupe/core'
import { quick } from '../keeper.ts'
import { fact } from './fact.ts'

type Do = (ctx: ActorContext<Do>) => Behavior<Do> | void

/** Does what it is told, and notes the signals that it hears under its name. */
const doer = (name: string, log: string[]): Behavior<Do> =>
  receive<Do>(
    (ctx, act) => act(ctx) ?? same,
    (_ctx, s: Signal) => {
      log.push(`${name} ${s.type}`)
      return same
    },
  )

const often = supervise({ backoff: quick, limit: { restarts: 100, within: 1000 } })

for (const [title, end, heard] of [
  ['react to PostStop after swap', () => stopped, ['PreStop', 'PostStop']],
  [
    'react to PreRestart after swap',
    () => {
      throw new Error('boom')
    },
    ['PreRestart', 'PostStop'],
  ],
] as const)
  fact(`BehaviorSpec: ${title}`, `the behavior that an actor has become hears its end, and the first one does not (${heard[0]})`, async (kit) => {
    const log: string[] = []
    const ref = kit.system.spawn(doer('first', log), { supervision: often })
    ref.tell(() => doer('second', log))
    await kit.settle()
    log.length = 0
    ref.tell(end)
    await kit.settle()
    expect(log.slice(0, 2)).toEqual(heard.map((type) => `second ${type}`))
  })

fact(
  'BehaviorSpec: react to Terminated after swap',
  'a Terminated reaches the behavior that the actor has become, and the next message too',
  async (kit) => {
    const log: string[] = []
    const target = kit.system.spawn(ignore)
    const ref = kit.system.spawn(doer('first', log))
    ref.tell((ctx) => {
      ctx.watch(target)
      return doer('second', log)
    })
    await kit.settle()
    target.stop()
    ref.tell(() => void log.push('message'))
    await kit.settle()
    expect(log.filter((line) => line.includes('Terminated') || line === 'message').sort()).toEqual(['message', 'second Terminated'])
  },
)

for (const [title, outcome] of [
  ['react to a message after missing one', unhandled],
  ['must react to a message after ignoring one', same],
] as const)
  fact(
    `BehaviorSpec: ${title}`,
    `an actor keeps its state over a message that it ${outcome === same ? 'ignores' : 'does not understand'}`,
    async (kit) => {
      const seen: number[] = []
      const counting = (n: number): Behavior<string> =>
        receive<string>((_ctx, m) => {
          if (m !== 'count') return outcome
          seen.push(n)
          return counting(n + 1)
        })
      const ref = kit.system.spawn(counting(0))
      for (const m of ['count', 'what?', 'count']) ref.tell(m)
      await kit.settle()
      expect(seen).toEqual([0, 1])
      expect((await kit.system.ledger()).unhandled).toBe(outcome === same ? 0 : 1)
    },
  )

fact('BehaviorSpec: must switch back to state A', 'an actor becomes another behavior and comes back to the one before', async (kit) => {
  const seen: string[] = []
  const swapping = (name: string, other: () => Behavior<string>): Behavior<string> =>
    receive<string>((_ctx, m) => {
      if (m === 'swap') return other()
      seen.push(name)
      return same
    })
  const a = (): Behavior<string> => swapping('a', b)
  const b = (): Behavior<string> => swapping('b', a)
  const ref = kit.system.spawn(a())
  for (const m of ['look', 'swap', 'look', 'swap', 'look']) ref.tell(m)
  await kit.settle()
  expect(seen).toEqual(['a', 'b', 'a'])
})

fact('BehaviorSpec: must be reusable', 'one behavior serves many actors, each with the state of its own setup', async (kit) => {
  const counter = setup<{ type: 'next'; replyTo: ActorRef<number> }>(() => {
    let n = 0
    return receive((_ctx, m) => {
      m.replyTo.tell(n++)
      return same
    })
  })
  const [x, y] = [kit.system.spawn(counter), kit.system.spawn(counter)]
  expect([await kit.until(x.ask({ type: 'next' })), await kit.until(x.ask({ type: 'next' })), await kit.until(y.ask({ type: 'next' }))]).toEqual([
    0, 1, 0,
  ])
})

fact('DeferredSpec: must create underlying when nested', 'setups inside each other run from the outermost to the innermost, once', async (kit) => {
  const log: string[] = []
  const nested = (names: readonly string[]): Behavior<string> =>
    names.length === 0
      ? receive<string>((_ctx, m) => {
          log.push(m)
          return same
        })
      : setup<string>(() => {
          log.push(names[0]!)
          return nested(names.slice(1))
        })
  kit.system.spawn(nested(['outer', 'middle', 'inner'])).tell('message')
  await kit.settle()
  expect(log).toEqual(['outer', 'middle', 'inner', 'message'])
})

fact(
  'DeferredSpec: must not allow setup(same)',
  'a setup that returns same, or unhandled, fails the start: there is nothing that is the same',
  async (kit) => {
    for (const empty of [same, unhandled]) {
      const ref = kit.system.spawn(setup<string>(() => empty as Behavior<string>))
      await expect(kit.until(kit.system.started(ref))).rejects.toMatchObject({ code: 'actor-initialization', cause: { code: 'not-a-behavior' } })
    }
  },
)

fact('ActorContextSpec: not stop non-child actor', 'an actor cannot stop one that is not its child', async (kit) => {
  const log: string[] = []
  const stranger = kit.system.spawn(ignore)
  const ref = kit.system.spawn(doer('actor', log))
  let thrown: unknown
  ref.tell((ctx) => {
    try {
      ctx.stop(stranger)
    } catch (cause) {
      thrown = cause
    }
  })
  await kit.settle()
  expect(thrown).toMatchObject({ code: 'not-allowed' })
  expect(kit.system.phaseOf(stranger)).toBe('running')
})

fact('ActorContextSpec: not have problems stopping already stopped child', 'stopping a child that has ended does nothing', async (kit) => {
  const log: string[] = []
  const ref = kit.system.spawn(doer('actor', log), { supervision: 'stop' })
  let child!: AnyRef
  ref.tell((ctx) => void (child = ctx.spawn(ignore)))
  for (let i = 0; i < 3; i++) {
    ref.tell((ctx) => ctx.stop(child))
    await kit.settle()
  }
  expect(kit.system.phaseOf(child)).toBe('terminated')
  expect(kit.system.phaseOf(ref)).toBe('running')
})

fact(
  'ActorContextSpec: return right info about children',
  'an actor lists its children, oldest first, and not those that have ended',
  async (kit) => {
    const ref = kit.system.spawn(doer('actor', []))
    const seen: (readonly AnyRef[])[] = []
    const look: Do = (ctx) => void seen.push([...ctx.children])
    ref.tell(look)
    ref.tell((ctx) => {
      ctx.spawn(ignore, { name: 'b' })
      ctx.spawn(ignore)
      ctx.spawn(ignore, { name: 'a' })
    })
    ref.tell(look)
    await kit.settle()
    ref.tell((ctx) => ctx.stop(ctx.children[0]))
    await kit.settle()
    ref.tell(look)
    await kit.settle()
    expect(seen.map((refs) => refs.length)).toEqual([0, 3, 2])
    expect([seen[1]![0]!.path.split('/').at(-1), seen[1]![2]!.path.split('/').at(-1), seen[2]!.at(-1)!.path.split('/').at(-1)]).toEqual([
      'b',
      'a',
      'a',
    ])
  },
)

fact('ActorContextSpec: return the right context info', 'a context names its actor, its path, its parent and its system', async (kit) => {
  const seen: unknown[] = []
  const ref = kit.system.spawn(
    setup<string>((ctx) => {
      seen.push(ctx.self, ctx.path, ctx.parent.path, ctx.system.name, ctx.incarnation)
      return ignore
    }),
    { name: 'me' },
  )
  await kit.settle()
  expect(seen).toEqual([ref, '/user/me', '/user', kit.system.name, 0])
})

fact('ActorContextSpec: restart and stop a child actor', 'a child that restarts is not gone for its parent; one that is stopped is', async (kit) => {
  const log: string[] = []
  const ref = kit.system.spawn(doer('parent', log))
  let child!: ActorRef<Do>
  ref.tell((ctx) => {
    child = ctx.spawn(doer('child', []), { supervision: often })
    ctx.watch(child)
  })
  await kit.settle()
  log.length = 0
  child.tell(() => {
    throw new Error('boom')
  })
  await kit.settle()
  expect(log).toEqual(['parent ChildFailed'])
  ref.tell((ctx) => ctx.stop(child))
  await kit.settle()
  expect(log.sort()).toEqual(['parent ChildFailed', 'parent ChildStopped', 'parent Terminated'])
})

fact('ActorContextSpec: schedule a message', 'what is scheduled for another actor comes when its time has come', async (kit) => {
  const probe = kit.probe<string>()
  kit.system.spawn(doer('actor', [])).tell((ctx) => ctx.timers.once('later', 100, 'now', { to: probe.ref }))
  await kit.advance(99)
  probe.expectNone()
  await kit.advance(1)
  probe.expect('now')
})

fact('ActorContextSpec: not allow null messages', 'null is a message as any other', async (kit) => {
  const seen: unknown[] = []
  const ref = kit.system.spawn(
    receive<null>((_ctx, m) => {
      seen.push(m)
      return same
    }),
  )
  ref.tell(null)
  await kit.settle()
  expect(seen).toEqual([null])
})

fact('GuardianStartupSpec: get a message sent to it early', 'a root handles what it was told before its first turn', async () => {
  const seen: string[] = []
  const system = ActorSystem.create('early', {
    root: receive<string>((_ctx, m) => {
      seen.push(m)
      return same
    }),
    logger: false,
  })
  system.root!.tell('early')
  await system.shutdown({ drain: true })
  expect(seen).toEqual(['early'])
})

fact(
  'GuardianStartupSpec: have its shutdown hook run on immediate shutdown (after start)',
  'a root that has started hears of its end, however soon that comes',
  async () => {
    const log: string[] = []
    const system = ActorSystem.create('brief', { root: doer('root', log), logger: false })
    await system.started(system.root!)
    await system.shutdown()
    expect(log).toEqual(['root PreStart', 'root PostStart', 'root PreStop', 'root PostStop'])
  },
)

fact(
  'GracefulStopSpec: properly stop the children and perform the cleanup',
  'an actor that returns stopped ends after its children have',
  async (kit) => {
    const log: string[] = []
    const ref = kit.system.spawn(doer('parent', log))
    ref.tell((ctx) => {
      ctx.spawn(doer('one', log))
      ctx.spawn(doer('two', log))
    })
    await kit.settle()
    log.length = 0
    ref.tell(() => stopped)
    await kit.settle()
    expect(log.filter((line) => line.endsWith('PostStop'))).toHaveLength(3)
    expect(log.at(-1)).toBe('parent PostStop')
  },
)

fact('StopSpec: execute the post stop when stopping after setup', 'PostStop runs once for an actor that stops in its first message', async (kit) => {
  const log: string[] = []
  const ref = kit.system.spawn(doer('actor', log))
  ref.tell(() => stopped)
  ref.tell(() => void log.push('too late'))
  await kit.settle()
  expect(log).toEqual(['actor PreStart', 'actor PostStart', 'actor PreStop', 'actor PostStop'])
  expect((await kit.system.ledger()).deadLettered).toBe(1)
})

fact('SpawnProtocolSpec: spawn child actor', 'an actor that spawns for others is asked for a child and answers with its ref', async (kit) => {
  type Spawn = { type: 'spawn'; name: string; replyTo: ActorRef<AnyRef> }
  const ref = kit.system.spawn(
    receive<Spawn>((ctx, m) => {
      m.replyTo.tell(ctx.spawn(ignore, { name: m.name }))
      return same
    }),
    { name: 'spawner' },
  )
  const child = await kit.until(ref.ask({ type: 'spawn', name: 'x' }))
  expect(child.path).toBe('/user/spawner/x')
})
