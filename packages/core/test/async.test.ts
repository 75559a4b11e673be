// Handlers that await: claims 52, 53, 54, 56 and 58, C3, C13 and C15; reentrant actors, pipeToSelf, adapt, ctx.signal.

import { createTestKit } from '@troupe/testkit'
import { AsyncLocalStorage } from 'node:async_hooks'
import { fc } from './properties.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  ActorSystem,
  type AnyRef,
  type Behavior,
  ignore,
  type Logger,
  receive,
  same,
  setup,
  stopped,
  supervise,
} from '@troupe/core'

/** A promise and what settles it. */
function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (cause: unknown) => void } {
  let resolve!: (value: T) => void
  let reject!: (cause: unknown) => void
  const promise = new Promise<T>((ok, err) => {
    resolve = ok
    reject = err
  })
  return { promise, resolve, reject }
}
const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** For what takes real time: longer than a busy machine ever needs. */
const patient = { timeout: 30_000, interval: 2 }
/** What is no promise, but speaks like one. */
const thenable = (then: (ok: unknown, err: (cause: unknown) => void) => void): never =>
  Object.defineProperty({}, ['th', 'en'].join(''), { value: then }) as never
const never = (): Promise<void> => new Promise(() => {})

// C13 holds for every test of this file: nothing may escape to the process.
const escaped: unknown[] = []
const note = (cause: unknown): void => void escaped.push(cause)
beforeAll(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
})
afterEach(async () => {
  await macrotask()
  if (escaped.length > 0) throw new AggregateError(escaped, 'An error escaped to the process.')
})
afterAll(() => {
  process.off('unhandledRejection', note)
  process.off('uncaughtException', note)
})

describe('52. continuations from before a restart are dropped; a rejection after stop is observed, not thrown at the process', () => {
  test('the result of a handler that was cut off by a restart is dropped, and its context refuses', async () => {
    const kit = createTestKit()
    const gate = deferred()
    const seen: unknown[] = []
    const errors: unknown[] = []
    let first = true
    const ref = kit.system.spawn(
      receive<string>(async (ctx, m) => {
        if (!first) {
          seen.push([m, ctx.incarnation])
          return same
        }
        first = false
        await gate.promise
        try {
          ctx.timers.once('k', 1, 'from the past')
        } catch (error) {
          errors.push(error)
        }
        return stopped
      }),
      { stopTimeout: 50 },
    )
    ref.tell('one')
    ref.tell('two')
    await kit.settle()
    kit.system.restart(ref)
    await kit.advance(50)
    expect(seen).toEqual([['two', 1]])
    gate.resolve()
    await kit.advance(50)
    expect(errors).toMatchObject([{ code: 'context-ended' }])
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })

  test('a rejection after stop, restart or kill is dropped', async () => {
    const kit = createTestKit()
    for (const verb of ['stop', 'kill', 'restart'] as const) {
      const gate = deferred()
      const ref = kit.system.spawn(
        receive<string>(() => gate.promise),
        { stopTimeout: 10 },
      )
      ref.tell('go')
      await kit.settle()
      kit.system[verb](ref)
      await kit.advance(10)
      gate.reject(new Error(`after ${verb}`))
      await kit.settle()
      await macrotask()
      expect(kit.system.phaseOf(ref)).toBe(verb === 'restart' ? 'running' : 'terminated')
    }
    expect(escaped).toEqual([])
    await kit.end()
  })

  test('a handler that rejects because its restart aborted it is no further failure', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<string>(
        (ctx) =>
          new Promise<void>((_resolve, reject) => {
            ctx.signal.addEventListener('abort', () => reject(new Error('aborted')))
          }),
      ),
      { supervision: 'stop' },
    )
    ref.tell('go')
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect((await kit.system.inspect(ref)).incarnation).toBe(1)
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })
})

