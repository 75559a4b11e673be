// Bad input: each a clear error that names the option or path, or a dead letter with its reason; and `accepts`.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  ActorError,
  type ActorRef,
  ActorSystem,
  type AnyRef,
  type Behavior,
  child,
  ignore,
  mailboxOf,
  type MessageSchema,
  receive,
  same,
  setup,
  supervise,
  supervisor,
  type SystemOptions,
  template,
  unhandled,
} from '@troupe/core'

const error = (code: string, text: string | RegExp): unknown =>
  expect.objectContaining({ code, message: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text) })

/** Runs `act` with the context of a fresh actor and returns what it threw. */
async function inside(act: (ctx: ActorContext<unknown>) => unknown): Promise<unknown> {
  const kit = createTestKit()
  let thrown: unknown = 'nothing was thrown'
  kit.system
    .spawn(
      receive<unknown>(async (ctx) => {
        try {
          await act(ctx)
        } catch (cause) {
          thrown = cause
        }
      }),
      { name: 'it' },
    )
    .tell('go')
  await kit.settle()
  await kit.end()
  return thrown
}

describe('names', () => {
  for (const name of ['', 'a/b', 'a b', 'a#1', '$x', 'a\nb', '\u0000', 'x'.repeat(256), 7, null, {}])
    test(`${JSON.stringify(name)} is refused`, async () => {
      const kit = createTestKit()
      expect(() => kit.system.spawn(ignore, { name: name as string })).toThrow(error('invalid-name', '/user'))
      expect(kit.system.counts().active).toBe(0)
      await kit.end()
    })

  test('unusual but legal names work, and are found by path', async () => {
    const kit = createTestKit()
    for (const name of ['ä', '日本', 'a.b-c_d:e@f', 'x'.repeat(255), '🎭', 'constructor', '__proto__']) {
      const ref = kit.system.spawn(ignore, { name })
      expect(kit.system.find(`/user/${name}`)).toBe(ref)
    }
    await kit.end()
  })

  test('a taken name is refused with its path, and free again once that actor has ended', async () => {
    const kit = createTestKit()
    const first = kit.system.spawn(ignore, { name: 'cart' })
    expect(() => kit.system.spawn(ignore, { name: 'cart' })).toThrow(error('name-taken', '/user/cart'))
    first.stop()
    await kit.settle()
    kit.system.spawn(ignore, { name: 'cart' })
    await kit.end()
  })

  test('a system without a name is refused', () => {
    for (const name of ['', undefined, 5]) expect(() => ActorSystem.create(name as string)).toThrow(error('invalid-name', 'non-empty'))
  })
})

describe('behaviors', () => {
  for (const [what, value] of Object.entries({
    nothing: undefined,
    null: null,
    number: 5,
    object: {},
    function: () => same,
    same,
    unhandled,
    class: class {},
  }))
    test(`spawning ${what} is refused`, async () => {
      const kit = createTestKit()
      expect(() => kit.system.spawn(value as never)).toThrow(error('not-a-behavior', 'spawn was given'))
      expect(kit.system.counts().active).toBe(0)
      await kit.end()
    })

  test('a throwing factory leaves nothing behind and frees the name', async () => {
    const kit = createTestKit()
    const boom = new Error('boom')
    const ref = kit.system.spawn(
      setup(() => {
        throw boom
      }),
      { name: 'it' },
    )
    const started = kit.system.started(ref).catch((cause: unknown) => cause)
    await kit.settle()
    expect(await started).toMatchObject({
      code: 'actor-initialization',
      cause: boom,
      message: expect.stringContaining('/user/it'),
    })
    expect(kit.system.find('/user/it')).toBeUndefined()
    expect(kit.system.counts().active).toBe(0)
    await kit.end()
  })

  test('a setup or handler that returns no behavior is a failure that says so', async () => {
    const kit = createTestKit()
    const bad = kit.system.spawn(
      setup(() => 5 as never),
      { name: 'setup' },
    )
    const handler = kit.system.spawn(
      receive<string>(() => 5 as never),
      { name: 'handler', supervision: 'stop' },
    )
    const ends = [kit.system.whenTerminated(bad), kit.system.whenTerminated(handler)]
    handler.tell('go')
    await kit.settle()
    expect((await ends[0]!).cause).toMatchObject({ cause: error('not-a-behavior', '/user/setup returned 5') })
    expect((await ends[1]!).cause).toEqual(error('not-a-behavior', '/user/handler returned 5'))
    await kit.end()
  })
})

