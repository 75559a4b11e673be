// What Pekko's suites of stash, timers, watching, questions, adapters, event stream, receptionist, routers and interceptors
// state and Troupe promises too, where no other test of this package has it. Each case: see facts.ts.

import { expect } from 'vitest'
import {
  type ActorRef,
  type AnyRef,
  AskTargetStopped,
  type Behavior,
  group,
  ignore,
  type Listing,
  type Middleware,
  pool,
  receive,
  receptionistOf,
  same,
  serviceKey,
  setup,
  stopped,
  supervise,
  swallow,
  unhandled,
} from '@troupe/core'
import { quick } from '../keeper.ts'
import { fact } from './fact.ts'

const often = supervise({ backoff: quick, limit: { restarts: 100, within: 1000 } })
const slowly = supervise({ backoff: { min: 100, max: 100, jitter: 0 }, limit: { restarts: 100, within: 100_000 } })

/** Puts aside what it is told until it hears `open`, then behaves as `then` does. */
const closed = (then: () => Behavior<string>): Behavior<string> =>
  receive<string>((ctx, m) => {
    if (m !== 'open') {
      ctx.stash.add(m)
      return same
    }
    ctx.stash.unstashAll()
    return then()
  })

const noting = (seen: string[], name = ''): Behavior<string> =>
  receive<string>((_ctx, m) => {
    seen.push(name + m)
    return same
  })

// Stash

for (const title of ['undefer returned behaviors when unstashing', 'be possible in combination with setup'])
  fact(
    `${title.startsWith('be') ? 'StashSpec' : 'StashBufferSpec'}: ${title}`,
    `what is unstashed is handled by the behavior that each message leads to, its setup included (${title})`,
    async (kit) => {
      const seen: string[] = []
      const collecting = (state: string): Behavior<string> =>
        setup<string>(() =>
          receive<string>((_ctx, m) => {
            if (m !== 'get') return collecting(state + m)
            seen.push(state)
            return same
          }),
        )
      const ref = kit.system.spawn(closed(() => collecting('')))
      for (const m of ['a', 'b', 'c', 'get', 'open']) ref.tell(m)
      await kit.settle()
      expect(seen).toEqual(['abc'])
    },
  )

fact(
  'StashSpec: work with Behaviors.same when switching Behavior while unstashing one',
  'unstash(1) in each of two behaviors gives each its own message',
  async (kit) => {
    const seen: string[] = []
    const a: Behavior<string> = receive<string>((ctx, m) => {
      seen.push(`a got ${m}`)
      ctx.stash.unstash(1)
      return b
    })
    const b: Behavior<string> = receive<string>((ctx, m) => {
      seen.push(`b got ${m}`)
      ctx.stash.unstash(1)
      return same
    })
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        if (m !== 'open') {
          ctx.stash.add(m)
          return same
        }
        ctx.stash.unstash(1)
        return a
      }),
    )
    for (const m of ['a', 'b1', 'b2', 'open']) ref.tell(m)
    await kit.settle()
    expect(seen).toEqual(['a got a', 'b got b1', 'b got b2'])
  },
)

fact(
  'StashSpec: deal with unhandled the same way as normal unhandled',
  'a message that comes back and is not understood counts as unhandled, and the others are handled',
  async (kit) => {
    const seen: number[] = []
    const counting = (n: number): Behavior<string> =>
      receive<string>((_ctx, m) => {
        if (m === 'odd') return unhandled
        seen.push(n)
        return counting(n + 1)
      })
    const ref = kit.system.spawn(closed(() => counting(1)))
    for (const m of ['odd', 'x', 'x', 'odd', 'x', 'open', 'x']) ref.tell(m)
    await kit.settle()
    expect(seen).toEqual([1, 2, 3, 4])
    expect((await kit.system.ledger()).unhandled).toBe(2)
  },
)

