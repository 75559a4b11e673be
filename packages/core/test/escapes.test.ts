// C13 where a plain function was expected and an async one was given: nobody waits for it, and nothing of it reaches the
// process. The compiler allows it wherever nothing is to be returned.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  CircuitBreaker,
  consistentHash,
  entities,
  immediate,
  InvalidOption,
  type Logger,
  type Middleware,
  pool,
  receive,
  retry,
  same,
  scatterGatherFirst,
  stopped,
  supervise,
  TaskGroup,
} from '@troupe/core'
import { escapedInTests, passes } from './escaped.ts'

const escaped = escapedInTests()

/** An async function as whoever has no lint rule gives it: typed as one that returns nothing. */
const rejecting = (what: string): (() => void) => {
  const late: () => unknown = async () => {
    await Promise.resolve()
    throw new Error(what)
  }
  return late
}

const failing = receive<string>(() => {
  throw new Error('of the handler')
})
const ending = receive<string>(() => stopped)

const cases: Readonly<Record<string, (kit: TestKit) => void>> = {
  'a listener': (kit) => {
    kit.system.events.listen(rejecting('late'), 'actor.spawned')
    kit.system.spawn(ending)
  },
  'an immediate channel': (kit) => {
    immediate(rejecting('late')).attach(kit.system.events, 'actor.spawned')
    kit.system.spawn(ending)
  },
  'the end of a listener': (kit) => kit.system.events.listen(() => {}, undefined, rejecting('late')).cancel(),
  'after of a middleware': (kit) => kit.system.spawn(ending, { middleware: [{ after: rejecting('late') }] }).tell('go'),
  'error of a middleware': (kit) => kit.system.spawn(failing, { middleware: [{ error: rejecting('late') }] }).tell('go'),
  'close of a middleware': (kit) => kit.system.spawn(ending, { middleware: [{ close: rejecting('late') }] }).tell('go'),
  'before of a middleware': (kit) => kit.system.spawn(ending, { middleware: [{ before: rejecting('late') }] }).tell('go'),
  'onChange of a breaker': (kit) => new CircuitBreaker(kit.system, { onChange: rejecting('late') }).open(),
  'decide of a policy': (kit) => kit.system.spawn(failing, { supervision: supervise({ decide: rejecting('late') as never }) }).tell('go'),
}

describe('an async function where a plain one was expected rejects, and nothing escapes', () => {
  for (const [name, act] of Object.entries(cases))
    test(name, async () => {
      const kit = createTestKit()
      act(kit)
      await kit.advance(100)
      await passes()
      expect(escaped).toEqual([])
      // Told to the log, or, where the promise itself was the mistake, to supervision.
      expect(kit.logs.some((l) => l.level === 'error' && /late|promise|decide/i.test((l.fields['cause'] as Error).message))).toBe(true)
      await kit.end()
    })

  test('close of the middleware of a system', async () => {
    const kit = createTestKit({ middleware: [{ close: rejecting('late') }] })
    await kit.end()
    await passes()
    expect(escaped).toEqual([])
  })

  test('a logger', async () => {
    const log = rejecting('late')
    const kit = createTestKit({ logger: { debug: log, info: log, warn: log, error: log } satisfies Logger })
    kit.system.spawn(failing).tell('go')
    await kit.advance(100)
    await passes()
    expect(escaped).toEqual([])
    await kit.end()
  })
})

test('what is called at the end of a subscription may throw, and the shutdown resolves', async () => {
  const kit = createTestKit()
  const ended: string[] = []
  kit.system.events.listen(
    () => {},
    undefined,
    () => {
      ended.push('first')
      throw new Error('late')
    },
  )
  kit.system.events.listen(
    () => {},
    undefined,
    () => void ended.push('second'),
  )
  kit.system.spawn(receive<string>(() => same))
  await kit.settle()
  const closing = kit.system.shutdown()
  await kit.advance(40_000)
  expect(await closing).toMatchObject({ stopped: 1 })
  expect(ended).toEqual(['first', 'second'])
  kit.expectLog('an event listener failed')
})

