// Options that are none, misspelt or of the wrong kind: refused where they are written, by name, and with what was
// probably meant. The property over every public function is in bad-input.property.test.ts.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  Actor,
  ActorError,
  type ActorRef,
  bounded,
  buffered,
  CancellationToken,
  Channel,
  CircuitBreaker,
  consistentHash,
  delay,
  empty,
  entities,
  eventsOf,
  flightRecorder,
  formatTree,
  fsm,
  group,
  handleOf,
  ignore,
  immediate,
  listRoutees,
  mailboxOf,
  ManualRuntime,
  match,
  passivate,
  pool,
  priority,
  processor,
  race,
  receive,
  retry,
  same,
  select,
  serviceKey,
  setup,
  supervise,
  supervisorClient,
  TaskGroup,
  timeout,
  unbounded,
  withOptions,
} from '@troupe/core'

const error = (code: string, text: string): unknown => expect.objectContaining({ code, message: expect.stringContaining(text) })

/** Misspelt on purpose: what the compiler refuses, a program in JavaScript writes all the same. */
const odd = (value: unknown): never => value as never

describe('a misspelt option is refused, with what was probably meant', () => {
  const kit = createTestKit()
  const { system } = kit
  const rows: [string, () => unknown, string, string][] = [
    ['spawn', () => system.spawn(ignore, odd({ nam: 'x' })), 'nam', 'name'],
    ['spawn of a class', () => system.spawn(class extends Actor {}, odd({ arg: [] })), 'arg', 'args'],
    ['stash', () => system.spawn(ignore, { stash: odd({ capcity: 3 }) }), 'stash.capcity', 'capacity'],
    ['onRestart', () => system.spawn(ignore, { onRestart: odd({ mailbx: 'keep' }) }), 'onRestart.mailbx', 'mailbox'],
    ['reentrant', () => system.spawn(ignore, { reentrant: odd({ maxConcurent: 3 }) }), 'reentrant.maxConcurent', 'maxConcurrent'],
    ['drain', () => system.spawn(ignore, { drain: odd({ redirct: 3 }) }), 'drain.redirct', 'redirect'],
    ['middleware', () => system.spawn(ignore, { middleware: [odd({ befor: () => {} })] }), 'middleware[0].befor', 'before'],
    ['a system’s', () => ActorSystemCreate({ askTimout: 5 }), 'askTimout', 'askTimeout'],
    ['unbounded', () => unbounded(odd({ highwater: 5 })), 'highwater', 'highWater'],
    ['bounded', () => bounded(5, 'reject', odd({ lowWatr: 5 })), 'lowWatr', 'lowWater'],
    ['priority', () => priority(() => 0, odd({ capasity: 5 })), 'capasity', 'capacity'],
    ['mailboxOf', () => mailboxOf('x', () => odd({}), odd({ overflw: 'reject' })), 'overflw', 'overflow'],
    ['mailboxOf', () => mailboxOf(odd({ kind: 'x', create: () => odd({}), capasity: 5 })), 'capasity', 'capacity'],
    ['supervise', () => supervise(odd({ limits: 3 })), 'limits', 'limit'],
    ['backoff', () => supervise({ backoff: odd({ facter: 3 }) }), 'backoff.facter', 'factor'],
    ['subscribe', () => system.events.subscribe(system.spawn(empty), 'x', odd({ capicity: 1 })), 'capicity', 'capacity'],
    ['buffered', () => buffered(5, odd({ overlow: 'drop-oldest' })), 'overlow', 'overflow'],
    ['eventsOf', () => eventsOf(system.events, undefined, odd({ sginal: 1 })), 'sginal', 'signal'],
    ['flightRecorder', () => flightRecorder(odd({ size: 1 })), 'size', 'capacity'],
    ['TaskGroup', () => new TaskGroup(odd({ limt: 1 })), 'limt', 'limit'],
    ['CancellationToken.after', () => CancellationToken.after(5, odd({ clok: 1 })), 'clok', 'clock'],
    ['processor', () => processor(() => {}, odd({ maxConcurrency: 1 })), 'maxConcurrency', 'maxConcurrent'],
    ['CircuitBreaker', () => new CircuitBreaker(system, odd({ maxFailure: 1 })), 'maxFailure', 'maxFailures'],
    ['pool', () => pool(ignore, odd({ size: 1, stratgy: 1 })), 'stratgy', 'strategy'],
    ['pool’s limit', () => pool(ignore, { size: 1, limit: odd({ replacement: 1, within: 1 }) }), 'limit.replacement', 'replacements'],
    ['group', () => group([], odd({ stratgy: 1 })), 'stratgy', 'strategy'],
    ['passivate', () => passivate(ignore, odd({ after: 1, aftr: 1 })), 'aftr', 'after'],
    ['entities', () => entities(odd({ keyOf: String, create: () => ignore, idle: 1, capacty: 1 })), 'capacty', 'capacity'],
    ['fsm', () => fsm(odd({ initial: ['a', 1], state: {}, states: { a: { on: () => {} } } })), 'state', 'states'],
    ['a state', () => fsm(odd({ initial: ['a', 1], states: { a: { on: () => {}, entr: () => {} } } })), 'states.a.entr', 'enter'],
    ['ManualRuntime', () => new ManualRuntime(odd({ nov: () => 1 })), 'nov', 'now'],
    ['ActorError', () => new ActorError('x', odd({ knd: 'fatal' })), 'knd', 'kind'],
    ['ActorError’s retry', () => new ActorError('x', { retry: odd({ mx: 1, within: 1 }) }), 'retry.mx', 'max'],
    ['a dispatcher’s', () => system.dispatchers.add('x', odd({ throughputt: 1 })), 'dispatchers.x.throughputt', 'throughput'],
    ['shutdown', () => system.shutdown(odd({ deadlin: 1 })), 'deadlin', 'deadline'],
    ['withOptions', () => system.spawn(withOptions(ignore, odd({ stopTimeot: 1 }))), 'stopTimeot', 'stopTimeout'],
    ['supervisorClient', () => supervisorClient(odd({ ask: () => 1, tell: () => 1 }), odd({ timout: 1 })), 'timout', 'timeout'],
  ]
  for (const [name, act, option, meant] of rows)
    test(name, () => {
      expect(act).toThrow(error('invalid-option', `Option ${option} is`))
      if (name !== 'flightRecorder') expect(act).toThrow(error('invalid-option', `did you mean \`${meant}\`?`))
      expect(act).toThrow(error('invalid-option', meant))
    })

  test('also where the answer is a promise', async () => {
    type Q = { type: 'q'; replyTo: ActorRef<number> }
    const ref = system.spawn(receive<Q>(() => same))
    const handle = system.spawn(
      class extends Actor {
        get(): number {
          return 1
        }
      },
    )
    const channel = new Channel<number>(0)
    const refused: [Promise<unknown>, string][] = [
      [ref.ask({ type: 'q' }, odd({ timout: 5 })), 'timeout'],
      [ref.offer(odd({}), odd({ signl: 5 })), 'signal'],
      [channel.send(1, odd({ sgnal: 1 })), 'signal'],
      [channel.receive(odd({ sgnal: 1 })), 'signal'],
      [select({ channel }, odd({ sgnal: 1 })), 'signal'],
      [delay(1, odd({ clokc: 1 })), 'clock'],
      [timeout(Promise.resolve(1), 1, odd({ clokc: 1 })), 'clock'],
      [retry(() => 1, odd({ atempts: 1 })), 'attempts'],
      [retry(() => 1, { backoff: odd({ fctor: 1 }) }), 'factor'],
      [race([() => 1], odd({ sgnal: 1 })), 'signal'],
    ]
    for (const [promise, meant] of refused) await expect(promise).rejects.toThrow(error('invalid-option', `did you mean \`${meant}\`?`))
    expect(() => handle.with(odd({ timout: 5 }))).toThrow(error('invalid-option', 'did you mean `timeout`?'))
    expect(await kit.checkLedger()).toMatchObject({ sent: 0 })
    expect(channel.tryReceive()).toBeUndefined()
  })

  test('nothing was spawned, subscribed or sent', async () => {
    expect((system.events as unknown as { size: number }).size).toBe(0)
    await kit.end()
  })
})