describe('spawn options', () => {
  const rows: [string, unknown, string?][] = [
    ['startTimeout', 0],
    ['startTimeout', -1],
    ['startTimeout', NaN],
    ['startTimeout', Infinity],
    ['stopTimeout', -1],
    ['stopTimeout', NaN],
    ['stopTimeout', '5'],
    ['stash', { capacity: 0 }, 'stash.capacity'],
    ['stash', { capacity: -1 }, 'stash.capacity'],
    ['stash', { capacity: NaN }, 'stash.capacity'],
    ['stash', { capacity: 1.5 }, 'stash.capacity'],
    ['stash', { overflow: 'explode' }, 'stash.overflow'],
    ['stash', 5],
    ['mailbox', 5],
    ['mailbox', {}],
    // Contained by mailboxOf, not as it is: a queue of somebody else's could lose messages, or double them.
    ['mailbox', { kind: 'own', create: () => ({ meta: undefined, size: 0, push() {}, shift() {} }) }],
    ['dispatcher', 5],
    ['supervision', 'maybe'],
    ['supervision', {}],
    ['supervision', null],
    ['childSupervision', 'maybe'],
    ['drain', 'flush'],
    ['drain', {}],
    ['drain', null],
    ['onRestart', { mailbox: 'burn' }, 'onRestart.mailbox'],
    ['onRestart', { children: 'adopt' }, 'onRestart.children'],
    ['onRestart', 'keep'],
    ['reentrant', 'yes'],
    ['accepts', {}],
    ['accepts', () => true],
    ['nonsense', 1],
    ['stashCapacity', 5],
  ]
  for (const [option, value, named] of rows)
    test(`${option}: ${JSON.stringify(value)} is refused by name`, async () => {
      const kit = createTestKit()
      expect(() => kit.system.spawn(ignore, { [option]: value })).toThrow(error('invalid-option', named ?? option))
      expect(kit.system.counts().active).toBe(0)
      await kit.end()
    })

  test('options that are no object are refused', async () => {
    const kit = createTestKit()
    expect(() => kit.system.spawn(ignore, 'cart' as never)).toThrow(error('invalid-option', 'options'))
    await kit.end()
  })

  test('an unknown dispatcher says which there are; threads say where they come from', async () => {
    const kit = createTestKit({ dispatchers: { io: {} } })
    expect(() => kit.system.spawn(ignore, { dispatcher: 'nope' })).toThrow(error('unknown-dispatcher', /"nope".*concurrent, io/))
    expect(() => kit.system.spawn(ignore, { dispatcher: 'parallel' })).toThrow(error('unknown-dispatcher', '@troupe/node'))
    expect(() => kit.system.dispatchers.stateOf('nope')).toThrow(error('unknown-dispatcher', 'nope'))
    expect(kit.system.counts().active).toBe(0)
    await kit.end()
  })

  test('a mailbox kind that throws leaves nothing behind', async () => {
    const kit = createTestKit()
    const mailbox = mailboxOf({
      kind: 'bad',
      create: () => {
        throw new Error('no room')
      },
    })
    expect(() => kit.system.spawn(ignore, { name: 'it', mailbox })).toThrow('no room')
    kit.system.spawn(ignore, { name: 'it' })
    expect(kit.system.counts().active).toBe(1)
    await kit.end()
  })
})

