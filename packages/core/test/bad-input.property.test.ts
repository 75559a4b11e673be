// Every public function and class of core, and the methods of what they give, with wrong input in every place. A new
// export, or a new method, without an entry here fails.

import { describe, expect, test } from 'vitest'
import * as t from '@troupe/core'
import {
  measured,
  type ActorContext,
  type ActorRef,
  type AnyRef,
  type EventStream,
  ignore,
  receive,
  same,
  type SupervisorMessage,
} from '@troupe/core'
import { type Entry, entry, holds, methodsOf, type Stage } from './wrong-input.ts'

class Cart extends t.Actor {
  count(_by: number): number {
    return 1
  }
}

const question = { type: 'q' }
const answering = receive<{ type: 'q'; replyTo: ActorRef<number> }>((_ctx, m) => {
  m.replyTo.tell(1)
  return same
})
const signal = (): AbortSignal => new AbortController().signal
const call = (f: unknown): Entry['act'] => {
  return (args) => (f as (...given: readonly unknown[]) => unknown)(...args)
}
const construct = (c: unknown): Entry['act'] => {
  return (args) => {
    const made = new (c as new (...given: readonly unknown[]) => object)(...args)
    ;(made as { dispose?: () => void }).dispose?.()
  }
}
const on =
  (of: (stage: Stage) => unknown, method: string): Entry['act'] =>
  (args, stage) => {
    const target = of(stage) as Record<string, (...given: readonly unknown[]) => unknown>
    return target[method]!(...args)
  }
const inside =
  (of: (ctx: ActorContext<unknown>) => unknown, method: string): Entry['act'] =>
  (args, stage) =>
    stage.inside((ctx) => (of(ctx) as Record<string, (...given: readonly unknown[]) => unknown>)[method]!(...args))

/** Thrown by Troupe, to be caught and compared; not to be made by users. */
const isError = (value: unknown): boolean => typeof value === 'function' && value.prototype instanceof Error && value !== t.ActorError
/** Values, strategies and behaviors that take nothing; a base class; and a runtime whose methods its system alone calls. */
const nothingToTake = new Set([
  'empty',
  'ignore',
  'same',
  'stopped',
  'unhandled',
  'swallow',
  'Actor',
  'HostRuntime',
  'broadcast',
  'leastLoaded',
  'random',
  'roundRobin',
])