fact('StashSpec: deal with initial stop', 'an actor that unstashes and stops ends, and what it had put aside are dead letters', async (kit) => {
  const ref = kit.system.spawn(closed(() => stopped as Behavior<string>))
  for (const m of ['a', 'b', 'open']) ref.tell(m)
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(kit.system.deadLetters.list().map((letter) => letter.message)).toEqual(['a', 'b'])
})

fact('StashSpec: deal with stop', 'an actor that stops while it handles what came back leaves the rest as dead letters, in order', async (kit) => {
  const seen: string[] = []
  const ref = kit.system.spawn(
    closed(() =>
      receive<string>((_ctx, m) => {
        seen.push(m)
        return stopped
      }),
    ),
  )
  for (const m of ['a', 'b', 'c', 'open', 'd']) ref.tell(m)
  await kit.settle()
  expect(seen).toEqual(['a'])
  expect(kit.system.deadLetters.list().map((letter) => letter.message)).toEqual(['b', 'c', 'd'])
})

/** Becomes another behavior with each message; fails on `fail`. Notes which of them hears of its end. */
const numbered = (n: number, log: string[]): Behavior<string> =>
  receive<string>(
    (_ctx, m) => {
      if (m === 'fail') throw new Error('boom')
      log.push(`${m} by ${n}`)
      return numbered(n + 1, log)
    },
    (_ctx, s) => {
      log.push(`${s.type} at ${n}`)
      return same
    },
  )

for (const [title, supervision, heard] of [
  ['signal PostStop to the latest unstashed behavior on failure with stop supervision', 'stop', 'PostStop'],
  ['signal PreRestart to the latest unstashed behavior on failure with restart supervision', often, 'PreRestart'],
  ['signal PreRestart to the latest unstashed behavior on failure with backoff supervision', slowly, 'PreRestart'],
] as const)
  fact(
    `StashSpec: ${title}`,
    `the behavior that failed while messages came back is the one that hears ${heard} (${title.split(' with ')[1]})`,
    async (kit) => {
      const log: string[] = []
      const ref = kit.system.spawn(
        closed(() => numbered(0, log)),
        { supervision },
      )
      for (const m of ['a', 'b', 'fail', 'c', 'open']) ref.tell(m)
      await kit.settle()
      expect(log.filter((line) => line.startsWith(heard))).toEqual([`${heard} at 2`])
      expect(log.slice(0, 2)).toEqual(['a by 0', 'b by 1'])
    },
  )

fact(
  'StashSpec: signal PreRestart to the latest unstashed behavior on failure with restart supervision and slow stopping child',
  'messages wait while a restart waits for a child, and none is lost',
  async (kit) => {
    const seen: string[] = []
    let let_go!: () => void
    const held = new Promise<void>((resolve) => (let_go = resolve))
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        if (ctx.incarnation === 0)
          ctx.spawn(
            receive<never>(
              () => same,
              (_c, s) => (s.type === 'PostStop' ? held : undefined),
            ),
          )
        if (ctx.incarnation > 0) ctx.stash.unstashAll()
        return receive<string>((c, m) => {
          if (m === 'fail') throw new Error('boom')
          if (c.incarnation === 0) c.stash.add(m)
          else seen.push(m)
          return same
        })
      }),
      { supervision: often },
    )
    await kit.settle()
    for (const m of ['a', 'b', 'fail', 'c']) ref.tell(m)
    await kit.advance(100)
    expect(kit.system.phaseOf(ref)).toBe('restarting')
    let_go()
    await kit.settle()
    expect(seen).toEqual(['a', 'b', 'c'])
  },
)

fact(
  'StashSpec: handle resume correctly on failure unstashing',
  'a failure that is resumed costs that message, and all others come back',
  async (kit) => {
    const log: string[] = []
    const ref = kit.system.spawn(
      closed(() => numbered(0, log)),
      { supervision: 'resume' },
    )
    for (const m of ['a', 'fail', 'b', 'fail', 'c', 'open', 'd']) ref.tell(m)
    await kit.settle()
    expect(log.filter((line) => line.includes(' by '))).toEqual(['a by 0', 'b by 1', 'c by 2', 'd by 3'])
    expect((await kit.system.ledger()).failed).toBe(2)
  },
)