describe('system options', () => {
  const rows: [SystemOptions | Record<string, unknown>, string][] = [
    [{ dispatcher: { throughput: 0 } }, 'dispatcher.throughput'],
    [{ dispatcher: { throughput: -1 } }, 'dispatcher.throughput'],
    [{ dispatcher: { throughput: 1.5 } }, 'dispatcher.throughput'],
    [{ dispatcher: { slice: 0 } }, 'dispatcher.slice'],
    [{ dispatcher: { slice: NaN } }, 'dispatcher.slice'],
    [{ dispatcher: { maxTurns: 0 } }, 'dispatcher.maxTurns'],
    [{ dispatchers: { io: { throughput: 0 } } }, 'dispatchers.io.throughput'],
    [{ askTimeout: 0 }, 'askTimeout'],
    [{ askTimeout: NaN }, 'askTimeout'],
    [{ askTimeout: -5 }, 'askTimeout'],
    [{ deadLetterCapacity: -1 }, 'deadLetterCapacity'],
    [{ deadLetterCapacity: NaN }, 'deadLetterCapacity'],
    [{ onEscalation: 'panic' }, 'onEscalation'],
    [{ supervision: 'maybe' }, 'supervision'],
    [{ logger: {} }, 'logger'],
    [{ keepAlive: 'no' }, 'keepAlive'],
    [{ dispatcher: null }, 'dispatcher'],
    [{ dispatcher: { throughputt: 1 } }, 'throughputt'],
    [{ dispatchers: { io: 7 } }, 'dispatchers.io'],
    [{ supervision: { scope: 'one-for-one', limit: { restarts: -1, within: 1 } } }, 'limit.restarts'],
  ]
  for (const [options, named] of rows)
    test(`${JSON.stringify(options)} is refused by name`, () => {
      expect(() => ActorSystem.create('x', { runtime: 'manual', ...(options as SystemOptions) })).toThrow(error('invalid-option', named))
    })

  test('an option that no system knows is refused by name, with those that there are', () => {
    const refused = error('invalid-option', /^Option askTimeuot is 50: .*it knows root, logger, .*askTimeout.*flightRecorder\.$/)
    expect(() => ActorSystem.create('x', { askTimeuot: 50 } as SystemOptions)).toThrow(refused)
    for (const inherited of ['toString', 'constructor'])
      expect(() => ActorSystem.create('x', { [inherited]: 1 })).toThrow(error('invalid-option', inherited))
  })
  for (const options of [null, 7, 'host'])
    test(`${JSON.stringify(options)} instead of options is refused`, () => {
      expect(() => ActorSystem.create('x', options as never)).toThrow(error('invalid-option', 'options'))
    })

  test('a shutdown deadline that makes no sense is refused, and the system stays open', async () => {
    const kit = createTestKit()
    for (const deadline of [-1, NaN, Infinity, '5' as never])
      expect(() => kit.system.shutdown({ deadline })).toThrow(error('invalid-option', 'deadline'))
    expect(() => kit.system.shutdown({ drain: 'yes' as never })).toThrow(error('invalid-option', 'drain'))
    expect(kit.system.phase).toBe('open')
    await kit.end()
  })
})