test('what an abandoned handler settles with later does not count as another’s end', async () => {
  const kit = createTestKit()
  const gate = deferred()
  const cut = kit.system.spawn(receive<string>(() => gate.promise))
  cut.tell('go')
  await kit.settle()
  kit.system.kill(cut)
  await kit.settle()
  expect(kit.system.pump()).toBe('idle')
  const other = kit.system.spawn(receive<string>(never))
  other.tell('go')
  await kit.settle()
  gate.resolve()
  await kit.settle()
  expect(kit.system.pump()).toBe('awaiting')
  kit.system.kill(other)
  await kit.end()
})

describe('53. a handler pending for ever does not stop kill, suspend of others, or shutdown by deadline', () => {
  test('all three', async () => {
    const kit = createTestKit()
    const stuck = kit.system.spawn(receive<string>(never), { name: 'stuck', stopTimeout: 1e6 })
    const other = kit.system.spawn(ignore)
    const third = kit.system.spawn(receive<string>(never), { name: 'third', stopTimeout: 1e6 })
    stuck.tell('go')
    third.tell('go')
    await kit.settle()
    kit.system.suspend(other, 'test')
    await kit.settle()
    expect(kit.system.phaseOf(other)).toBe('suspended')
    kit.system.kill(stuck)
    await kit.settle()
    expect(kit.system.phaseOf(stuck)).toBe('terminated')
    const ending = kit.system.shutdown({ deadline: 10 })
    await kit.advance(10)
    expect(await ending).toMatchObject({ killed: ['/user/third'] })
  })
})

test('54. messages that arrive during an await are handled after it, in order', async () => {
  const kit = createTestKit()
  const gate = deferred()
  const log: string[] = []
  const ref = kit.system.spawn(
    receive<string>(async (_ctx, m) => {
      log.push(`+${m}`)
      if (m === 'a') await gate.promise
      log.push(`-${m}`)
    }),
  )
  for (const m of ['a', 'b', 'c']) ref.tell(m)
  await kit.settle()
  ref.tell('d')
  await kit.settle()
  expect(log).toEqual(['+a'])
  expect(kit.system.pump()).toBe('awaiting')
  gate.resolve()
  await kit.settle()
  expect(log).toEqual(['+a', '-a', '+b', '-b', '+c', '-c', '+d', '-d'])
  expect(kit.system.pump()).toBe('idle')
  await kit.end()
})