// Timers

fact('TimerSpec: keep timers when behavior changes', 'a timer goes on when the actor becomes another behavior', async (kit) => {
  const seen: string[] = []
  const ref = kit.system.spawn(
    setup<string>((ctx) => {
      ctx.timers.every('tick', 10, 'tick')
      const as = (name: string): Behavior<string> =>
        receive<string>((_c, m) => {
          seen.push(`${name} ${m}`)
          return m === 'tick' ? same : as(m)
        })
      return as('first')
    }),
  )
  await kit.advance(10)
  ref.tell('second')
  await kit.advance(10)
  expect(seen).toEqual(['first tick', 'first second', 'second tick'])
})

for (const [title, end] of [
  ['cancel timers when stopped from exception', 'fail'],
  ['cancel timers when stopped voluntarily', 'stop'],
] as const)
  fact(`TimerSpec: ${title}`, `the timers of an actor end with it, and make no dead letter: ${end}`, async (kit) => {
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.timers.every('tick', 10, 'tick')
        ctx.timers.once('once', 15, 'tick')
        return receive<string>((_c, m) => {
          if (m === 'fail') throw new Error('boom')
          return m === 'stop' ? stopped : same
        })
      }),
      { supervision: 'stop' },
    )
    await kit.advance(10)
    ref.tell(end)
    await kit.advance(100)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.deadLetters.list()).toEqual([])
  })

fact('TimerSpec: discard TimerMsg when exception from withTimers block', 'the timers of a setup that throws never tick', async (kit) => {
  const seen: string[] = []
  const ref = kit.system.spawn(
    setup<string>((ctx) => {
      const nth = ctx.incarnation
      ctx.timers.once('tick', nth === 1 ? 0 : 5, `tick of ${nth}`)
      if (nth === 1) throw new Error('not this time')
      return receive<string>((_c, m) => {
        if (m === 'fail') throw new Error('boom')
        seen.push(m)
        return same
      })
    }),
    { supervision: often },
  )
  await kit.settle()
  ref.tell('fail')
  await kit.advance(100)
  expect(kit.system.phaseOf(ref)).toBe('running')
  expect(seen).toEqual(['tick of 2'])
})

// Watching

fact(
  'WatchSpec: notify a parent of child termination because of failure with a supervisor',
  'a parent that watches its child hears once what it ended of, whatever policy ended it',
  async (kit) => {
    const heard: unknown[] = []
    const why = new Error('boom')
    const parent = kit.system.spawn(
      setup<string>((ctx) => {
        const child = ctx.spawn(
          receive<string>(() => {
            throw why
          }),
          { name: 'child', supervision: supervise({ backoff: quick, limit: { restarts: 1, within: 1000 } }) },
        )
        ctx.watch(child)
        return receive<string>(
          (_c, m) => {
            child.tell(m)
            return same
          },
          (_c, s) => {
            if (s.type === 'Terminated') heard.push([s.reason, s.cause])
            return same
          },
        )
      }),
    )
    for (let i = 0; i < 3; i++) {
      parent.tell('fail')
      await kit.settle()
    }
    expect(heard).toEqual([['failure', why]])
  },
)

fact('ActorContextSpec: unwatch a child actor before its termination', 'a parent that has unwatched its child hears no Terminated', async (kit) => {
  const heard: string[] = []
  kit.system.spawn(
    setup<string>((ctx) => {
      const child = ctx.spawn(ignore)
      ctx.watch(child)
      ctx.unwatch(child)
      child.stop()
      return receive<string>(
        () => same,
        (_c, s) => {
          heard.push(s.type)
          return same
        },
      )
    }),
  )
  await kit.settle()
  expect(heard).not.toContain('Terminated')
})

// Questions