describe('what is no object, function or ref is refused, and not with a TypeError', () => {
  const kit = createTestKit()
  const { system } = kit
  const rows: [string, () => unknown, string][] = [
    ['unbounded(null)', () => unbounded(odd(null)), 'options'],
    ['bounded(5, reject, 7)', () => bounded(5, 'reject', odd(7)), 'options'],
    ['priority(…, null)', () => priority(() => 0, odd(null)), 'options'],
    ['spawn({ accepts: null })', () => system.spawn(ignore, { accepts: odd(null) }), 'accepts'],
    ['spawn({ accepts: { ~standard: null } })', () => system.spawn(ignore, { accepts: odd({ '~standard': null }) }), 'accepts'],
    [
      'spawn(…, () => {})',
      () =>
        system.spawn(
          ignore,
          odd(() => {}),
        ),
      'options',
    ],
    ['spawn(Class, null)', () => system.spawn(class extends Actor {}, odd(null)), 'options'],
    ['spawn({ middleware: [{ before: 5 }] })', () => system.spawn(ignore, { middleware: [odd({ before: 5 })] }), 'middleware[0].before'],
    ['withOptions(…, null)', () => withOptions(ignore, odd(null)), 'options'],
    ['withOptions(5, {})', () => withOptions(odd(5), {}), 'behavior'],
    ['receive(5)', () => receive(odd(5)), 'onMessage'],
    ['receive(…, 5)', () => receive(() => same, odd(5)), 'onSignal'],
    ['setup(5)', () => setup(odd(5)), 'init'],
    ['match(null)', () => match(odd(null)), 'handlers'],
    ['match({ a: 5 })', () => match(odd({ a: 5 })), 'handlers.a'],
    ['onSignal(5)', () => receive(() => same).onSignal(odd(5)), 'onSignal'],
    ['pool(…, null)', () => pool(ignore, odd(null)), 'options'],
    ['pool(5)', () => pool(odd(5), { size: 1 }), 'worker'],
    ['pool with a strategy of nothing', () => pool(ignore, { size: 1, strategy: odd(5) }), 'strategy'],
    ['group([null])', () => group([odd(null)]), 'routees'],
    ['listRoutees(null)', () => listRoutees(odd(null)), 'to'],
    ['consistentHash(5)', () => consistentHash(odd(5)), 'keyOf'],
    ['fsm(null)', () => fsm(odd(null)), 'options'],
    ['fsm({})', () => fsm(odd({})), 'initial'],
    ['fsm with a state of nothing', () => fsm(odd({ initial: ['a', 1], states: { a: null } })), 'states.a'],
    ['fsm with a state without on', () => fsm(odd({ initial: ['a', 1], states: { a: {} } })), 'states.a.on'],
    ['processor(5)', () => processor(odd(5)), 'work'],
    ['passivate(5)', () => passivate(odd(5), { after: 5 }), 'behavior'],
    ['passivate(…, null)', () => passivate(ignore, odd(null)), 'options'],
    ['entities(null)', () => entities(odd(null)), 'options'],
    ['eventsOf(null)', () => eventsOf(odd(null)), 'events'],
    ['immediate(5)', () => immediate(odd(5)), 'listener'],
    ['attach(null)', () => buffered(5).attach(odd(null)), 'events'],
    ['CancellationToken(5)', () => new CancellationToken(odd(5)), 'signal'],
    ['CancellationToken(null)', () => new CancellationToken(odd(null)), 'signal'],
    ['formatTree(null)', () => formatTree(odd(null)), 'root'],
    ['handleOf(null)', () => handleOf(odd(null)), 'ref'],
    ['serviceKey(5)', () => serviceKey(odd(5)), 'id'],
    ['supervisorClient(null)', () => supervisorClient(odd(null)), 'ref'],
    ['TaskGroup(null)', () => new TaskGroup(odd(null)), 'options'],
    ['group.spawn(5)', () => new TaskGroup().spawn(odd(5)), 'task'],
    ['ActorError(…, null)', () => new ActorError('x', odd(null)), 'options'],
    ['flightRecorder(null)', () => flightRecorder(odd(null)), 'options'],
    ['a system with flightRecorder: 5', () => ActorSystemCreate({ flightRecorder: 5 }), 'flightRecorder'],
    ['a system with dispatchers: 5', () => ActorSystemCreate({ dispatchers: 5 }), 'dispatchers'],
    ['events.subscribe(null)', () => system.events.subscribe(odd(null), 'x'), 'subscriber'],
    ['events.subscribe without a selector', () => system.events.subscribe(system.spawn(empty), odd(undefined)), 'selector'],
    ['events.listen(5)', () => system.events.listen(odd(5)), 'listener'],
    ['events.listen with a selector of nothing', () => system.events.listen(() => {}, odd(null)), 'selector'],
    ['events.listen with an end of nothing', () => system.events.listen(() => {}, 'x', odd(5)), 'ended'],
    ['events.publish(null)', () => system.events.publish(odd(null)), 'event'],
    ['ctx-like watch options', () => system.spawn(ignore).stop(odd(null)), 'options'],
  ]
  for (const [name, act, option] of rows)
    test(name, () => {
      expect(act).toThrow(error('invalid-option', `Option ${option} is`))
    })

  test('race(null) rejects', async () => {
    await expect(race(odd(null))).rejects.toThrow(error('invalid-option', 'tasks'))
    await expect(race(odd([5]))).rejects.toThrow(error('invalid-option', 'tasks'))
    await kit.end()
  })

  test('what throws when it is read is an option that cannot be read, with the cause', () => {
    const bang = new Error('bang')
    const getter = Object.defineProperty({}, 'name', {
      enumerable: true,
      get: () => {
        throw bang
      },
    })
    const proxy: never = odd(
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw bang
          },
          get: () => {
            throw bang
          },
        },
      ),
    )
    const { system: other } = createTestKit()
    expect(() => other.spawn(ignore, getter)).toThrow(error('invalid-option', 'cannot be read'))
    for (const act of [() => other.spawn(ignore, proxy), () => supervise(proxy), () => unbounded(proxy), () => new ActorError('x', proxy)]) {
      let thrown: unknown
      try {
        act()
      } catch (cause) {
        thrown = cause
      }
      expect(thrown).toMatchObject({ code: 'invalid-option', cause: bang })
    }
  })
})