describe('56. while a handler is pending', () => {
  test('a Terminated and a ChildFailed for it wait until it settles', async () => {
    const kit = createTestKit()
    const gate = deferred()
    const log: string[] = []
    const other = kit.system.spawn(ignore)
    let child: ActorRef<string> | undefined
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.watch(other)
        child = ctx.spawn(
          receive<string>(() => {
            throw new Error('boom')
          }),
          { supervision: 'resume' },
        )
        return receive<string>(
          async () => {
            await gate.promise
            log.push('handled')
          },
          (_c, s) => void log.push(s.type),
        )
      }),
    )
    ref.tell('go')
    await kit.settle()
    log.length = 0
    other.stop()
    child!.tell('fail')
    await kit.settle()
    expect(log).toEqual([])
    gate.resolve()
    await kit.settle()
    expect(log).toEqual(['handled', 'Terminated', 'ChildFailed'])
    await kit.end()
  })

  test('suspend acts at once, but the handler goes on; what it returns counts after resume', async () => {
    const kit = createTestKit()
    const gate = deferred<Behavior<string>>()
    const log: string[] = []
    const ref = kit.system.spawn(receive<string>(() => gate.promise))
    ref.tell('go')
    ref.tell('next')
    await kit.settle()
    kit.system.suspend(ref, 'test')
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('suspended')
    gate.resolve(receive<string>((_c, m) => void log.push(m)))
    await kit.settle()
    expect(log).toEqual([])
    kit.system.resume(ref)
    await kit.settle()
    expect(log).toEqual(['next'])
    await kit.end()
  })

  test('a rejection while suspended is a failure', async () => {
    const kit = createTestKit()
    const gate = deferred()
    const ref = kit.system.spawn(
      receive<string>(() => gate.promise),
      { supervision: 'stop' },
    )
    ref.tell('go')
    await kit.settle()
    kit.system.suspend(ref, 'test')
    await kit.settle()
    gate.reject(new Error('boom'))
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })

  test('stop and restart abort ctx.signal and wait up to stopTimeout; kill does not wait', async () => {
    for (const verb of ['stop', 'restart', 'kill'] as const) {
      const kit = createTestKit()
      const aborted: unknown[] = []
      const ref = kit.system.spawn(
        receive<string>((ctx) => {
          ctx.signal.addEventListener('abort', () => aborted.push(ctx.signal.reason))
          return never()
        }),
        { stopTimeout: 100 },
      )
      ref.tell('go')
      await kit.settle()
      kit.system[verb](ref)
      await kit.settle()
      expect(aborted).toMatchObject([{ code: 'cancelled' }])
      const waiting = verb === 'stop' ? 'stopping' : 'restarting'
      if (verb !== 'kill') {
        await kit.advance(99)
        expect(kit.system.phaseOf(ref)).toBe(waiting)
        await kit.advance(1)
      }
      expect(kit.system.phaseOf(ref)).toBe(verb === 'restart' ? 'running' : 'terminated')
      await kit.end()
    }
  })

  test('an abandoned handler’s context refuses everything but self, path and signal', async () => {
    const kit = createTestKit()
    let ctx: ActorContext<string> | undefined
    const ref = kit.system.spawn(
      receive<string>((c) => {
        ctx = c
        void c.stash
        return never()
      }),
      { name: 'gone' },
    )
    ref.tell('go')
    await kit.settle()
    const stash = ctx!.stash
    kit.system.kill(ref)
    await kit.settle()
    const c = ctx!
    const uses: Record<string, () => unknown> = {
      parent: () => c.parent,
      children: () => c.children,
      system: () => c.system,
      sender: () => c.sender,
      headers: () => c.headers,
      log: () => c.log,
      incarnation: () => c.incarnation,
      handedOver: () => c.handedOver,
      timers: () => c.timers,
      stash: () => c.stash,
      'kept stash add': () => stash.add('x'),
      'kept stash unstash': () => stash.unstashAll(),
      'kept stash clear': () => stash.clear(),
      spawn: () => c.spawn(ignore),
      stop: () => c.stop(),
      watch: () => c.watch(ref),
      watchWith: () => c.watchWith(ref, 'x'),
      unwatch: () => c.unwatch(ref),
      ask: () => c.ask(ref as AnyRef as ActorRef<{ replyTo: ActorRef<1> }>, {}),
      reply: () => c.reply(1),
      forward: () => c.forward(ref),
      adapt: () => c.adapt(() => 'x'),
      pipeToSelf: () =>
        c.pipeToSelf(
          Promise.resolve(1),
          () => 'x',
          () => 'x',
        ),
      setReceiveTimeout: () => c.setReceiveTimeout(1),
      handOver: () => c.handOver(1),
      label: () => c.label('x'),
    }
    for (const use of Object.values(uses))
      expect(use).toThrow(expect.objectContaining({ code: 'context-ended', message: expect.stringContaining('/user/gone') }))
    expect(c.self).toBe(ref)
    expect(c.path).toBe('/user/gone')
    expect(c.signal.aborted).toBe(true)
    await kit.end()
  })
})