fact(
  'ActorContextAskSpec: receive replies in same order as sent',
  'questions that are piped to oneself are answered in the order in which they were asked',
  async (kit) => {
    type Q = { type: 'q'; n: number; replyTo: ActorRef<number> }
    const echo = kit.system.spawn(
      receive<Q>((_c, m) => {
        m.replyTo.tell(m.n)
        return same
      }),
    )
    const seen: number[] = []
    kit.system.spawn(
      setup<number>((ctx) => {
        for (let n = 0; n < 50; n++)
          ctx.pipeToSelf(
            ctx.ask(echo, { type: 'q', n }),
            (answer) => answer,
            () => -1,
          )
        return receive<number>((_c, n) => {
          seen.push(n)
          return same
        })
      }),
    )
    await kit.settle()
    expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => n))
  },
)

fact(
  'ActorContextAskSpec: fail actor when mapping does not match response',
  'what the mapping of a piped promise throws is a failure of the actor, once',
  async (kit) => {
    const log: string[] = []
    kit.system.spawn(
      setup<number>((ctx) => {
        log.push(`setup ${ctx.incarnation}`)
        if (ctx.incarnation === 0)
          ctx.pipeToSelf(
            Promise.resolve('text'),
            () => {
              throw new Error('no number')
            },
            () => -1,
          )
        return ignore
      }),
      { supervision: often },
    )
    await kit.settle()
    expect(log).toEqual(['setup 0', 'setup 1'])
    expect(kit.system.failures.list()).toHaveLength(1)
  },
)

fact(
  'AskSpec: fail the future if the actor is already terminated',
  'a question to an actor that has ended is rejected before any time passes',
  async (kit) => {
    const ref = kit.system.spawn(receive<{ type: 'q'; replyTo: ActorRef<number> }>(() => same))
    ref.stop()
    await kit.settle()
    const before = kit.clock.now
    await expect(kit.until(ref.ask({ type: 'q' }))).rejects.toBeInstanceOf(AskTargetStopped)
    expect(kit.clock.now).toBe(before)
  },
)

fact('ActorContextPipeToSelfSpec: handle failure', 'a promise that rejects is told as the message that its second function makes', async (kit) => {
  const seen: string[] = []
  kit.system.spawn(
    setup<string>((ctx) => {
      ctx.pipeToSelf(Promise.resolve('hi'), (v) => `ok: ${v}`, String)
      ctx.pipeToSelf(Promise.reject(new Error('no')), String, (cause) => `failed: ${(cause as Error).message}`)
      return noting(seen)
    }),
  )
  await kit.settle()
  expect(seen.sort()).toEqual(['failed: no', 'ok: hi'])
})

// Adapters

fact('MessageAdapterSpec: use the right adapter', 'each adapter of an actor translates for itself; one key has one', async (kit) => {
  const seen: string[] = []
  let refs!: { n: ActorRef<number>; s: ActorRef<string>; late: ActorRef<number> }
  kit.system.spawn(
    setup<string>((ctx) => {
      const n = ctx.adapt((v: number) => `number ${v}`, { key: 'n' })
      const s = ctx.adapt((v: string) => `text ${v}`, { key: 's' })
      const late = ctx.adapt((v: number) => `late ${v}`, { key: 'n' })
      refs = { n, s, late }
      return noting(seen)
    }),
  )
  await kit.settle()
  refs.s.tell('a')
  refs.late.tell(1)
  await kit.settle()
  expect(seen).toEqual(['text a', 'late 1'])
})

fact(
  'MessageAdapterSpec: not catch exception thrown after adapter, when processing the message',
  'what the handler throws at an adapted message is the failure of that message',
  async (kit) => {
    let adapted!: ActorRef<number>
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        adapted = ctx.adapt((n: number) => `number ${n}`)
        return receive<string>((_c, m) => {
          throw new Error(`at ${m}`)
        })
      }),
      { supervision: 'stop' },
    )
    await kit.settle()
    adapted.tell(7)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.failures.list().map((f) => (f.cause as Error).message)).toEqual(['at number 7'])
  },
)