describe('supervision', () => {
  const rows: [Parameters<typeof supervise>[0], string][] = [
    [{ limit: { restarts: -1, within: 1 } }, 'limit.restarts'],
    [{ limit: { restarts: 1.5, within: 1 } }, 'limit.restarts'],
    [{ limit: { restarts: NaN, within: 1 } }, 'limit.restarts'],
    [{ limit: { restarts: 1, within: 0 } }, 'limit.within'],
    [{ limit: { restarts: 1, within: -1 } }, 'limit.within'],
    [{ limit: { restarts: 1, within: NaN } }, 'limit.within'],
    [{ backoff: { min: 10, max: 5 } }, 'backoff.min'],
    [{ backoff: { min: -1 } }, 'backoff.min'],
    [{ backoff: { max: NaN } }, 'backoff.max'],
    [{ backoff: { factor: 0.5 } }, 'backoff.factor'],
    [{ backoff: { factor: NaN } }, 'backoff.factor'],
    [{ backoff: { jitter: -0.1 } }, 'backoff.jitter'],
    [{ backoff: { jitter: 1.1 } }, 'backoff.jitter'],
    [{ backoff: { jitter: NaN } }, 'backoff.jitter'],
    [{ onLimit: 'retry' as never }, 'onLimit'],
    [{ scope: 'everyone' as never }, 'scope'],
    [{ decide: 'stop' as never }, 'decide'],
  ]
  for (const [options, named] of rows)
    test(`${JSON.stringify(options)} is refused by name`, () => {
      expect(() => supervise(options)).toThrow(error('invalid-option', named))
    })

  test('a fatal error with retry, and other errors that contradict themselves, are refused', () => {
    const make = (options: ConstructorParameters<typeof ActorError>[1]) => (): ActorError => new ActorError('x', options)
    expect(make({ kind: 'fatal', retry: { max: 1, within: 1 } })).toThrow(error('invalid-option', 'retry'))
    expect(make({ retry: { max: -1, within: 1 } })).toThrow(error('invalid-option', 'retry.max'))
    expect(make({ retry: { max: 1, within: 0 } })).toThrow(error('invalid-option', 'retry.within'))
    expect(make({ kind: 'odd' as never })).toThrow(error('invalid-option', 'kind'))
    expect(make({ severity: 'loud' as never })).toThrow(error('invalid-option', 'severity'))
  })
})

describe('durations and arguments inside an actor', () => {
  const rows: [string, (ctx: ActorContext<unknown>) => unknown, string, string][] = [
    ['timers.once(NaN)', (c) => c.timers.once('k', NaN, 'x'), 'invalid-option', 'ms'],
    ['timers.once(-1)', (c) => c.timers.once('k', -1, 'x'), 'invalid-option', 'ms'],
    ['timers.once(Infinity)', (c) => c.timers.once('k', Infinity, 'x'), 'invalid-option', 'ms'],
    ['timers.every(0)', (c) => c.timers.every('k', 0, 'x'), 'invalid-option', 'ms'],
    ['timers.every(NaN)', (c) => c.timers.every('k', NaN, 'x'), 'invalid-option', 'ms'],
    ['timers key', (c) => c.timers.once(5 as never, 1, 'x'), 'invalid-option', 'key'],
    ['timers message', (c) => c.timers.once('k', 1, undefined), 'invalid-option', 'message'],
    ['timers to nobody', (c) => c.timers.once('k', 1, 'x', { to: null as never }), 'invalid-option', 'to'],
    ['setReceiveTimeout(0)', (c) => c.setReceiveTimeout(0), 'invalid-option', 'ms'],
    ['setReceiveTimeout(NaN)', (c) => c.setReceiveTimeout(NaN), 'invalid-option', 'ms'],
    ['stash undefined', (c) => c.stash.add(undefined), 'invalid-option', 'message'],
    ['watchWith undefined', (c) => c.watchWith(c.self, undefined), 'invalid-option', 'message'],
    ['watch nothing', (c) => c.watch(undefined as never), 'foreign-ref', 'watch'],
    ['watch itself', (c) => c.watch(c.self), 'not-allowed', '/user/it'],
    ['stop of a stranger', (c) => c.stop(c.parent), 'not-allowed', '/user'],
    ['forward to nothing', (c) => c.forward(undefined as never), 'foreign-ref', 'forward'],
    ['ask nothing', (c) => c.ask(undefined as never, {} as never), 'invalid-option', 'ref'],
    ['handOver outside PreRestart', (c) => c.handOver(1), 'not-allowed', '/user/it'],
    ['adapt without a function', (c) => c.adapt(5 as never), 'invalid-option', 'fn'],
    ['adapt with an odd key', (c) => c.adapt((m) => m, { key: 5 as never }), 'invalid-option', 'key'],
    ['pipeToSelf without functions', (c) => c.pipeToSelf(Promise.resolve(1), 5 as never, String), 'invalid-option', 'ok'],
    ['pipeToSelf without an error mapper', (c) => c.pipeToSelf(Promise.resolve(1), String, undefined as never), 'invalid-option', 'err'],
    ['spawn of nothing', (c) => c.spawn(undefined as never), 'not-a-behavior', 'spawn'],
  ]
  for (const [name, act, code, named] of rows)
    test(`${name} is refused`, async () => {
      expect(await inside(act)).toEqual(error(code, named))
    })

  test('forwarding twice, and forwarding in a signal handler, are refused', async () => {
    expect(
      await inside((ctx) => {
        const other = ctx.spawn(ignore)
        ctx.forward(other)
        ctx.forward(other)
      }),
    ).toEqual(error('not-allowed', '/user/it'))
  })
})