describe('reentrant actors', () => {
  test('take other messages while one is pending; each call has its own context', async () => {
    const kit = createTestKit()
    const gates = [deferred(), deferred()]
    const senders = [0, 1].map((i) => kit.system.spawn(ignore, { name: `s${i}` }))
    const log: unknown[] = []
    const contexts = new Set<unknown>()
    const ref = kit.system.spawn(
      receive<number>(async (ctx, n) => {
        contexts.add(ctx)
        log.push(`+${n}`)
        await gates[n]!.promise
        log.push([`-${n}`, ctx.sender?.path])
      }),
      { reentrant: true },
    )
    ref.tell(0, senders[0])
    ref.tell(1, senders[1])
    await kit.settle()
    expect((await kit.checkLedger()).inProgress).toBe(2)
    gates[1]!.resolve()
    await kit.settle()
    gates[0]!.resolve()
    await kit.settle()
    expect(log).toEqual(['+0', '+1', ['-1', '/user/s1'], ['-0', '/user/s0']])
    expect(contexts.size).toBe(2)
    await kit.end()
  })

  test('returning a behavior is an error that names what to do, sync and async; same and stopped are fine', async () => {
    const kit = createTestKit()
    for (const later of [false, true]) {
      const next: Behavior<string> = receive<string>(() => same)
      const ref = kit.system.spawn(
        receive<string>(() => (later ? Promise.resolve(next) : next)),
        { reentrant: true, supervision: 'stop', name: 'r' },
      )
      const end = kit.system.whenTerminated(ref)
      ref.tell('go')
      await kit.settle()
      expect(await end).toMatchObject({ reason: 'failure', cause: { code: 'not-a-behavior', message: expect.stringContaining('/user/r') } })
    }
    const ref = kit.system.spawn(
      receive<string>(async (_c, m) => (m === 'stop' ? stopped : same)),
      { reentrant: true },
    )
    ref.tell('go')
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('running')
    ref.tell('stop')
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })

  test('a failing call restarts the actor, which waits for the others up to stopTimeout and then cuts them off, each counted once', async () => {
    const kit = createTestKit()
    const gate = deferred()
    const contexts: ActorContext<string>[] = []
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        contexts.push(ctx)
        return m === 'fail' ? gate.promise : never()
      }),
      { reentrant: true },
    )
    ref.tell('a')
    ref.tell('fail')
    ref.tell('b')
    await kit.settle()
    expect((await kit.checkLedger()).inProgress).toBe(3)
    gate.reject(new Error('boom'))
    await kit.advance(4_999)
    expect(await kit.checkLedger()).toMatchObject({ failed: 1, inProgress: 2 })
    await kit.advance(21)
    expect(await kit.checkLedger()).toMatchObject({ failed: 3, inProgress: 0 })
    for (const ctx of contexts) expect(() => ctx.children).toThrow(expect.objectContaining({ code: 'context-ended' }))
    await kit.end()
  })

  test('an adapter that throws in a reentrant actor is a failure of that message', async () => {
    const kit = createTestKit()
    let adapter: ActorRef<number> | undefined
    kit.system.spawn(
      setup<string>((ctx) => {
        adapter = ctx.adapt<number>(() => {
          throw new Error('boom')
        })
        return receive(() => same)
      }),
      { reentrant: true, supervision: 'resume' },
    )
    await kit.settle()
    adapter!.tell(1)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ failed: 1, inProgress: 0 })
    await kit.end()
  })
})

describe('pipeToSelf', () => {
  test('delivers what became of the promise, in the actor’s turn', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        log.push(m)
        if (m !== 'go') return same
        ctx.pipeToSelf(Promise.resolve(1), (n) => `ok ${n}`, String)
        ctx.pipeToSelf(Promise.reject(new Error('no')), String, (e) => `err ${(e as Error).message}`)
        return same
      }),
    )
    ref.tell('go')
    await kit.settle()
    expect(log).toEqual(['go', 'ok 1', 'err no'])
    await kit.end()
  })

  test('is dropped when the incarnation has ended by then, and a mapper that throws is a failure of the actor', async () => {
    const kit = createTestKit()
    const gate = deferred<string>()
    const log: string[] = []
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        log.push(m)
        if (m === 'wait') ctx.pipeToSelf(gate.promise, (v) => v, String)
        if (m === 'bad')
          ctx.pipeToSelf(
            Promise.resolve(),
            () => {
              throw new Error('mapper')
            },
            String,
          )
        return same
      }),
    )
    ref.tell('wait')
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    gate.resolve('from the past')
    await kit.settle()
    expect(log).toEqual(['wait'])
    ref.tell('bad')
    await kit.advance(20)
    expect((await kit.system.inspect(ref)).incarnation).toBe(2)
    await kit.end()
  })

  test('what the actor has no turn for any more is a dead letter that can be read', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        if (m !== 'go') return same
        ctx.pipeToSelf(Promise.resolve(7), String, String)
        ctx.pipeToSelf(Promise.reject(new Error('no')), String, String)
        return same
      }),
    )
    await kit.settle()
    ref.tell('go')
    kit.system.pump()
    kit.system.suspend(ref, 'so that both wait')
    await kit.settle()
    ref.stop()
    await kit.settle()
    expect(kit.system.deadLetters.list()).toMatchObject([
      { message: { type: 'piped', value: 7 }, reason: 'stopped' },
      { message: { type: 'piped', cause: { message: 'no' } }, reason: 'stopped' },
    ])
    await kit.end()
  })
})