fact(
  'MessageAdapterSpec: redirect to DeadLetter after termination',
  'what an adapter is told after its actor has ended is a dead letter',
  async (kit) => {
    let adapted!: ActorRef<number>
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        adapted = ctx.adapt((n: number) => `number ${n}`)
        return ignore
      }),
    )
    await kit.settle()
    ref.stop()
    await kit.settle()
    adapted.tell(7)
    await kit.settle()
    expect(kit.system.deadLetters.list().map((letter) => letter.message)).toEqual([7])
  },
)

// Event stream

fact(
  'EventStreamSpec: listen for all subclasses of the events',
  'a subscription by class hears of its subclasses, one by subclass not of the class',
  async (kit) => {
    class Base {
      readonly n: number
      constructor(n: number) {
        this.n = n
      }
    }
    class Special extends Base {}
    const [all, some] = [kit.probe<Base>(), kit.probe<Special>()]
    kit.system.events.subscribe(all.ref, Base)
    kit.system.events.subscribe(some.ref, Special)
    kit.system.events.publish(new Base(1))
    kit.system.events.publish(new Special(2))
    await kit.settle()
    expect(all.messages.map((m) => m.n)).toEqual([1, 2])
    expect(some.messages.map((m) => m.n)).toEqual([2])
  },
)

fact(
  'EventStreamSpec: not cause infinite loop when stopping subscribed by message adapter for DeadLetter',
  'a subscriber to dead letters by an adapter ends without making more of them',
  async (kit) => {
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.system.events.subscribe(
          ctx.adapt((event: object) => JSON.stringify(Object.keys(event))),
          'message.dead',
        )
        return ignore
      }),
    )
    const gone = kit.system.spawn(receive<string>(() => same))
    gone.stop()
    await kit.settle()
    gone.tell('one')
    ref.stop()
    gone.tell('two')
    await kit.advance(100)
    // The two letters; of each the notice that came too late, and the notice of that.
    expect((await kit.system.ledger()).deadLettered).toBe(6)
  },
)

fact(
  'LocalPubSubSpec: publish to all local subscriber actors of a topic',
  'every subscriber hears an event once, and one that has left hears no more',
  async (kit) => {
    type News = { type: 'news'; n: number }
    const [a, b] = [kit.probe<News>(), kit.probe<News>()]
    kit.system.events.subscribe(a.ref, 'news')
    const left = kit.system.events.subscribe(b.ref, 'news')
    kit.system.events.publish({ type: 'news', n: 1 })
    kit.system.events.publish({ type: 'other', n: 0 })
    await kit.settle()
    left.cancel()
    kit.system.events.publish({ type: 'news', n: 2 })
    await kit.settle()
    expect([a.messages.map((m) => m.n), b.messages.map((m) => m.n)]).toEqual([[1, 2], [1]])
  },
)

// Receptionist

const birds = serviceKey<string>('birds')
const fish = serviceKey<string>('fish')

fact('LocalReceptionistSpec: unregister per service key, not service actor', 'an actor that leaves one key stays under the other', (kit) => {
  const ref = kit.system.spawn(noting([]))
  const directory = receptionistOf(kit.system)
  const leave = directory.register(birds, ref)
  directory.register(fish, ref)
  leave()
  expect([directory.find(birds), directory.find(fish)]).toEqual([[], [ref]])
})

fact(
  'LocalReceptionistSpec: unregister and re-register same service actor',
  'an actor that has left a key may come back, and a leave from before does not end that',
  (kit) => {
    const ref = kit.system.spawn(noting([]))
    const directory = receptionistOf(kit.system)
    const leave = directory.register(birds, ref)
    leave()
    directory.register(birds, ref)
    leave()
    expect(directory.find(birds)).toEqual([ref])
  },
)