test('unbounded knows no capacity, and takes the third message too', () => {
  expect(() => unbounded(odd({ capacity: 2 }))).toThrow(error('invalid-option', 'Option capacity is 2'))
})

test('handles answer for the methods of their class, and for nothing that objects have', async () => {
  const kit = createTestKit()
  class Cart extends Actor {
    count(): number {
      return 3
    }
  }
  const cart = kit.system.spawn(Cart)
  for (const view of [cart, cart.with({ timeout: 5 })])
    for (const verb of [view.tell, view.ask] as unknown as Record<string, unknown>[])
      for (const name of ['constructor', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', '__proto__', '__defineGetter__', 'toLocaleString'])
        expect([name, verb[name]]).toEqual([name, undefined])
  const answer = cart.ask.count()
  await kit.settle()
  expect(await answer).toBe(3)
  for (const name of ['call', 'apply', 'bind', 'toString'] as const) expect(cart.tell[name]).toBe(Function.prototype[name])
  expect(String(cart.ask)).toEqual(expect.any(String))
  await kit.end()
})

function ActorSystemCreate(options: unknown): unknown {
  return createTestKit(odd(options))
}

test('a value of any length is shown in a line: what a stranger sent does not fill the log', async () => {
  const kit = createTestKit()
  const long = 'x'.repeat(50_000)
  const said = (act: () => unknown): string => {
    try {
      act()
    } catch (cause) {
      return (cause as Error).message
    }
    return ''
  }
  expect(said(() => kit.system.spawn(ignore, { name: `${long}/` })).length).toBeLessThan(500)
  expect(said(() => kit.system.spawn(ignore, { drain: odd({ type: long }) }))).toMatch(/^.{1,500}$/s)
  expect(said(() => kit.system.spawn(ignore, { mailbox: odd(long) }))).toMatch(/^.{200,500}$/s)
  await kit.end()
})