describe('adapt', () => {
  test('the same key replaces, with an observation; the stale adapter’s messages are dead letters', async () => {
    const kit = createTestKit()
    const events: object[] = []
    kit.system.events.listen((e) => events.push(e), 'adapter.replaced')
    const seen: string[] = []
    const adapters: ActorRef<number>[] = []
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        seen.push(m)
        if (m === 'adapt') adapters.push(ctx.adapt<number>((n) => `${adapters.length}:${n}`, { key: 'k' }))
        return same
      }),
      { name: 'it' },
    )
    ref.tell('adapt')
    await kit.settle()
    adapters[0]!.tell(1)
    ref.tell('adapt')
    await kit.settle()
    adapters[0]!.tell(2)
    adapters[1]!.tell(3)
    await kit.settle()
    expect(seen).toEqual(['adapt', '1:1', 'adapt', '2:3'])
    expect(events).toMatchObject([{ type: 'adapter.replaced', ref, key: 'k' }])
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 2, reason: 'stale-adapter', recipient: adapters[0] }])
    await kit.end()
  })

  test('adapters end with the incarnation, one queued before the restart too', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    let adapter: ActorRef<number> | undefined
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        adapter ??= ctx.adapt<number>(String)
        return receive((_c, m) => void seen.push(m))
      }),
    )
    await kit.settle()
    kit.system.suspend(ref, 'test')
    await kit.settle()
    adapter!.tell(1)
    kit.system.restart(ref)
    await kit.settle()
    adapter!.tell(2)
    await kit.settle()
    expect(seen).toEqual([])
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['stale-adapter', 'stale-adapter'])
    await kit.end()
  })

  test('an adapter that gives undefined makes a dead letter; sender and headers come through', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    let adapter: ActorRef<number> | undefined
    const sender = kit.system.spawn(ignore)
    kit.system.spawn(
      setup<string>((ctx) => {
        adapter = ctx.adapt<number>((n) => (n === 0 ? (undefined as never) : `${n}`))
        return receive((c, m) => void seen.push([m, c.sender, c.headers]))
      }),
    )
    await kit.settle()
    adapter!.tell(0)
    adapter!.tell(1, { sender, headers: { h: 1 } })
    await kit.settle()
    expect(seen).toEqual([['1', sender, { h: 1 }]])
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 0, reason: 'undefined-message' }])
    await kit.end()
  })
})

test('ctx.signal is one per incarnation, and a new one after a restart', async () => {
  const kit = createTestKit()
  const signals: AbortSignal[] = []
  const ref = kit.system.spawn(
    receive<string>((ctx) => {
      expect(ctx.signal).toBe(ctx.signal)
      signals.push(ctx.signal)
      return same
    }),
  )
  ref.tell('a')
  ref.tell('b')
  await kit.settle()
  kit.system.restart(ref)
  ref.tell('c')
  await kit.settle()
  expect(signals[0]).toBe(signals[1])
  expect(signals[2]).not.toBe(signals[0])
  expect(signals.map((s) => s.aborted)).toEqual([true, true, false])
  await kit.end()
})