describe('a promise that is handed over is observed, whatever becomes of it:', () => {
  const reject = async (): Promise<never> => {
    await Promise.resolve()
    throw new Error('late')
  }

  test('piped by a context that has ended', async () => {
    const kit = createTestKit()
    let ctx: ActorContext<string> | undefined
    const ref = kit.system.spawn(
      receive<string>((c) => {
        ctx = c
        return same
      }),
    )
    ref.tell('go')
    await kit.settle()
    kit.system.kill(ref)
    await kit.settle()
    const pipe = (): void => ctx!.pipeToSelf(reject(), String, String)
    expect(pipe).toThrow('that incarnation has ended')
    await passes()
    expect(escaped).toEqual([])
    await kit.end()
  })

  test('piped with something that is no mapper', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>((c) => c.pipeToSelf(reject(), 7 as never, String)))
    ref.tell('go')
    await kit.advance(100)
    await passes()
    expect(escaped).toEqual([])
    expect(await kit.checkLedger()).toMatchObject({ sent: 1, failed: 1 })
    await kit.end()
  })

  for (const [name, then] of Object.entries({
    'calls back at once': (ok: (v: unknown) => void) => ok(same),
    'calls back twice': (ok: (v: unknown) => void) => {
      ok(same)
      ok(same)
    },
    throws: () => {
      throw new Error('bang')
    },
  }))
    test(`returned by a handler, with a then of its own that ${name}: the actor goes on`, async () => {
      const kit = createTestKit()
      const seen: string[] = []
      const odd = (): Promise<never> => Object.defineProperty(Promise.resolve(), ['th', 'en'].join(''), { value: then }) as Promise<never>
      const ref = kit.system.spawn(
        receive<string>((_c, m) => {
          seen.push(m)
          return m === 'odd' ? odd() : same
        }),
      )
      ref.tell('odd')
      ref.tell('after')
      await kit.advance(1000)
      expect(seen).toEqual(['odd', 'after'])
      await kit.end()
    })

  test('returned by a handler, and its constructor throws: the actor goes on', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const odd = (): Promise<never> =>
      Object.defineProperty(Promise.resolve(), 'constructor', {
        get: () => {
          throw new Error('bang')
        },
      }) as never
    const ref = kit.system.spawn(
      receive<string>((_c, m) => {
        seen.push(m)
        return m === 'odd' ? odd() : same
      }),
    )
    ref.tell('odd')
    ref.tell('after')
    await kit.advance(1000)
    expect(seen).toEqual(['odd', 'after'])
    await kit.end()
  })
})

test('an adapter that is async fails its actor with a clear error, and its rejection reaches nobody else', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    receive<string>((ctx, m) => {
      const adapt = async (): Promise<string> => {
        await Promise.resolve()
        throw new Error('late')
      }
      if (m === 'go') ctx.adapt<string>(adapt as never).tell('foreign')
      return same
    }),
  )
  ref.tell('go')
  await kit.advance(100)
  await passes()
  expect(escaped).toEqual([])
  expect(kit.logs.find((l) => l.level === 'error')?.fields['cause']).toMatchObject({ code: 'not-allowed' })
  expect(await kit.checkLedger()).toMatchObject({ sent: 2, handled: 1, failed: 1 })
  await kit.end()
})

describe('signals that are not the platform’s', () => {
  const bang = (): never => {
    throw new Error('bang')
  }
  const fakes: Readonly<Record<string, { readonly signal: object; readonly outcome: string }>> = {
    'addEventListener throws': { signal: { aborted: false, addEventListener: bang, removeEventListener() {} }, outcome: 'bang' },
    'removeEventListener throws': { signal: { aborted: false, addEventListener() {}, removeEventListener: bang }, outcome: 'answer' },
    'aborted throws': {
      signal: {
        get aborted() {
          return bang()
        },
        addEventListener() {},
        removeEventListener() {},
      },
      outcome: 'bang',
    },
    'it calls back at once': {
      signal: { aborted: false, addEventListener: (_: string, f: () => void) => f(), removeEventListener() {} },
      outcome: 'cancelled',
    },
    'it calls back at once, and its reason throws': {
      signal: {
        aborted: false,
        get reason() {
          return bang()
        },
        addEventListener: (_: string, f: () => void) => f(),
        removeEventListener() {},
      },
      outcome: 'cancelled',
    },
    'it is null': { signal: null as never, outcome: 'AbortSignal' },
  }
  for (const [name, { signal, outcome }] of Object.entries(fakes))
    test(`${name}: the ask settles, and nothing is left of it`, async () => {
      const kit = createTestKit()
      const ref = kit.system.spawn(
        receive<{ replyTo: { tell(answer: string): void } }>((ctx) => {
          ctx.reply('answer')
          return same
        }),
      )
      const settled = Promise.resolve(ref.ask({} as never, { timeout: 50, signal: signal as never })).then(
        (answer) => String(answer),
        (cause: Error) => cause.message,
      )
      await kit.advance(10)
      expect(await settled).toContain(outcome)
      await kit.advance(100)
      await passes()
      expect(escaped).toEqual([])
      await kit.end()
    })
})

test('a task that fails with an error which cannot be named fails its cancelled group, and waitAll settles', async () => {
  const group = new TaskGroup()
  const unnamed = Object.defineProperty(new Error('bang'), 'name', {
    get: () => {
      throw new Error('no name')
    },
  })
  void group.spawn(async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    throw unnamed
  })
  group.cancel()
  await expect(group.waitAll()).rejects.toMatchObject({ code: 'tasks-failed', errors: [unnamed] })
  await passes()
  expect(escaped).toEqual([])
})