describe('from outside', () => {
  test('sendAfter refuses a bad delay and what is no ref', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(ignore)
    for (const ms of [-1, NaN, Infinity, '5' as never]) expect(() => kit.system.sendAfter(ref, ms, 'x')).toThrow(error('invalid-option', 'ms'))
    for (const bad of [undefined, null, {}]) expect(() => kit.system.sendAfter(bad as never, 1, 'x' as never)).toThrow(error('invalid-option', 'ref'))
    await kit.end()
  })

  test('a ref that throws when told harms no other timer', async () => {
    const kit = createTestKit()
    const probe = kit.probe<string>()
    const bad = {
      tell: () => {
        throw new Error('bad ref')
      },
    } as never as AnyRef
    kit.system.sendAfter(bad, 1, 'x' as never)
    kit.system.sendAfter(probe.ref, 1, 'good')
    await kit.advance(1)
    probe.expect('good')
    expect(kit.logs.some((l) => l.message === 'a timer failed')).toBe(true)
    await kit.end()
  })

  test('suspending without a reason, and stopping after something odd, are refused', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(ignore)
    expect(() => kit.system.suspend(ref, '')).toThrow(error('invalid-option', 'reason'))
    expect(() => ref.stop({ after: 'lunch' as never })).toThrow(error('invalid-option', 'after'))
    await kit.end()
  })

  test('tell never throws, whatever stands where the sender should', async () => {
    const kit = createTestKit()
    const probe = kit.probe<number>()
    for (const [i, sender] of [null, 5, 'x', true, {}].entries()) probe.ref.tell(i, sender as never)
    await kit.settle()
    expect(probe.messages).toEqual([0, 1, 2, 3, 4])
    await kit.end()
  })

  test('telling with the sender of a question does not make the message that question', async () => {
    const kit = createTestKit()
    type Q = { type: 'q'; replyTo: ActorRef<string> }
    const seen: unknown[] = []
    const audit = kit.system.spawn(
      receive<string>((ctx, m) => {
        seen.push([m, ctx.sender !== undefined])
        return same
      }),
    )
    const fails = kit.system.spawn(
      receive<string>(() => {
        throw new Error('not about the question')
      }),
    )
    const ref = kit.system.spawn(
      receive<Q>((ctx) => {
        fails.tell('x', ctx.sender)
        audit.tell('before', { sender: ctx.sender })
        ctx.reply('answer')
        audit.tell('after', ctx.sender)
        return same
      }),
    )
    const answer = ref.ask({ type: 'q' })
    await kit.settle()
    expect(await answer).toBe('answer')
    expect(seen).toEqual([
      ['before', true],
      ['after', true],
    ])
    expect((await kit.checkLedger()).dropped).toBe(0)
    await kit.end()
  })

  test('replying to nobody is a dead letter, replying twice too', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<string>((ctx) => {
        ctx.reply('to whom?')
        return same
      }),
    )
    ref.tell('x')
    await kit.settle()
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'to whom?', reason: 'no-recipient', sender: ref }])
    await kit.end()
  })
})

