// Questions, from the asker's side, in both styles: every way in which one may end.
import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { Actor, type ActorRef, AskTimeout, type Behavior, DeadlockError, receive, same, unhandled } from '@troupe/core'

type Target =
  | { type: 'get'; replyTo: ActorRef<number> }
  | { type: 'twice'; replyTo: ActorRef<number> }
  | { type: 'boom'; replyTo: ActorRef<number> }
  | { type: 'unknown'; replyTo: ActorRef<number> }
  | { type: 'hang'; replyTo: ActorRef<number> }
  | { type: 'silent'; replyTo: ActorRef<number> }
  | { type: 'busy'; ms: number }

const forever = new Promise<never>(() => {})

/** The same target in both styles; `kit` lets a handler take time. */
const behavior = (kit: TestKit): Behavior<Target> =>
  receive((_ctx, m) => {
    switch (m.type) {
      case 'get':
        m.replyTo.tell(7)
        return same
      case 'twice':
        m.replyTo.tell(1)
        m.replyTo.tell(2)
        return same
      case 'boom':
        throw new Error('boom')
      case 'unknown':
        return unhandled
      case 'hang':
        return forever
      case 'silent':
        return same
      case 'busy':
        kit.clock.tick(m.ms)
        return same
    }
  })

class ClassTarget extends Actor {
  readonly #kit: TestKit
  constructor(kit: TestKit) {
    super()
    this.#kit = kit
  }
  get(): number {
    return 7
  }
  twice(): number {
    this.ctx.reply(1)
    return 2
  }
  boom(): number {
    throw new Error('boom')
  }
  hang(): Promise<number> {
    return forever
  }
  silent(): number {
    this.ctx.reply(0)
    return 0
  }
  busy(ms: number): void {
    this.#kit.clock.tick(ms)
  }
}

interface Asks {
  readonly ref: ActorRef<never>
  ask(type: 'get' | 'twice' | 'boom' | 'unknown' | 'hang' | 'silent', options?: { timeout?: number; signal?: AbortSignal }): Promise<number>
  busy(ms: number): void
}

const styles: readonly [string, (kit: TestKit) => Asks][] = [
  [
    'functions',
    (kit) => {
      const ref = kit.system.spawn(behavior(kit), { name: 'target' })
      return { ref, ask: (type, options) => ref.ask({ type }, options), busy: (ms) => ref.tell({ type: 'busy', ms }) }
    },
  ],
  [
    'classes',
    (kit) => {
      const ref = kit.system.spawn(ClassTarget, { name: 'target', args: [kit] })
      const ask: Asks['ask'] = (type, options) =>
        (ref as unknown as ActorRef<{ type: string; args: []; replyTo: ActorRef<number> }>).ask({ type, args: [] }, options)
      return { ref, ask, busy: (ms) => ref.tell.busy(ms) }
    },
  ],
]

/** After a few slow messages the clock is read after each one. */
const timedAlone = async (kit: TestKit, target: { busy(ms: number): void }): Promise<void> => {
  for (let i = 0; i < 4; i++) target.busy(10)
  await kit.settle()
}

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((e: unknown) => e)