test('C3: one handler at a time per incarnation, across awaits', async () => {
  const step = fc.record({
    kind: fc.constantFrom('tell', 'tell', 'tell', 'async', 'throw', 'reject', 'watch', 'restart', 'suspend', 'resume', 'settle', 'timer'),
    n: fc.nat(3),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const kit = createTestKit()
      /** The contexts of handlers that run now; one that was cut off has a dead one, and does not count. */
      const running = new Set<{ ctx: ActorContext<string> }>()
      const lives = ({ ctx }: { ctx: ActorContext<string> }): boolean => {
        try {
          return ctx.incarnation >= 0
        } catch {
          return false
        }
      }
      let worst = 0
      const run = async (ctx: ActorContext<string>, ms: number): Promise<void> => {
        const call = { ctx }
        running.add(call)
        worst = Math.max(worst, [...running].filter(lives).length)
        try {
          if (ms > 0) await new Promise<void>((resolve) => void kit.system.sendAfter({ tell: resolve } as never, ms, 'x' as never))
        } finally {
          running.delete(call)
        }
      }
      const ref = kit.system.spawn(
        receive<string>(
          async (ctx, m) => {
            if (m === 'throw') throw new Error('boom')
            if (m === 'timer') ctx.timers.every('k', 3, 'tick')
            await run(ctx, m === 'async' ? 5 : 0)
            if (m === 'reject') throw new Error('boom')
            return same
          },
          async (ctx, s) => {
            await run(ctx, s.type === 'Terminated' ? 4 : 0)
          },
        ),
        { stopTimeout: 2, supervision: supervise({ limit: { restarts: 100, within: 1000 }, backoff: { min: 1, max: 1, jitter: 0 } }) },
      )
      for (const { kind, n } of steps) {
        if (kind === 'restart') kit.system.restart(ref)
        else if (kind === 'suspend') kit.system.suspend(ref, 'x')
        else if (kind === 'resume') kit.system.resume(ref)
        else if (kind === 'settle') await kit.advance(n)
        else if (kind === 'watch') {
          const other = kit.system.spawn(ignore)
          kit.system.watch(other, ref)
          other.stop()
        } else ref.tell(kind)
      }
      await kit.advance(200)
      expect(worst).toBeLessThanOrEqual(1)
      await kit.end()
    }),
    { numRuns: 200 },
  )
})

describe('C13: no error of code that Troupe called escapes to the process', () => {
  test('throws of every kind of user code, on the host runtime', async () => {
    const boom = (): never => {
      throw new Error('boom')
    }
    const lines: string[] = []
    const logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((l) => [l, (_f: unknown, m: string) => lines.push(m)]),
    ) as unknown as Logger
    const system = ActorSystem.create('c13', { keepAlive: false, logger, onEscalation: 'stop' })
    system.events.listen(boom)
    const other = system.spawn(ignore)
    other.stop()
    const make = (): Behavior<string> =>
      receive<string>(
        (ctx, m) => {
          if (m === 'throw') boom()
          if (m === 'reject') return Promise.reject(new Error('rejected'))
          if (m === 'odd') return thenable(boom)
          if (m === 'thenable') return thenable((_ok: unknown, err: (e: unknown) => void) => (err('no'), boom()))
          if (m === 'pipe') ctx.pipeToSelf(Promise.reject(new Error('p')), boom, boom)
          if (m === 'adapt') ctx.adapt<string>(boom).tell('x')
          if (m === 'ask') void ctx.ask(other as AnyRef as ActorRef<{ replyTo: ActorRef<1> }>, {})
          if (m === 'watch') ctx.watch(other)
          if (m === 'garbage') return 'garbage' as never
          return same
        },
        (_c, s) => {
          if (s.type === 'PreStart' || s.type === 'PostStart') return undefined
          return s.type === 'Terminated' ? Promise.reject(new Error('signal')) : boom()
        },
      )
    const policies = ['resume', 'restart', 'stop', 'escalate', supervise({ decide: boom }), supervise({ decide: () => 'nonsense' as never })] as const
    const kinds = ['throw', 'reject', 'odd', 'thenable', 'pipe', 'adapt', 'ask', 'watch', 'garbage']
    for (const supervision of policies) for (const kind of kinds) system.spawn(make(), { supervision }).tell(kind)
    system.spawn(setup(boom))
    system.spawn(setup(() => Promise.reject(new Error('setup'))))
    system.spawn(ignore, { accepts: { '~standard': { version: 1, vendor: 'x', validate: boom } } }).tell('x')
    for (let i = 0; i < 20; i++) await macrotask()
    await system.shutdown({ deadline: 100 })
    await macrotask()
    expect(escaped).toEqual([])
    expect(lines).toContain('the actor failed')
    const { sent, ...rest } = await system.ledger()
    expect(Object.values(rest).reduce((a, b) => a + b, 0)).toBe(sent)
    expect(system.counts().active).toBe(0)
  })

  test('a logger that throws harms neither actors nor the process', async () => {
    const boom = (): never => {
      throw new Error('logger')
    }
    const system = ActorSystem.create('log', { keepAlive: false, logger: { debug: boom, info: boom, warn: boom, error: boom } })
    const seen: string[] = []
    const ref = system.spawn(
      receive<string>((_c, m) => {
        if (m === 'boom') throw new Error('boom')
        seen.push(m)
        return same
      }),
      { supervision: 'resume' },
    )
    for (const m of ['a', 'boom', 'boom', 'boom', 'boom', 'boom', 'boom', 'boom', 'b']) ref.tell(m)
    await vi.waitFor(() => expect(seen).toEqual(['a', 'b']), patient)
    await system.shutdown()
    expect(escaped).toEqual([])
  })

  test('floating ctx.ask promises are pre-observed', async () => {
    const kit = createTestKit()
    const silent = kit.system.spawn(receive<{ replyTo: ActorRef<1> }>(() => same))
    const ref = kit.system.spawn(
      receive<string>((ctx) => {
        void ctx.ask(silent, {}, { timeout: 5 })
        void ctx.ask(silent, {}, { timeout: -1 })
        return same
      }),
    )
    ref.tell('go')
    await kit.advance(10)
    await macrotask()
    expect(escaped).toEqual([])
    await kit.end()
  })
})