describe('refs of another system', () => {
  test('are told in their own system, and refused by every verb of this one', async () => {
    const here = createTestKit()
    const there = createTestKit()
    const probe = there.probe<string>()
    const { ref } = probe
    const { system } = here
    ref.tell('hello')
    await there.settle()
    probe.expect('hello')
    expect((await here.checkLedger()).sent).toBe(0)
    const local = system.spawn(ignore)
    const verbs: Record<string, () => unknown> = {
      stop: () => system.stop(ref),
      kill: () => system.kill(ref),
      suspend: () => system.suspend(ref, 'x'),
      resume: () => system.resume(ref),
      restart: () => system.restart(ref),
      phaseOf: () => system.phaseOf(ref),
      started: () => system.started(ref),
      whenTerminated: () => system.whenTerminated(ref),
      watch: () => system.watch(ref, local),
      'let watch': () => system.watch(local, ref),
      inspect: () => system.inspect(ref),
      nothing: () => system.stop(undefined as never),
    }
    for (const [name, verb] of Object.entries(verbs)) expect(verb).toThrow(error('foreign-ref', name === 'nothing' ? 'undefined' : /\/user\/\$/))
    expect(() => system.spawn(ignore, { drain: { redirect: ref } })).toThrow(error('invalid-option', 'drain.redirect'))
    const ending = there.system.shutdown()
    await there.settle()
    await ending
    ref.tell('late')
    expect(there.system.deadLetters.list()).toMatchObject([{ message: 'late', reason: 'system-closed' }])
    await here.end()
  })

  test('forwarding and watching across systems are refused inside an actor too', async () => {
    const there = createTestKit()
    const ref = there.system.spawn(ignore)
    expect(await inside((ctx) => ctx.forward(ref))).toEqual(error('foreign-ref', 'forward'))
    expect(await inside((ctx) => ctx.watch(ref))).toEqual(error('foreign-ref', 'watch'))
    await there.end()
  })
})

describe('accepts', () => {
  const schema = (validate: MessageSchema['~standard']['validate']): MessageSchema => ({ '~standard': { version: 1, vendor: 'test', validate } })
  const positive = schema((value) =>
    typeof value === 'number' && value > 0 ? { value: value * 10 } : { issues: [{ message: 'not a number' }, { message: 'not positive' }] },
  )
  const noting = (seen: unknown[]): Behavior<unknown> =>
    receive<unknown>((_c, m) => {
      seen.push(m)
      return same
    })

  for (const reentrant of [false, true])
    test(`refuses with a dead letter and passes on what the schema made of it${reentrant ? ', reentrant' : ''}`, async () => {
      const kit = createTestKit()
      const seen: unknown[] = []
      const ref = kit.system.spawn(noting(seen), { accepts: positive, reentrant })
      ref.tell(1)
      ref.tell(-1)
      ref.tell('x')
      ref.tell(2)
      await kit.settle()
      expect(seen).toEqual([10, 20])
      expect(kit.system.deadLetters.list()).toMatchObject([
        { message: -1, reason: 'not-accepted', recipient: ref },
        { message: 'x', reason: 'not-accepted', recipient: ref },
      ])
      expect(await kit.checkLedger()).toMatchObject({ handled: 2, deadLettered: 2 })
      await kit.end()
    })

  test('a refused question is rejected with the issues', async () => {
    const kit = createTestKit()
    const ref: ActorRef<{ replyTo: ActorRef<number> }> = kit.system.spawn(noting([]), { accepts: positive })
    const refused = ref.ask({}).catch((cause: unknown) => cause)
    await kit.settle()
    expect(await refused).toEqual(error('ask-refused', 'not a number; not positive'))
    await kit.end()
  })

  test('a schema that is async, gives nothing, or throws loses no message', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const later = kit.system.spawn(noting(seen), { accepts: schema(() => Promise.reject(new Error('later'))) })
    const nothing = kit.system.spawn(noting(seen), { accepts: schema(() => ({ value: undefined })) })
    const boom = new Error('boom')
    // A message that the schema cannot cope with does not bring down the actor that it guards.
    const throwing = ['plain', 'reentrant'].map((kind) =>
      kit.system.spawn(noting(seen) as Behavior<{ replyTo: ActorRef<number> }>, {
        reentrant: kind === 'reentrant',
        accepts: schema(() => {
          throw boom
        }),
      }),
    )
    later.tell(1)
    nothing.tell(2)
    const asks = throwing.map((ref) => ref.ask({}).catch((cause: unknown) => cause))
    await kit.settle()
    expect(await Promise.all(asks)).toEqual(Array(2).fill(error('ask-refused', 'boom')))
    expect(seen).toEqual([])
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(Array(4).fill('not-accepted'))
    expect(await kit.checkLedger()).toMatchObject({ deadLettered: 4, failed: 0, inProgress: 0 })
    expect(throwing.map((ref) => kit.system.phaseOf(ref))).toEqual(['running', 'running'])
    await kit.end()
  })
})