describe.each(styles)('ask, with %s', (_style, make) => {
  test('asking a dead actor rejects at once and dead-letters the question', async () => {
    const kit = createTestKit()
    const target = make(kit)
    target.ref.stop()
    await kit.settle()
    const outcome = outcomeOf(target.ask('get'))
    await kit.settle()
    expect(await outcome).toMatchObject({ code: 'ask-target-stopped', path: '/user/target' })
    expect(kit.system.deadLetters.list()).toMatchObject([{ reason: 'stopped', message: { type: 'get' } }])
    await kit.end()
  })

  test('asking one that dies meanwhile rejects at once, with the cause', async () => {
    const kit = createTestKit({ supervision: 'stop' })
    const target = make(kit)
    const inProgress = outcomeOf(target.ask('hang'))
    const queued = outcomeOf(target.ask('get'))
    await kit.settle()
    kit.system.kill(target.ref)
    await kit.settle()
    expect(await inProgress).toMatchObject({ code: 'ask-target-stopped' })
    expect(await queued).toMatchObject({ code: 'ask-target-stopped' })
    const other = kit.system.spawn(behavior(kit))
    const boom = outcomeOf(other.ask({ type: 'boom' }))
    const behind = outcomeOf(other.ask({ type: 'get' }))
    await kit.settle()
    expect(await boom).toMatchObject({ message: 'boom' })
    expect(await behind).toMatchObject({ code: 'ask-target-stopped', cause: { message: 'boom' } })
    await kit.end()
  })

  test('a second reply is a dead letter and harmless; so is a late one', async () => {
    const kit = createTestKit()
    const target = make(kit)
    const twice = target.ask('twice')
    await kit.settle()
    expect(await twice).toBe(1)
    expect(kit.system.deadLetters.list()).toMatchObject([{ reason: 'late-reply', message: 2 }])
    await kit.end()
  })

  test('abort rejects the ask, and the question is skipped when its turn comes, and counted', async () => {
    const kit = createTestKit()
    const target = make(kit)
    const abort = new AbortController()
    kit.system.suspend(target.ref, 'test')
    await kit.settle()
    const outcome = outcomeOf(target.ask('get', { signal: abort.signal }))
    const before = outcomeOf(target.ask('get', { signal: AbortSignal.abort('early') }))
    await kit.settle()
    abort.abort(new Error('changed my mind'))
    expect(await outcome).toMatchObject({ code: 'cancelled', cause: { message: 'changed my mind' } })
    expect(await before).toMatchObject({ code: 'cancelled', cause: 'early' })
    kit.system.resume(target.ref)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ dropped: 1, handled: 0, sent: 1 })
    await kit.end()
  })

  test('an expired question is skipped when its turn comes, and counted', async () => {
    const kit = createTestKit()
    const target = make(kit)
    kit.system.suspend(target.ref, 'test')
    const outcome = outcomeOf(target.ask('get', { timeout: 10 }))
    await kit.advance(10)
    expect(await outcome).toBeInstanceOf(AskTimeout)
    kit.system.resume(target.ref)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ dropped: 1, handled: 0 })
    await kit.end()
  })

  test.each(['restart', 'resume', 'stop'] as const)('a throw while answering rejects at once with the cause, under %s', async (supervision) => {
    const kit = createTestKit({ supervision })
    const target = make(kit)
    const outcome = outcomeOf(target.ask('boom'))
    await kit.settle()
    expect(await outcome).toMatchObject({ message: 'boom' })
    await kit.end()
  })

  test('an unhandled question rejects with Unhandled', async () => {
    const kit = createTestKit()
    const outcome = outcomeOf(make(kit).ask('unknown'))
    await kit.settle()
    expect(await outcome).toMatchObject({ code: 'unhandled' })
    await kit.end()
  })

  test('the timeout is 5 s unless the system or the ask says otherwise; bad ones are refused', async () => {
    const kit = createTestKit()
    const target = make(kit)
    const long = outcomeOf(target.ask('hang'))
    await kit.advance(4999)
    let settled = false
    void long.then(() => (settled = true))
    await kit.settle()
    expect(settled).toBe(false)
    await kit.advance(1)
    expect(await long).toMatchObject({ code: 'ask-timeout', timeout: 5000 })
    for (const timeout of [0, -1, Number.NaN, Infinity])
      expect(await outcomeOf(target.ask('get', { timeout }))).toMatchObject({ code: 'invalid-option', option: 'timeout' })
    const short = createTestKit({ askTimeout: 20 })
    const outcome = outcomeOf(make(short).ask('hang'))
    await short.advance(20)
    expect(await outcome).toMatchObject({ timeout: 20 })
    await kit.end()
    await short.end()
  })

  test('AskTimeout says where the question is and what the target is busy with', async () => {
    const kit = createTestKit()
    const target = make(kit)
    void outcomeOf(target.ask('hang', { timeout: 60_000 }))
    await kit.advance(100)
    target.busy(1)
    const queued = outcomeOf(target.ask('get', { timeout: 50 }))
    target.busy(1)
    await kit.advance(50)
    const error = (await queued) as AskTimeout
    expect(error).toMatchObject({
      path: '/user/target',
      phase: 'running',
      question: 'queued',
      ahead: 1,
      inProgress: { what: 'hang', ms: 150 },
      chain: ['/user/target'],
    })
    expect(error.message).toBe('/user/target did not answer within 50 ms: it is running, 1 message is ahead, hang in progress for 150 ms.')
    await kit.end()
  })

  test('AskTimeout names a synchronous handler that held the thread', async () => {
    const kit = createTestKit()
    const target = make(kit)
    await timedAlone(kit, target)
    target.busy(80)
    const queued = outcomeOf(target.ask('get', { timeout: 50 }))
    await kit.settle()
    expect(await queued).toMatchObject({ question: 'queued', ahead: 0, inProgress: { what: 'busy', ms: 80 } })
    await kit.end()
  })
})