describe('58. AsyncLocalStorage: two senders with different stores, one dispatcher: neither handler sees the other’s store', () => {
  test('C15: no handler, signal handler, timer or continuation runs in the context of an unrelated sender', async () => {
    const storage = new AsyncLocalStorage<string>()
    const system = ActorSystem.create('als', { keepAlive: false, logger: false })
    const stores: (string | undefined)[] = []
    const look = (): void => void stores.push(storage.getStore())
    const make = (): Behavior<string> =>
      setup<string>((ctx) => {
        look()
        ctx.timers.once('t', 1, 'tick')
        return receive<string>(
          async (c, m) => {
            look()
            await Promise.resolve()
            look()
            if (m === 'go') c.pipeToSelf(Promise.resolve('piped'), (v) => (look(), v), String)
          },
          () => look(),
        )
      })
    const refs = storage.run('spawner', () => [system.spawn(make()), system.spawn(make())] as const)
    storage.run('tenant a', () => refs[0].tell('go'))
    storage.run('tenant b', () => refs[1].tell('go'))
    await macrotask()
    storage.run('tenant c', () => {
      system.restart(refs[0])
      system.sendAfter(refs[1], 1, 'later')
      refs[1].tell('again')
    })
    // The restart has its backoff, and the timer its millisecond, both of real time.
    await vi.waitFor(() => expect(stores.length).toBeGreaterThan(15), patient)
    await storage.run('closer', () => system.shutdown())
    expect(new Set(stores)).toEqual(new Set([undefined]))
  })

  test('what a handler sets for itself stays in its own continuation', async () => {
    const storage = new AsyncLocalStorage<string>()
    const system = ActorSystem.create('als', { keepAlive: false })
    const seen: [string, string | undefined][] = []
    const make = (): Behavior<string> =>
      receive<string>((_c, m) =>
        storage.run(m, async () => {
          await macrotask()
          seen.push([m, storage.getStore()])
        }),
      )
    const a = system.spawn(make())
    const b = system.spawn(make())
    a.tell('a1')
    b.tell('b1')
    a.tell('a2')
    b.tell('b2')
    await system.shutdown({ drain: true })
    expect(seen).toHaveLength(4)
    for (const [message, store] of seen) expect(store).toBe(message)
  })
})
