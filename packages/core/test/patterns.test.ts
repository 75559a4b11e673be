import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  Actor,
  type ActorRef,
  type Behavior,
  behaviorOfClass,
  CallTimeout,
  CircuitBreaker,
  CircuitOpen,
  delay,
  entities,
  fsm,
  handleOf,
  InvalidOption,
  type MessageSchema,
  OfferRefused,
  passivate,
  processor,
  receive,
  same,
  setup,
  withOptions,
} from '@troupe/core'

/** What a promise rejects with; watched from the start, so that it may reject before it is looked at. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (cause: unknown) => cause,
  )

describe('a state machine', () => {
  type Door = { closed: { opened: number }; open: { by: string; opened: number }; broken: null }
  type M = { type: 'push'; by: string } | { type: 'kick' } | { type: 'state'; replyTo: ActorRef<string> }
  const door = (log: string[] = []): Behavior<M> =>
    fsm<Door, M>({
      initial: ['closed', { opened: 0 }],
      states: {
        closed: {
          enter: (at) => void log.push(`enter closed ${at.data.opened}`),
          exit: () => void log.push('exit closed'),
          on: (at, m) => {
            if (m.type === 'push') return at.to('open', { by: m.by, opened: at.data.opened + 1 })
            if (m.type === 'state') return m.replyTo.tell(`closed ${at.data.opened}`)
            return at.to('broken', null)
          },
        },
        open: {
          enter: (at) => void log.push(`enter open by ${at.data.by}`),
          on: (at, m) => {
            if (m.type === 'push') return at.stay({ ...at.data, by: m.by })
            if (m.type === 'state') return m.replyTo.tell(`open ${at.data.by}`)
            return at.stop()
          },
          timeout: { after: 100, decide: (at) => at.to('closed', { opened: at.data.opened }) },
        },
        broken: { on: (at, m) => (m.type === 'state' ? m.replyTo.tell('broken') : at.unhandled()) },
      },
    })
  const stateOf = async (kit: ReturnType<typeof createTestKit>, ref: ActorRef<M>): Promise<string> => {
    const answer = ref.ask({ type: 'state' })
    await kit.settle()
    return answer
  }
  test('goes from state to state with typed data, leaving and entering', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(door(log))
    expect(await stateOf(kit, ref)).toBe('closed 0')
    ref.tell({ type: 'push', by: 'ann' })
    expect(await stateOf(kit, ref)).toBe('open ann')
    ref.tell({ type: 'push', by: 'bob' })
    expect(await stateOf(kit, ref)).toBe('open bob')
    expect(log).toEqual(['enter closed 0', 'exit closed', 'enter open by ann'])
    await kit.end()
  })
  test('a state times out in itself only: staying does not prolong it, leaving ends it', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(door())
    ref.tell({ type: 'push', by: 'ann' })
    await kit.advance(60)
    ref.tell({ type: 'push', by: 'bob' })
    await kit.advance(39)
    expect(await stateOf(kit, ref)).toBe('open bob')
    await kit.advance(1)
    expect(await stateOf(kit, ref)).toBe('closed 1')
    await kit.advance(500)
    expect(await stateOf(kit, ref)).toBe('closed 1')
    await kit.end()
  })
  test('may find a message unhandled, or stop', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(door())
    ref.tell({ type: 'kick' })
    ref.tell({ type: 'kick' })
    expect(await stateOf(kit, ref)).toBe('broken')
    expect((await kit.checkLedger()).unhandled).toBe(1)
    const other = kit.system.spawn(door())
    other.tell({ type: 'push', by: 'x' })
    other.tell({ type: 'kick' })
    await kit.settle()
    expect(kit.system.phaseOf(other)).toBe('terminated')
    await kit.end()
  })
  test('may decide asynchronously, and a throw goes to supervision: it begins again', async () => {
    const kit = createTestKit()
    type Light = { red: null; green: { at: number } }
    const ref = kit.system.spawn(
      fsm<Light, 'go' | 'boom' | { replyTo: ActorRef<string> }>({
        initial: ['red', null],
        states: {
          red: { on: async (at, m) => (m === 'go' ? at.to('green', { at: 1 }) : typeof m === 'object' ? m.replyTo.tell('red') : undefined) },
          green: {
            on: (_at, m) => {
              if (m === 'boom') throw new Error('boom')
              if (typeof m === 'object') m.replyTo.tell('green')
            },
          },
        },
      }),
    )
    ref.tell('go')
    const first = ref.ask({})
    ref.tell('boom')
    const second = ref.ask({})
    await kit.advance(100)
    expect([await first, await second]).toEqual(['green', 'red'])
    await kit.end()
  })
  test('may enter and leave asynchronously: the next message waits, a rejection goes to supervision', async () => {
    const kit = createTestKit()
    const log: string[] = []
    type Light = { red: null; green: null }
    const slowly = async (what: string): Promise<void> => {
      await delay(10, { clock: kit.system.clock })
      log.push(what)
      if (what === 'bad') throw new Error(what)
    }
    const ref = kit.system.spawn(
      fsm<Light, 'go' | 'bad'>({
        initial: ['red', null],
        states: {
          red: { enter: () => slowly('in red'), exit: () => slowly('out of red'), on: (at) => at.to('green', null) },
          green: {
            enter: () => slowly('in green'),
            exit: () => slowly('bad'),
            on: (at, m) => (m === 'bad' ? at.to('red', null) : void log.push(m)),
          },
        },
      }),
    )
    for (const m of ['go', 'go', 'bad'] as const) ref.tell(m)
    await kit.advance(35)
    expect(log).toEqual(['in red', 'out of red', 'in green', 'go'])
    await kit.advance(15)
    expect(log.at(-1)).toBe('bad')
    expect((await kit.system.inspect(ref)).incarnation).toBe(0)
    await kit.advance(1000)
    expect((await kit.system.inspect(ref)).incarnation).toBe(1)
    await kit.end()
  })

  test('takes whatever is thenable for a decision to come', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      fsm<{ a: null; b: null }, 'go'>({
        initial: ['a', null],
        states: {
          // oxlint-disable-next-line unicorn/no-thenable
          a: { on: (at) => ({ then: (done: (d: unknown) => void) => done(at.to('b', null)) }) as never },
          b: { on: () => {}, enter: () => void log.push('b') },
        },
      }),
    )
    ref.tell('go')
    await kit.settle()
    expect(log).toEqual(['b'])
    await kit.end()
  })

  test('times out also where a schema guards what it is told', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const accepts: MessageSchema = {
      '~standard': { version: 1, vendor: 'test', validate: (value) => (value === 'go' ? { value } : { issues: [{ message: 'unknown' }] }) },
    }
    const ref = kit.system.spawn(
      fsm<{ a: null; b: null }, 'go'>({
        initial: ['a', null],
        states: {
          a: { on: () => {}, timeout: { after: 10, decide: (at) => at.to('b', null) } },
          b: { on: () => {}, enter: () => void log.push('b') },
        },
      }),
      { accepts },
    )
    ref.tell('stop' as 'go')
    await kit.advance(10)
    expect(log).toEqual(['b'])
    expect(kit.system.deadLetters.list()).toMatchObject([{ reason: 'not-accepted', message: 'stop' }])
    await kit.end()
  })

  test('an initial state that does not exist is refused', () => {
    expect(() => fsm<{ a: null }, never>({ initial: ['b' as 'a', null], states: { a: { on: () => {} } } })).toThrow(InvalidOption)
  })
})

describe('a circuit breaker', () => {
  const failing = () => Promise.reject(new Error('down'))
  test('opens after so many failures in a row, fails fast, and closes after a trial that succeeds', async () => {
    const kit = createTestKit()
    const changes: string[] = []
    const breaker = new CircuitBreaker(kit.system, {
      name: 'bank',
      maxFailures: 2,
      resetTimeout: 100,
      onChange: (from, to) => void changes.push(`${from} → ${to}`),
    })
    await expect(breaker.call(failing)).rejects.toThrow('down')
    await breaker.call(() => 'fine')
    await expect(breaker.call(failing)).rejects.toThrow('down')
    expect(breaker.state).toBe('closed')
    await expect(breaker.call(failing)).rejects.toThrow('down')
    expect(breaker.state).toBe('open')
    let called = false
    await expect(breaker.call(() => (called = true))).rejects.toBeInstanceOf(CircuitOpen)
    expect(called).toBe(false)
    await kit.advance(100)
    expect(breaker.state).toBe('half-open')
    expect(await breaker.call(async () => 'back')).toBe('back')
    expect(changes).toEqual(['closed → open', 'open → half-open', 'half-open → closed'])
    await kit.end()
  })
  test('when half-open lets one try; its failure opens it for longer', async () => {
    const kit = createTestKit()
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, resetTimeout: 100, resetFactor: 2, maxResetTimeout: 300 })
    await expect(breaker.call(failing)).rejects.toThrow('down')
    await kit.advance(100)
    let fail!: (cause: Error) => void
    const trial = breaker.call(() => new Promise((_resolve, reject) => (fail = reject)))
    await expect(breaker.call(() => 1)).rejects.toBeInstanceOf(CircuitOpen)
    fail(new Error('still down'))
    await expect(trial).rejects.toThrow('still down')
    await kit.advance(199)
    expect(breaker.state).toBe('open')
    await kit.advance(1)
    expect(breaker.state).toBe('half-open')
    await kit.end()
  })
  test('a breaker whose resetTimeout has passed opens anew by hand, and for the whole time', async () => {
    const kit = createTestKit()
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, resetTimeout: 100 })
    breaker.open()
    await kit.advance(150)
    breaker.open()
    await expect(breaker.call(() => 1)).rejects.toBeInstanceOf(CircuitOpen)
    await kit.advance(99)
    expect(breaker.state).toBe('open')
    await kit.advance(1)
    expect(breaker.state).toBe('half-open')
    await kit.end()
  })
  test('a call that takes too long counts as failed, and its signal is aborted', async () => {
    const kit = createTestKit()
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, callTimeout: 50 })
    let aborted = false
    const call = breaker.call((signal) => {
      signal.addEventListener('abort', () => (aborted = true))
      return new Promise(() => {})
    })
    const outcome = failureOf(call)
    await kit.advance(50)
    expect(await outcome).toBeInstanceOf(CallTimeout)
    expect([aborted, breaker.state]).toEqual([true, 'open'])
    expect(kit.system.metrics().timers).toBe(0)
    await kit.end()
  })
  test.each(['close', 'open'] as const)('a trial that is under way when it is told to %s by hand has no say any more', async (verb) => {
    const kit = createTestKit()
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, resetTimeout: 100 })
    breaker.open()
    await kit.advance(100)
    let end!: { ok: () => void; fail: (cause: Error) => void }
    const trial = failureOf(breaker.call(() => new Promise<void>((ok, fail) => (end = { ok, fail }))))
    breaker[verb]()
    if (verb === 'close') end.fail(new Error('late'))
    else end.ok()
    await trial
    expect(breaker.state).toBe(verb === 'close' ? 'closed' : 'open')
    if (verb === 'close') expect(breaker.failures).toBe(0)
    // The next trial is not kept from trying by the old one.
    breaker.open()
    await kit.advance(100)
    expect(await breaker.call(() => 7)).toBe(7)
    expect(breaker.state).toBe('closed')
    await kit.end()
  })

  test('calls made before it opened have no say about it once it is closed again', async () => {
    const kit = createTestKit()
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 2, resetTimeout: 100 })
    const ends: ((cause: Error) => void)[] = []
    const slow = [1, 2].map(() => failureOf(breaker.call(() => new Promise((_ok, fail) => ends.push(fail)))))
    breaker.open()
    await kit.advance(100)
    await breaker.call(() => 1)
    expect(breaker.state).toBe('closed')
    for (const fail of ends) fail(new Error('old news'))
    await Promise.all(slow)
    expect([breaker.state, breaker.failures]).toEqual(['closed', 0])
    await kit.end()
  })

  test('an isFailure that throws is logged, the failure counts, and the caller hears what the call failed with', async () => {
    const kit = createTestKit()
    const isFailure = (): boolean => {
      throw new Error('of isFailure')
    }
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, isFailure })
    expect(await failureOf(breaker.call(() => Promise.reject(new Error('of the call'))))).toMatchObject({ message: 'of the call' })
    expect(breaker.state).toBe('open')
    kit.expectLog('isFailure of a circuit breaker failed')
    await kit.end()
  })

  test('failures that do not count do not open it', async () => {
    const kit = createTestKit()
    const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, isFailure: (cause) => (cause as Error).message !== 'not found' })
    await expect(breaker.call(() => Promise.reject(new Error('not found')))).rejects.toThrow('not found')
    expect(breaker.state).toBe('closed')
    await kit.end()
  })
})

test('an onChange that throws is logged, and changes neither the outcome of a call nor the state', async () => {
  const kit = createTestKit()
  const onChange = (): never => {
    throw new Error('bad listener')
  }
  const breaker = new CircuitBreaker(kit.system, { maxFailures: 1, resetTimeout: 100, onChange })
  const cause = new Error('down')
  expect(await failureOf(breaker.call(() => Promise.reject(cause)))).toBe(cause)
  expect(breaker.state).toBe('open')
  await kit.advance(100)
  expect(await breaker.call(() => 7)).toBe(7)
  expect(breaker.state).toBe('closed')
  for (let i = 0; i < 3; i++) kit.expectLog('onChange of a circuit breaker failed')
  await kit.end()
})

describe('a processor', () => {
  type Job = { n: number; replyTo?: ActorRef<number> }
  const gated = (options: Parameters<typeof processor>[1]) => {
    const kit = createTestKit()
    const open = new Map<number, () => void>()
    let most = 0
    const ref = kit.system.spawn(
      processor<Job>(async (_ctx, { n, replyTo }) => {
        await new Promise<void>((resolve) => {
          open.set(n, resolve)
          most = Math.max(most, open.size)
        })
        open.delete(n)
        if (n < 0) throw new Error('bad job')
        replyTo?.tell(n)
      }, options),
    )
    return { kit, open, ref, most: () => most }
  }
  test('has five in progress at most unless told otherwise, and begins in order', async () => {
    const { kit, open, ref, most } = gated({})
    for (let n = 0; n < 20; n++) ref.tell({ n })
    await kit.settle()
    expect([...open.keys()]).toEqual([0, 1, 2, 3, 4])
    expect(await kit.checkLedger()).toMatchObject({ inProgress: 5, queued: 15 })
    open.get(3)!()
    await kit.settle()
    expect([...open.keys()]).toEqual([0, 1, 2, 4, 5])
    while (open.size > 0) {
      for (const resolve of open.values()) resolve()
      await kit.settle()
    }
    expect(most()).toBe(5)
    expect((await kit.checkLedger()).handled).toBe(20)
    await kit.end()
  })
  test('keeps a bounded queue beyond that, with the policy chosen', async () => {
    const { kit, ref } = gated({ maxConcurrent: 2, capacity: 3, overflow: 'reject' })
    for (let n = 0; n < 2; n++) ref.tell({ n })
    await kit.settle()
    for (let n = 2; n < 10; n++) ref.tell({ n })
    expect(await kit.checkLedger()).toMatchObject({ inProgress: 2, queued: 3, deadLettered: 5 })
    await expect(ref.offer({ n: 11 })).rejects.toBeInstanceOf(OfferRefused)
    await kit.end()
  })
  test('a job that fails rejects its own ask and leaves the others alone', async () => {
    const { kit, open, ref } = gated({ maxConcurrent: 2 })
    const bad = ref.ask<number>((replyTo) => ({ n: -1, replyTo }))
    const good = ref.ask<number>((replyTo) => ({ n: 1, replyTo }))
    const rejected = failureOf(bad)
    await kit.settle()
    open.get(-1)!()
    await kit.settle()
    open.get(1)!()
    await kit.settle()
    expect(String(await rejected)).toContain('bad job')
    expect(await good).toBe(1)
    await kit.end()
  })
})

describe('passivation', () => {
  type M = { id: string; text: string }
  test('a silent actor stops, a busy one stays, whatever it becomes', async () => {
    const kit = createTestKit()
    const counting = (n: number): Behavior<string> => receive<string>(() => setup(() => counting(n + 1)))
    const ref = kit.system.spawn(passivate(withOptions(counting(0), { name: 'sleeper' }), { after: 100 }))
    expect(ref.path).toBe('/user/sleeper')
    for (let i = 0; i < 5; i++) {
      await kit.advance(99)
      ref.tell('still there')
      await kit.settle()
      expect(kit.system.phaseOf(ref)).toBe('running')
    }
    await kit.advance(201)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
  test('a message that comes between the end of the silence and the stop is handled, not lost', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const sleeper = kit.system.spawn(
      passivate(
        receive<string>((_ctx, m) => void seen.push(m)),
        { after: 100 },
      ),
    )
    await kit.settle()
    // Both are due at once: the timer queues ReceiveTimeout, which goes first, and then comes the message.
    kit.system.sendAfter(sleeper, 100, 'just in time')
    await kit.advance(100)
    expect(seen).toEqual(['just in time'])
    expect(kit.system.phaseOf(sleeper)).toBe('running')
    await kit.end()
  })
  test('the behavior still gets its own signals', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const inner = receive<string>(
      () => same,
      (_ctx, s) => void seen.push(s.type),
    )
    kit.system.spawn(passivate(inner, { after: 10 }))
    await kit.advance(50)
    expect(seen).toEqual(['PreStart', 'PostStart', 'PreStop', 'PostStop'])
    await kit.end()
  })
  test('entities live one per key, leave when idle and come back when needed', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const made: string[] = []
    const entity = (id: string): Behavior<M> =>
      setup((_ctx) => {
        made.push(id)
        return receive((_c, m) => void log.push(`${id}: ${m.text}`))
      })
    const router = kit.system.spawn(entities<M>({ keyOf: (m) => m.id, create: entity, idle: 100 }))
    router.tell({ id: 'a', text: '1' })
    router.tell({ id: 'b', text: '2' })
    router.tell({ id: 'a', text: '3' })
    await kit.settle()
    expect(made).toEqual(['a', 'b'])
    await kit.advance(300)
    expect((await kit.system.inspect(router)).children).toEqual([])
    router.tell({ id: 'a', text: '4' })
    await kit.settle()
    expect(made).toEqual(['a', 'b', 'a'])
    expect(log).toEqual(['a: 1', 'a: 3', 'b: 2', 'a: 4'])
    await kit.end()
  })
  test('what arrives while an entity is leaving waits for its successor, in order', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let finish!: () => void
    const slow = (id: string): Behavior<M> =>
      receive(
        (_ctx, m) => void log.push(`${id}${m.text}`),
        (_ctx, s) => (s.type === 'PreStop' ? new Promise<void>((resolve) => (finish = resolve)) : undefined),
      )
    const router = kit.system.spawn(entities<M>({ keyOf: (m) => m.id, create: slow, idle: 100, capacity: 3 }))
    router.tell({ id: 'a', text: '0' })
    await kit.advance(250)
    for (let i = 1; i <= 4; i++) router.tell({ id: 'a', text: String(i) })
    router.tell({ id: 'b', text: '9' })
    await kit.settle()
    expect(log).toEqual(['a0', 'b9'])
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['mailbox-full'])
    finish()
    await kit.settle()
    expect(log).toEqual(['a0', 'b9', 'a1', 'a2', 'a3'])
    await kit.checkLedger()
    await kit.end()
  })
})

describe('passivation of class actors and of what waits', () => {
  class Account extends Actor {
    static readonly errors: unknown[] = []
    withdraw(amount: number): number {
      if (amount < 0) throw new Error('negative')
      return amount
    }
    override onError(cause: unknown): void {
      Account.errors.push(cause)
    }
  }
  test('a class actor that is passivated keeps its handle and its onError', async () => {
    const kit = createTestKit()
    const account = handleOf<Account>(kit.system.spawn(passivate(behaviorOfClass(Account), { after: 100 })))
    const good = account.ask.withdraw(3)
    const bad = failureOf(account.ask.withdraw(-1))
    await kit.settle()
    expect(await good).toBe(3)
    expect(Account.errors).toEqual([await bad])
    await kit.advance(500)
    expect(kit.system.phaseOf(account)).toBe('terminated')
    await kit.end()
  })
  test('a message whose key or entity cannot be made is refused alone: its asker hears why, and no other entity is touched', async () => {
    type Q = { key: string; replyTo: ActorRef<number> }
    const kit = createTestKit()
    const counting = (): Behavior<Q> =>
      setup(() => {
        let n = 0
        return receive((_ctx, m) => {
          m.replyTo.tell(++n)
          return same
        })
      })
    const create = (key: string): Behavior<Q> => {
      if (key === '') throw new RangeError('an empty key')
      return counting()
    }
    const keyOf = ({ key }: Q): string => {
      if (key === 'none') throw new TypeError('no key')
      return key
    }
    const router = kit.system.spawn(entities<Q>({ keyOf, create, idle: 1000 }), { name: 'all' })
    const ask = async (key: string): Promise<unknown> => {
      const answer = router.ask({ key }).catch((cause: unknown) => cause)
      await kit.settle()
      return answer
    }
    expect(await ask('a')).toBe(1)
    // More than supervision would forgive.
    for (let i = 0; i < 5; i++)
      for (const key of ['', 'none'])
        expect(await ask(key)).toMatchObject({ code: 'ask-refused', message: expect.stringMatching(/not-accepted: (an empty|no) key/) as string })
    expect(await ask('a')).toBe(2)
    expect(kit.system.deadLetters.list().map(({ reason }) => reason)).toEqual(Array.from({ length: 10 }, () => 'not-accepted'))
    expect(kit.system.phaseOf(router)).toBe('running')
    await kit.end()
  })
  test('what waits for a leaving entity is handled also when the router of entities restarts meanwhile', async () => {
    const kit = createTestKit()
    const seen: string[] = []
    const releases: (() => void)[] = []
    const entity = receive<string>(
      (_ctx, m) => void seen.push(m),
      (_ctx, s) => (s.type === 'PreStop' && seen.length === 1 ? new Promise<undefined>((resolve) => releases.push(() => resolve(undefined))) : same),
    )
    const router = kit.system.spawn(entities<string>({ keyOf: (m) => m.slice(0, 1), create: () => entity, idle: 100 }))
    router.tell('a1')
    await kit.settle()
    await kit.advance(150)
    router.tell('a2')
    await kit.settle()
    kit.system.restart(router)
    await kit.settle()
    expect(seen).toEqual(['a1'])
    for (const release of releases) release()
    await kit.settle()
    await kit.advance(50)
    expect(seen).toEqual(['a1', 'a2'])
    await kit.end()
  })
})