test('AskTimeout names another actor that held the thread, a phase that takes no messages, and a question without a reply', async () => {
  const kit = createTestKit()
  const target = kit.system.spawn(behavior(kit), { name: 'target' })
  const hog = kit.system.spawn(behavior(kit), { name: 'hog' })
  await timedAlone(kit, { busy: (ms) => hog.tell({ type: 'busy', ms }) })
  hog.tell({ type: 'busy', ms: 80 })
  const queued = outcomeOf(target.ask({ type: 'get' }, { timeout: 50 }))
  await kit.settle()
  expect(((await queued) as Error).message).toContain('/user/hog held the thread for 80 ms')
  const silent = outcomeOf(target.ask({ type: 'silent' }, { timeout: 50 }))
  await kit.advance(50)
  expect(await silent).toMatchObject({ question: 'handled', inProgress: undefined })
  expect(((await silent) as Error).message).toContain('it took the question and has not replied')
  kit.system.suspend(target, 'maintenance')
  const suspended = outcomeOf(target.ask({ type: 'get' }, { timeout: 50 }))
  await kit.advance(50)
  expect(await suspended).toMatchObject({ phase: 'suspended', question: 'queued' })
  await kit.end()
})

type Hop = { type: 'go'; next: readonly ActorRef<Hop>[]; timeout?: number; replyTo: ActorRef<string> }

const hop: Behavior<Hop> = receive(async (ctx, m) => {
  const [first, ...next] = m.next
  if (first === undefined) return forever
  const options = m.timeout === undefined ? undefined : { timeout: m.timeout }
  m.replyTo.tell(await ctx.ask(first, { type: 'go', next }, options))
  return same
})

test('the remaining time flows into nested asks as a deadline, and the chain of asks is told', async () => {
  const kit = createTestKit()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => kit.system.spawn(hop, { name })) as [ActorRef<Hop>, ActorRef<Hop>, ActorRef<Hop>]
  const nested: AskTimeout[] = []
  kit.system.events.listen((e) => void nested.push((e as unknown as { cause: AskTimeout }).cause), 'actor.failed')
  const outcome = outcomeOf(a.ask({ type: 'go', next: [b, c], timeout: 4000 }, { timeout: 100 }))
  await kit.advance(100)
  expect(await outcome).toMatchObject({
    code: 'ask-timeout',
    path: '/user/a',
    timeout: 100,
    question: 'in-progress',
    chain: ['/user/a', '/user/b', '/user/c'],
  })
  expect(((await outcome) as Error).message).toContain('/user/a → /user/b → /user/c')
  // Whoever asked in between had no more time than was left.
  expect(nested.map((e) => [e.path, e.timeout, e.chain.at(-1)])).toEqual([
    ['/user/b', 100, '/user/c'],
    ['/user/c', 100, '/user/c'],
  ])
  await kit.end()
})