fact(
  'LocalReceptionistSpec: support subscribing to different services with the same subscriber',
  'one subscriber hears of each key that it subscribed to, by name',
  async (kit) => {
    const probe = kit.probe<Listing<string>>()
    const directory = receptionistOf(kit.system)
    directory.subscribe(birds, probe.ref)
    directory.subscribe(fish, probe.ref)
    const ref = kit.system.spawn(noting([]))
    directory.register(fish, ref)
    await kit.settle()
    expect(probe.messages.map((m) => [m.key === birds, m.refs.length])).toEqual([
      [true, 0],
      [false, 0],
      [false, 1],
    ])
  },
)

fact(
  'LocalReceptionistSpec: unregister services when they terminate',
  'an actor that ends leaves each of its keys, and subscribers hear of it',
  async (kit) => {
    const probe = kit.probe<Listing<string>>()
    const directory = receptionistOf(kit.system)
    const [a, b] = [kit.system.spawn(noting([])), kit.system.spawn(noting([]))]
    directory.register(birds, a)
    directory.register(birds, b)
    directory.register(fish, a)
    directory.subscribe(birds, probe.ref)
    a.stop()
    await kit.settle()
    expect(probe.messages.map((m) => m.refs)).toEqual([[a, b], [b]])
    expect(directory.find(fish)).toEqual([])
  },
)

// Routers

fact('PoolRouterSpec: use the specified dispatcher for its routees', 'routees are spawned with the options of the pool', async (kit) => {
  const dispatchers: AnyRef[] = []
  const ref = kit.system.spawn(
    pool(
      setup<string>((ctx) => {
        dispatchers.push(ctx.self)
        return ignore
      }),
      { size: 2, options: { mailbox: undefined, kind: 'worker', stopTimeout: 7 } },
    ),
    { name: 'pool' },
  )
  await kit.settle()
  expect(dispatchers).toHaveLength(2)
  expect((await kit.system.inspect(ref)).children.map((c) => c.dispatcher)).toEqual(['concurrent', 'concurrent'])
})

fact(
  'RoutersSpec: publish Dropped messages when there are no routees available',
  'what a group without routees is told is a dead letter, and counted',
  async (kit) => {
    const ref = kit.system.spawn(group(serviceKey<string>('nobody')))
    ref.tell('hello')
    await kit.settle()
    expect(kit.system.deadLetters.list().map((letter) => [letter.message, letter.reason])).toEqual([['hello', 'no-routees']])
  },
)

// Interceptors

fact(
  'InterceptSpec: be useful for implementing custom message based PoisonPill',
  'a link that swallows a message may stop the actor instead',
  async (kit) => {
    const seen: string[] = []
    const pill: Middleware = {
      before: (m, { ref }) => {
        if (m !== 'pill') return m
        kit.system.stop(ref)
        return swallow
      },
    }
    const ref = kit.system.spawn(noting(seen), { middleware: [pill] })
    for (const m of ['a', 'pill', 'b']) ref.tell(m)
    await kit.settle()
    expect(seen).toEqual(['a'])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
  },
)

fact('InterceptSpec: intercept PostStop', 'a link hears the end of the actor before its handlers, whatever it has become', async (kit) => {
  const log: string[] = []
  const link: Middleware = { signal: (s) => void log.push(`link ${s.type}`) }
  const ref = kit.system.spawn(
    closed(() => numbered(0, log)),
    { middleware: [link] },
  )
  ref.tell('open')
  await kit.settle()
  log.length = 0
  ref.stop()
  await kit.settle()
  expect(log).toEqual(['link PreStop', 'PreStop at 0', 'link PostStop', 'PostStop at 0'])
})

fact('InterceptSpec: intercept with recursively setup', 'a link sees each message once, however often the behavior changes by setup', async (kit) => {
  const seen: unknown[] = []
  const next = (n: number): Behavior<string> => setup<string>(() => receive<string>(() => next(n + 1)))
  const ref = kit.system.spawn(next(0), { middleware: [{ before: (m) => (seen.push(m), m) }] })
  for (let i = 0; i < 1000; i++) ref.tell(`m${i}`)
  await kit.settle()
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => `m${i}`))
})