const options = {
  name: 'x',
  mailbox: t.unbounded(),
  stash: { capacity: 5, overflow: 'error' },
  supervision: t.supervise(),
  childSupervision: 'restart',
  drain: 'drop',
  startTimeout: 5,
  stopTimeout: 5,
  onRestart: { mailbox: 'keep', children: 'stop' },
  reentrant: { maxConcurrent: 2 },
  accepts: { '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) } },
  middleware: [{ before: (m: unknown) => m, signal: () => {} }],
  logFields: { tenant: 'x' },
  metrics: measured(),
}
const backoff = { min: 1, max: 2, factor: 2, jitter: 0 }

const functions: Record<string, Entry> = {
  ActorError: entry(construct(t.ActorError), () => [
    'x',
    { kind: 'transient', severity: 'info', labels: {}, retry: { max: 1, within: 5 }, cause: 1 },
  ]),
  ActorSystem: entry(
    ([name, given]) => void t.ActorSystem.create(name!, given).shutdown({ deadline: 0 }),
    () => [
      'x',
      {
        root: ignore,
        logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
        supervision: 'restart',
        askTimeout: 5,
        deadlock: 'off',
        dispatcher: { slice: 5 },
        dispatchers: { other: { throughput: 5 } },
        runtime: 'manual',
        keepAlive: false,
        deadLetterCapacity: 5,
        onEscalation: 'stop',
        middleware: [{ after: () => {} }],
        metrics: measured(),
        flightRecorder: t.flightRecorder(),
      },
    ],
  ),
  CancellationToken: entry(construct(t.CancellationToken), () => [signal(), signal()]),
  Channel: entry(construct(t.Channel), () => [5]),
  CircuitBreaker: entry(construct(t.CircuitBreaker), ({ kit }) => [
    kit.system,
    { name: 'x', maxFailures: 1, resetTimeout: 1, resetFactor: 1, maxResetTimeout: 5, callTimeout: 5, isFailure: () => true, onChange: () => {} },
  ]),
  Decision: entry(construct(t.Decision), () => ['to', 'a', 5]),
  ExecutionRuntimes: entry(construct(t.ExecutionRuntimes)),
  ManualRuntime: entry(construct(t.ManualRuntime), () => [{ now: () => 1, random: () => 0.5 }]),
  RouterCommand: entry(construct(t.RouterCommand), () => [{ verb: 'resize', size: 3 }]),
  ServiceKey: entry(construct(t.ServiceKey), () => ['x']),
  TaskGroup: entry(construct(t.TaskGroup), () => [{ limit: 5, signal: signal() }]),
  addRoutee: entry(call(t.addRoutee), ({ ref }) => [ref]),
  behaviorOfClass: entry(call(t.behaviorOfClass), () => [Cart, 1]),
  bounded: entry(call(t.bounded), () => [5, 'reject', { systemShare: 5, highWater: 4, lowWater: 2 }]),
  buffered: entry(call(t.buffered), () => [5, { overflow: 'drop-oldest' }]),
  child: entry(call(t.child), () => ['x', ignore, { restart: 'transient', shutdown: 5, significant: true, needs: [], backoff, stopTimeout: 5 }]),
  consistentHash: entry(call(t.consistentHash), () => [String]),
  delay: entry(call(t.delay), ({ kit }) => [5, { signal: signal(), clock: kit.system.clock }]),
  entities: entry(call(t.entities), () => [
    { keyOf: () => 'x', create: () => ignore, idle: 5, canPassivate: () => true, capacity: 5, options: { metrics: measured() } },
  ]),
  EntityCommand: entry(construct(t.EntityCommand), () => ['x']),
  passivateEntity: entry(call(t.passivateEntity), () => ['x']),
  eventsOf: entry(
    (args) => {
      const iterator = (t.eventsOf as (...given: readonly unknown[]) => AsyncIterable<unknown>)(...args)[Symbol.asyncIterator]()
      void iterator.return?.()
    },
    ({ kit }) => [kit.system.events, 'x', { capacity: 5, overflow: 'drop-oldest', signal: signal() }],
  ),
  measured: entry(call(t.measured), () => [{ every: 5 }]),
  flightRecorder: entry(call(t.flightRecorder), () => [{ capacity: 5 }]),
  formatTree: entry(call(t.formatTree), () => [{ name: 'x', phase: 'running', incarnation: 0, queued: 0, stashed: 0, children: [] }]),
  fsm: entry(call(t.fsm), () => [
    {
      initial: ['a', 1],
      states: { a: { on: () => {}, enter: () => {}, exit: () => {}, timeout: { after: 5, decide: () => {} } } },
    },
  ]),
  group: entry(call(t.group), ({ ref }) => [[ref], { strategy: t.roundRobin(), broadcast: () => false }]),
  grow: entry(call(t.grow), () => [2]),
  handleOf: entry(call(t.handleOf), ({ kit }) => [kit.system.spawn(Cart)]),
  hostClock: entry(
    (args) => (t.hostClock.after as (...given: readonly unknown[]) => () => void)(...args)(),
    () => [5, () => {}, () => {}],
  ),
  immediate: entry(call(t.immediate), () => [() => {}]),
  listRoutees: entry(call(t.listRoutees), ({ ref }) => [ref]),
  'mailboxOf, of a mailbox': entry(call(t.mailboxOf), () => [{ kind: 'x', create: () => ({}), capacity: 5, overflow: 'reject', systemShare: 5 }]),
  mailboxOf: entry(call(t.mailboxOf), () => ['x', () => ({}), { capacity: 5, overflow: 'reject', highWater: 3, lowWater: 1 }]),
  match: entry(call(t.match), () => [{ a: () => same, b: () => same }, () => same]),
  passivate: entry(call(t.passivate), () => [ignore, { after: 5, canPassivate: () => true }]),
  pool: entry(call(t.pool), () => [
    ignore,
    {
      size: 2,
      strategy: t.random(),
      broadcast: () => false,
      options: { metrics: measured() },
      replace: 'never',
      limit: { replacements: 1, within: 5 },
    },
  ]),
  priority: entry(call(t.priority), () => [() => 0, { capacity: 5, overflow: { policy: 'grow', maxFactor: 2 } }]),
  processor: entry(call(t.processor), () => [() => {}, { maxConcurrent: 1, capacity: 5, overflow: 'reject' }]),
  Rejection: entry(construct(t.Rejection), () => [new Error('x')]),
  reject: entry(call(t.reject), ({ ref }) => [ref, new Error('x')]),
  race: entry(call(t.race), () => [[() => 1], { signal: signal() }], true),
  receive: entry(call(t.receive), () => [() => same, () => same]),
  receptionistOf: entry(call(t.receptionistOf), ({ kit }) => [kit.system]),
  removeRoutee: entry(call(t.removeRoutee), ({ ref }) => [ref]),
  resize: entry(call(t.resize), () => [5]),
  retry: entry(
    call(t.retry),
    ({ kit }) => [() => 1, { attempts: 1, backoff, timeout: 5, retryIf: () => true, signal: signal(), clock: kit.system.clock }],
    true,
  ),
  scatterGatherFirst: entry(call(t.scatterGatherFirst), () => [{ timeout: 5 }]),
  select: entry(call(t.select), () => [{ a: new t.Channel(1), b: t.sending(new t.Channel(1), 1) }, { signal: signal() }]),
  sending: entry(call(t.sending), () => [new t.Channel(1), 1]),
  serviceKey: entry(call(t.serviceKey), () => ['x']),
  setup: entry(call(t.setup), () => [() => ignore, () => same]),
  supervise: entry(call(t.supervise), () => [
    { decide: () => 'stop', limit: { restarts: 1, within: 5 }, onLimit: 'stop', backoff, scope: 'one-for-one', retryStart: false },
  ]),
  supervisor: entry(call(t.supervisor), () => [
    { strategy: 'one-for-one', intensity: 1, period: 5, autoShutdown: 'never', children: [t.child('x', ignore)] },
  ]),
  supervisorClient: entry(call(t.supervisorClient), ({ ref }) => [ref, { timeout: 5, signal: signal(), headers: {}, deadlock: 'off' }]),
  template: entry(call(t.template), () => [() => ignore, { restart: 'transient', shutdown: 5, significant: true, backoff }]),
  timeout: entry(call(t.timeout), ({ kit }) => [Promise.resolve(1), 5, { signal: signal(), clock: kit.system.clock }], true),
  unbounded: entry(call(t.unbounded), () => [{ systemShare: 5, highWater: 4, lowWater: 2 }]),
  withOptions: entry(call(t.withOptions), () => [ignore, options]),
}

const system = ({ kit }: Stage): unknown => kit.system
const refIn = ({ ref }: Stage): readonly unknown[] => [ref]
const other = ({ kit }: Stage): ActorRef<unknown> => kit.system.spawn(ignore)
const events = ({ kit }: Stage): EventStream => kit.system.events
const handles = new WeakMap<object, ReturnType<typeof spawnCart>>()
const spawnCart = ({ kit }: Stage): t.ActorHandle<Cart> => kit.system.spawn(Cart)
const cart = (stage: Stage): t.ActorHandle<Cart> => {
  const found = handles.get(stage) ?? spawnCart(stage)
  handles.set(stage, found)
  return found
}
const family = (stage: Stage): AnyRef => stage.kit.system.spawn(t.supervisor({ children: [t.child('x', ignore)] }))
const client = (stage: Stage): t.SupervisorClient => t.supervisorClient(family(stage) as unknown as ActorRef<SupervisorMessage>, { timeout: 5 })
const registry = ({ kit }: Stage): t.Receptionist => t.receptionistOf(kit.system)
const key = t.serviceKey<unknown>('x')
const ask = { timeout: 5, signal: signal(), headers: {}, deadlock: 'off' }

const methods: Record<string, Entry> = {
  'system.spawn': entry(on(system, 'spawn'), () => [ignore, options]),
  'system.spawn of a class': entry(on(system, 'spawn'), () => [Cart, { args: [], ...options }]),
  'system.stop': entry(on(system, 'stop'), refIn),
  'system.kill': entry(on(system, 'kill'), refIn),
  'system.suspend': entry(on(system, 'suspend'), ({ ref }) => [ref, 'why']),
  'system.resume': entry(on(system, 'resume'), refIn),
  'system.restart': entry(on(system, 'restart'), refIn),
  'system.watch': entry(on(system, 'watch'), (s) => [s.ref, other(s)]),
  'system.unwatch': entry(on(system, 'unwatch'), (s) => [s.ref, other(s)]),
  'system.phaseOf': entry(on(system, 'phaseOf'), refIn),
  'system.find': entry(on(system, 'find'), () => ['/user/x']),
  'system.started': entry(on(system, 'started'), refIn),
  'system.whenTerminated': entry(on(system, 'whenTerminated'), refIn),
  'system.sendAfter': entry(on(system, 'sendAfter'), ({ ref }) => [ref, 5, 'x']),
  'system.inspect': entry(on(system, 'inspect'), refIn),
  'system.ledger': entry(on(system, 'ledger')),
  'system.counts': entry(on(system, 'counts')),
  'system.metrics': entry(on(system, 'metrics')),
  'system.pump': entry(on(system, 'pump')),
  'system.shutdown': entry(on(system, 'shutdown'), () => [{ deadline: 5, drain: true }]),
  'runtimes.register': entry(
    on(() => new t.ExecutionRuntimes(), 'register'),
    () => ['x', () => new t.ManualRuntime()],
  ),
  'runtimes.unregister': entry(
    on(() => new t.ExecutionRuntimes(), 'unregister'),
    () => ['manual'],
  ),
  'runtimes.create': entry(
    on(() => new t.ExecutionRuntimes(), 'create'),
    () => ['manual'],
  ),
  'clock.after': entry(
    on(({ kit }) => kit.system.clock, 'after'),
    () => [5, () => {}, () => {}],
  ),
  'deadLetters.list': entry(on(({ kit }) => kit.system.deadLetters, 'list')),
  'dispatchers.add': entry(
    on(({ kit }) => kit.system.dispatchers, 'add'),
    () => [`x${Math.random()}`, { throughput: 5, slice: 5, maxTurns: 5 }],
  ),
  'dispatchers.close': entry(
    on(({ kit }) => kit.system.dispatchers, 'close'),
    () => ['x'],
  ),
  'dispatchers.stateOf': entry(
    on(({ kit }) => kit.system.dispatchers, 'stateOf'),
    () => ['concurrent'],
  ),
  'events.publish': entry(on(events, 'publish'), () => [{ type: 'x' }]),
  'events.subscribe': entry(on(events, 'subscribe'), ({ ref }) => [ref, 'x', { capacity: 5, overflow: 'drop-newest' }]),
  'events.listen': entry(
    (args, stage) => (events(stage).listen as (...given: readonly unknown[]) => t.Subscription)(...args).cancel(),
    () => [() => {}, 'x', () => {}],
  ),
  'buffered.attach': entry(
    (args) => {
      const channel = t.buffered(5)
      ;(channel.attach as (...given: readonly unknown[]) => unknown)(...args)
      channel.close()
    },
    (s) => [events(s), 'x'],
  ),
  'ref.tell': entry(
    on(({ ref }) => ref, 'tell'),
    (s) => ['x', { sender: other(s), headers: {}, priority: 5 }],
  ),
  'ref.ask': entry(
    on(({ kit }) => kit.system.spawn(answering), 'ask'),
    () => [question, ask],
    true,
  ),
  'ref.offer': entry(
    on(({ ref }) => ref, 'offer'),
    () => ['x', { signal: signal() }],
  ),
  'ref.stop': entry(on(other, 'stop'), () => [{ after: 'queued' }]),
  'adapter.tell': entry(
    (args, s) => s.inside((ctx) => (ctx.adapt((m) => m).tell as (...given: readonly unknown[]) => void)(...args)),
    () => ['x'],
  ),
  'adapter.ask': entry(
    (args, s) => s.inside((ctx) => (ctx.adapt((m) => m).ask as (...given: readonly unknown[]) => void)(...args)),
    () => [question, ask],
    true,
  ),
  'adapter.offer': entry(
    (args, s) => s.inside((ctx) => (ctx.adapt((m) => m).offer as (...given: readonly unknown[]) => void)(...args)),
    () => ['x', { signal: signal() }],
  ),
  'handle.with': entry(on(cart, 'with'), () => [ask]),
  'handle.tell': entry(on(cart, 'tell'), () => [{ type: 'count', args: [1] }]),
  'handle.ask': entry(on(cart, 'ask'), () => [{ type: 'count', args: [1] }, ask], true),
  'handle.tell.count': entry(
    on((s) => cart(s).tell, 'count'),
    () => [1],
  ),
  'handle.ask.count': entry(
    on((s) => cart(s).ask, 'count'),
    () => [1],
  ),
  'ctx.spawn': entry(
    inside((ctx) => ctx, 'spawn'),
    () => [ignore, options],
  ),
  'ctx.stop': entry(
    inside((ctx) => ctx, 'stop'),
    refIn,
  ),
  'ctx.watch': entry(
    inside((ctx) => ctx, 'watch'),
    ({ ref }) => [ref, { deathPact: true }],
  ),
  'ctx.watchWith': entry(
    inside((ctx) => ctx, 'watchWith'),
    ({ ref }) => [ref, 'x'],
  ),
  'ctx.unwatch': entry(
    inside((ctx) => ctx, 'unwatch'),
    refIn,
  ),
  'ctx.ask': entry(
    inside((ctx) => ctx, 'ask'),
    ({ kit }) => [kit.system.spawn(answering), question, ask],
    true,
  ),
  'ctx.reply': entry(
    inside((ctx) => ctx, 'reply'),
    () => ['x'],
  ),
  'ctx.forward': entry(
    inside((ctx) => ctx, 'forward'),
    refIn,
  ),
  'ctx.adapt': entry(
    inside((ctx) => ctx, 'adapt'),
    () => [String, { key: 'x' }],
  ),
  'ctx.pipeToSelf': entry(
    inside((ctx) => ctx, 'pipeToSelf'),
    () => [Promise.resolve(1), String, String],
  ),
  'ctx.setReceiveTimeout': entry(
    inside((ctx) => ctx, 'setReceiveTimeout'),
    () => [5],
  ),
  'ctx.handOver': entry(
    inside((ctx) => ctx, 'handOver'),
    () => [5],
  ),
  'ctx.label': entry(
    inside((ctx) => ctx, 'label'),
    () => ['a drone'],
  ),
  'ctx.breathe': entry(inside((ctx) => ctx, 'breathe')),
  'log.info': entry(
    inside((ctx) => ctx.log, 'info'),
    () => [{ a: 1 }, 'x'],
  ),
  'timers.once': entry(
    inside((ctx) => ctx.timers, 'once'),
    ({ ref }) => ['x', 5, 'x', { to: ref }],
  ),
  'timers.every': entry(
    inside((ctx) => ctx.timers, 'every'),
    () => ['x', 5, 'x'],
  ),
  'timers.cancel': entry(
    inside((ctx) => ctx.timers, 'cancel'),
    () => ['x'],
  ),
  'timers.cancelAll': entry(inside((ctx) => ctx.timers, 'cancelAll')),
  'timers.has': entry(
    inside((ctx) => ctx.timers, 'has'),
    () => ['x'],
  ),
  'stash.add': entry(
    inside((ctx) => ctx.stash, 'add'),
    () => ['x'],
  ),
  'stash.unstashAll': entry(inside((ctx) => ctx.stash, 'unstashAll')),
  'stash.unstash': entry(
    inside((ctx) => ctx.stash, 'unstash'),
    () => [1],
  ),
  'stash.clear': entry(inside((ctx) => ctx.stash, 'clear')),
  'behavior.onSignal': entry(
    on(() => receive(() => same), 'onSignal'),
    () => [() => same],
  ),
  'channel.send': entry(
    on(() => new t.Channel(1), 'send'),
    () => [1, { signal: signal() }],
  ),
  'channel.trySend': entry(
    on(() => new t.Channel(1), 'trySend'),
    () => [1],
  ),
  'channel.receive': entry(
    on(() => new t.Channel(1), 'receive'),
    () => [{ signal: signal() }],
  ),
  'channel.tryReceive': entry(on(() => new t.Channel(1), 'tryReceive')),
  'channel.close': entry(on(() => new t.Channel(1), 'close')),
  'group.spawn': entry(
    on(() => new t.TaskGroup(), 'spawn'),
    () => [() => 1],
    true,
  ),
  'group.cancel': entry(
    on(() => new t.TaskGroup(), 'cancel'),
    () => ['x'],
  ),
  'group.waitAll': entry(on(() => new t.TaskGroup(), 'waitAll')),
  'group.race': entry(on(() => new t.TaskGroup(), 'race')),
  'token.cancel': entry(
    on(() => new t.CancellationToken(), 'cancel'),
    () => ['x'],
  ),
  'token.throwIfCancelled': entry(on(() => new t.CancellationToken(), 'throwIfCancelled')),
  'token.dispose': entry(on(() => new t.CancellationToken(), 'dispose')),
  'CancellationToken.after': entry(
    (args) => (t.CancellationToken.after as (...given: readonly unknown[]) => t.CancellationToken)(...args).dispose(),
    ({ kit }) => [5, { signal: signal(), clock: kit.system.clock }],
  ),
  'breaker.call': entry(
    on(({ kit }) => new t.CircuitBreaker(kit.system), 'call'),
    () => [() => 1],
    true,
  ),
  'breaker.open': entry(on(({ kit }) => new t.CircuitBreaker(kit.system), 'open')),
  'breaker.close': entry(on(({ kit }) => new t.CircuitBreaker(kit.system), 'close')),
  'receptionist.register': entry(on(registry, 'register'), ({ ref }) => [key, ref]),
  'receptionist.find': entry(on(registry, 'find'), () => [key]),
  'receptionist.subscribe': entry(on(registry, 'subscribe'), ({ ref }) => [key, ref]),
  'client.startChild': entry(on(client, 'startChild'), () => [t.child('y', ignore)]),
  'client.stopChild': entry(on(client, 'stopChild'), () => ['x']),
  'client.restartChild': entry(on(client, 'restartChild'), () => ['x']),
  'client.deleteChild': entry(on(client, 'deleteChild'), () => ['x']),
  'client.refOf': entry(on(client, 'refOf'), () => [t.child('x', ignore)]),
  'client.children': entry(on(client, 'children')),
  'client.count': entry(on(client, 'count')),
  'template.with': entry(
    on(() => t.template(() => ignore), 'with'),
    () => [1],
  ),
}

describe('whatever it is given, it is refused with a code or does something sensible:', () => {
  for (const [name, calls] of Object.entries({ ...functions, ...methods })) test(name, () => holds(calls))
})

test('there is an entry for every export', () => {
  const missing = Object.entries(t).filter(([name, value]) => !(name in functions) && !isError(value) && !nothingToTake.has(name))
  expect(missing.map(([name]) => name)).toEqual([])
})

test('there is an entry for every method', async () => {
  const stage = await import('@troupe/testkit').then(({ createTestKit }) => createTestKit())
  const { system: made } = stage
  let ctx!: ActorContext<unknown>
  made.spawn(
    t.setup((given: ActorContext<unknown>) => {
      ctx = given
      return ignore
    }),
  )
  await stage.settle()
  const found: Record<string, object> = {
    system: made,
    runtimes: new t.ExecutionRuntimes(),
    clock: made.clock,
    deadLetters: made.deadLetters,
    dispatchers: made.dispatchers,
    events: made.events,
    ref: made.spawn(ignore),
    ctx,
    timers: ctx.timers,
    stash: ctx.stash,
    channel: new t.Channel(1),
    group: new t.TaskGroup(),
    token: new t.CancellationToken(),
    breaker: new t.CircuitBreaker(made),
    receptionist: t.receptionistOf(made),
    client: t.supervisorClient(made.spawn(ignore)),
    behavior: receive(() => same),
    template: t.template(() => ignore),
  }
  // Not in the types that users have of them.
  const inner = new Set([
    'events.failed',
    'events.remove',
    'events.forget',
    'events.close',
    'dispatchers.end',
    'dispatchers.addRemote',
    'dispatchers.use',
    'deadLetters.add',
    'ctx.live',
    'ctx.begin',
    'ctx.finish',
    'ctx.fail',
    'ctx.move',
    'ctx.clear',
    'timers.end',
    'timers.forget',
    'ref.toString',
    'ref.toJSON',
    'clock.now',
    'clock.random',
    'behavior.handle',
  ])
  const names = Object.entries(found).flatMap(([of, value]) => methodsOf(value).map((method) => `${of}.${method}`))
  expect(names.length).toBeGreaterThan(60)
  expect(names.filter((name) => !(name in methods) && !inner.has(name))).toEqual([])
  await stage.end()
})