test('a nested ask made later has only what is left', async () => {
  const kit = createTestKit()
  type Slow = { type: 'go'; replyTo: ActorRef<string> }
  const end = kit.system.spawn(receive<Slow>(() => forever))
  let cause: AskTimeout | undefined
  const middle = kit.system.spawn(
    receive<Slow>(async (ctx, m) => {
      await new Promise<void>((resolve) => kit.system.clock.after(70, resolve, () => {}))
      m.replyTo.tell(await ctx.ask(end, { type: 'go' }).catch((e: AskTimeout) => ((cause = e), 'late')))
      return same
    }),
  )
  const outcome = outcomeOf(middle.ask({ type: 'go' }, { timeout: 100 }))
  await kit.advance(100)
  expect(await outcome).toBeInstanceOf(AskTimeout)
  expect(cause?.timeout).toBe(30)
  await kit.end()
})

test('twenty thousand asks that time out leave nothing armed and nothing linked', async () => {
  const kit = createTestKit()
  const target = kit.system.spawn(behavior(kit))
  kit.system.suspend(target, 'test')
  for (let round = 0; round < 5; round++) {
    let rejected = 0
    for (let i = 0; i < 4_000; i++) target.ask({ type: 'get' }, { timeout: 10 }).catch(() => rejected++)
    await kit.advance(10)
    expect(rejected).toBe(4_000)
    kit.system.resume(target)
    await kit.settle()
    kit.system.suspend(target, 'test')
    await kit.settle()
  }
  expect(await kit.checkLedger()).toMatchObject({ dropped: 20_000, queued: 0 })
  await kit.end()
})

test('a question asked outside of handlers belongs to nobody; one that a handler asks through its ref outlives it', async () => {
  const kit = createTestKit()
  const target = kit.system.spawn(behavior(kit))
  let mine: Promise<unknown> | undefined
  let owned: Promise<unknown> | undefined
  const asker = kit.system.spawn(
    receive<'go'>((ctx) => {
      mine = outcomeOf(target.ask({ type: 'get' }))
      owned = outcomeOf(ctx.ask(target, { type: 'get' }))
      return same
    }),
  )
  kit.system.suspend(target, 'test')
  asker.tell('go')
  await kit.settle()
  asker.stop()
  await kit.settle()
  kit.system.resume(target)
  await kit.settle()
  expect(await mine).toBe(7)
  expect(await owned).toMatchObject({ code: 'cancelled' })
  await kit.end()
})

test('DeadlockError is exported with its code', () => {
  expect(new DeadlockError(['/user/a', '/user/a'])).toMatchObject({ code: 'deadlock', name: 'DeadlockError' })
})

test('questions that time out together at a reentrant actor do not look at each other', async () => {
  const kit = createTestKit()
  const target = kit.system.spawn(behavior(kit), { reentrant: true })
  const outcomes = Array.from({ length: 3000 }, () => outcomeOf(target.ask({ type: 'hang' }, { timeout: 10 })))
  await kit.settle()
  // Counts how many calls are looked at for all of the explanations together.
  const { calls } = (target as unknown as { cell: { extras: { calls: Set<object> } } }).cell.extras
  let looked = 0
  const iterate = calls[Symbol.iterator].bind(calls)
  calls[Symbol.iterator] = function* () {
    for (const call of iterate()) {
      looked++
      yield call
    }
  } as never
  await kit.advance(10)
  for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ code: 'ask-timeout', question: 'in-progress' })
  expect(looked).toBeLessThanOrEqual(3000 * 1001)
  kit.system.kill(target)
  await kit.end()
})