describe('a chain of middleware is looked at when it is given', () => {
  // oxlint-disable-next-line no-sparse-arrays -- it is what is refused
  const holed = [, {}] as unknown as Middleware[]
  test('a hole in it is refused at spawn, and at the creation of a system', async () => {
    expect(() => createTestKit({ middleware: holed })).toThrow(InvalidOption)
    const kit = createTestKit()
    expect(() => kit.system.spawn(ending, { middleware: holed })).toThrow('middleware[0]')
    await kit.end()
  })
  test('what is no function is refused', async () => {
    const kit = createTestKit()
    expect(() => kit.system.spawn(ending, { middleware: [{}, { after: 7 as never }] })).toThrow('middleware[1].after')
    await kit.end()
  })
  test('what is done to the array later changes nothing', async () => {
    const chain: Middleware[] = [{}]
    const kit = createTestKit({ middleware: chain })
    chain.length = 0
    chain.push(undefined as never)
    kit.system.spawn(ending, { middleware: chain.slice(1) }).tell('go')
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ handled: 1 })
    await kit.end()
  })
})

describe('refs that are not Troupe’s, and code that is async where it must not be', () => {
  const hostileRef = { path: '/elsewhere', tell: rejecting('late') }
  const asyncKey = rejecting('late') as never as () => string
  const hostile: Readonly<Record<string, (kit: TestKit) => void>> = {
    'an answer address': (kit) =>
      kit.system
        .spawn(
          receive<object>((ctx) => {
            ctx.reply('answer')
            return same
          }),
        )
        .tell({ replyTo: hostileRef }),
    'the target of sendAfter': (kit) => void kit.system.sendAfter(hostileRef as never, 1, 'late' as never),
    'a subscriber': (kit) => {
      kit.system.events.subscribe(hostileRef as never, 'noise')
      kit.system.events.publish({ type: 'noise' })
    },
    'whoever waits for the first of several answers': (kit) => {
      const answering = receive<object>((ctx) => {
        ctx.reply('answer')
        return same
      })
      kit.system.spawn(pool(answering, { size: 2, strategy: scatterGatherFirst({ timeout: 50 }) })).tell({ replyTo: hostileRef })
    },
    'whoever waits for the first of several answers, and throws': (kit) => {
      const answering = receive<object>((ctx) => {
        ctx.reply('answer')
        return same
      })
      const throwing = {
        tell: () => {
          throw new Error('late')
        },
      }
      kit.system.spawn(pool(answering, { size: 2, strategy: scatterGatherFirst({ timeout: 50 }) })).tell({ replyTo: throwing })
    },
    'the key of a router': (kit) => kit.system.spawn(pool(ending, { size: 2, strategy: consistentHash<string>(asyncKey) })).tell('go'),
    'the key of entities': (kit) => kit.system.spawn(entities<string>({ keyOf: asyncKey, create: () => ending, idle: 10 })).tell('go'),
    'retryIf of retry': (kit) =>
      void retry(() => Promise.reject(new Error('bang')), { attempts: 2, retryIf: asyncKey as never, clock: kit.system.clock }).catch(() => {}),
    'isFailure of a breaker': (kit) => {
      const breaker = new CircuitBreaker(kit.system, { isFailure: asyncKey as never })
      breaker.call(() => Promise.reject(new Error('bang'))).catch(() => {})
    },
    'a predicate': (kit) => {
      kit.system.events.listen(() => {}, asyncKey as never)
      kit.system.spawn(ending)
    },
    'the factory of a question': (kit) =>
      void kit.system
        .spawn(ending)
        .ask(asyncKey as never, { timeout: 10 })
        .catch(() => {}),
  }
  for (const [name, act] of Object.entries(hostile))
    test(name, async () => {
      const kit = createTestKit()
      act(kit)
      await kit.advance(200)
      await passes()
      expect(escaped).toEqual([])
      await kit.checkLedger()
      await kit.end()
    })
})

test('tell does not throw for a sender that cannot be asked what it is, and neither does whoever looks at it', async () => {
  const kit = createTestKit()
  const { proxy, revoke } = Proxy.revocable({ tell() {} }, {})
  revoke()
  let asked = 0
  const moody = new Proxy(
    { tell() {} },
    {
      getPrototypeOf: () => {
        if (++asked > 1) throw new Error('bang')
        return null
      },
    },
  )
  const seen: unknown[] = []
  const ref = kit.system.spawn(
    receive<string>((ctx, m) => {
      seen.push([m, ctx.sender])
      return same
    }),
  )
  ref.tell('revoked', proxy as never)
  ref.tell('moody', moody as never)
  ref.tell('as an option', { sender: moody as never })
  await kit.settle()
  expect(seen.map((s) => (s as unknown[])[0])).toEqual(['revoked', 'moody', 'as an option'])
  await kit.checkLedger()
  await kit.end()
})