describe('options that are none, or that nobody knows', () => {
  const idle = receive<string>(() => same)
  const rows: [string, () => unknown, string][] = [
    ['supervise(null)', () => supervise(null as never), 'options'],
    ['supervise({ limits })', () => supervise({ limits: 3 } as never), 'limits'],
    ['supervise({ limit: null })', () => supervise({ limit: null } as never), 'limit'],
    ['supervise({ limit: { restart } })', () => supervise({ limit: { restart: 1, within: 1 } } as never), 'restart'],
    ['supervise({ backoff: { minimum } })', () => supervise({ backoff: { minimum: 1 } } as never), 'minimum'],
    ['supervisor({ childen })', () => supervisor({ childen: [] } as never), 'childen'],
    ['supervisor(7)', () => supervisor(7 as never), 'options'],
    ['child(…, null)', () => child('x', idle, null as never), 'options'],
    ['template(…, null)', () => template(() => idle, null as never), 'options'],
  ]
  for (const [name, act, named] of rows)
    test(`${name} is refused by name`, () => {
      expect(act).toThrow(error('invalid-option', named))
    })

  test('shutdown refuses them, and the system stays open', async () => {
    const kit = createTestKit()
    expect(() => kit.system.shutdown(null as never)).toThrow(error('invalid-option', 'options'))
    expect(() => kit.system.shutdown({ deadlin: 3 } as never)).toThrow(error('invalid-option', 'deadlin'))
    expect(kit.system.phase).toBe('open')
    await kit.end()
  })

  test('ask rejects, tell goes without them, find finds nothing', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<{ type: 'q'; replyTo: ActorRef<number> }>(() => same))
    await expect(ref.ask({ type: 'q' }, null as never)).rejects.toThrow(error('invalid-option', 'options'))
    const hostile = Object.defineProperty({}, 'sender', {
      get: () => {
        throw new Error('bang')
      },
    })
    ref.tell({ type: 'q', replyTo: ref as never }, hostile)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ sent: 1, handled: 1 })
    for (const path of [null, undefined, 7, {}]) expect(kit.system.find(path as never)).toBeUndefined()
    await kit.end()
  })

  test('what is no ref is named as such', async () => {
    expect(await inside((ctx) => ctx.stop(null as never))).toEqual(error('not-allowed', 'cannot stop'))
    expect(await inside((ctx) => ctx.timers.once('k', 1, 'm', null as never))).toEqual(error('invalid-option', 'to'))
  })
})
