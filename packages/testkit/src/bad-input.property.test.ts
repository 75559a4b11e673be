// Every public function and class of the test kit with wrong input in every place. A new export without an entry fails.

import { describe, expect, test } from 'vitest'
import * as kitApi from '@troupe/testkit'
import { measured, ignore, receive, same, setup, unbounded, type ActorContext } from '@troupe/core'
import { type Entry, entry, holds, methodsOf, type Stage } from '../../core/test/wrong-input.ts'

const { BehaviorTestKit, createTestKit, expectNoFindings, Inbox, mailboxContract, replayCapsule, seeded, simulate, VirtualClock, buggify } = kitApi

type Anything = (...given: readonly unknown[]) => unknown
const call =
  (f: unknown): Entry['act'] =>
  (args) =>
    (f as Anything)(...args)
const construct =
  (c: unknown): Entry['act'] =>
  (args) =>
    void new (c as new (...given: readonly unknown[]) => object)(...args)
const on =
  (of: (stage: Stage) => unknown, method: string): Entry['act'] =>
  (args, stage) =>
    (of(stage) as Record<string, Anything>)[method]!(...args)
/** A method of a run, called by its scenario; what it throws comes out. */
const simulated =
  (method: string): Entry['act'] =>
  async (args) => {
    let thrown: { readonly cause: unknown } | undefined
    await simulate(
      (sim) => {
        try {
          ;(sim as unknown as Record<string, Anything>)[method]!(...args)
        } catch (cause) {
          thrown = { cause }
        }
      },
      { seeds: 1, faults: 'none', onViolation: 'report', shrinkTrials: 0, duration: 50, grace: 50 },
    )
    if (thrown !== undefined) throw thrown.cause
  }
/** A method of the context that a behavior test kit hands out. */
const faked =
  (of: (ctx: ActorContext<unknown>) => unknown, method: string): Entry['act'] =>
  (args) =>
    void new BehaviorTestKit(
      setup<unknown>((ctx) => {
        const returned = (of(ctx) as Record<string, Anything>)[method]!(...args)
        if (returned instanceof Promise) returned.catch(() => {})
        return ignore
      }),
    )
const probe = ({ kit }: Stage): unknown => {
  const made = kit.probe<unknown>()
  made.ref.tell({ type: 'x' })
  return made
}
const behaviorKit = (): unknown => new BehaviorTestKit(receive<unknown>(() => same))
const own = (): object => ({ ref: new Inbox('/x', 1, () => {}).ref })
const refOf = (): unknown => (own() as { ref: unknown }).ref

const capsule: object = {
  troupe: 'capsule',
  version: 1,
  path: '/user/it',
  code: { url: undefined, name: undefined, args: [] },
  entries: [{ what: 'message', at: 1, type: 'x', ok: true, value: ['x'] }],
  reads: { now: [], random: [] },
  failure: { name: 'Error', message: 'x', stack: '', at: 1 },
  missing: [],
}

const functions: Record<string, Entry> = {
  BehaviorTestKit: entry(construct(BehaviorTestKit), () => [ignore, { name: 'x', handedOver: 1 }]),
  Inbox: entry(construct(Inbox), () => ['/x', 1, () => {}]),
  VirtualClock: entry(
    (args) => void (new VirtualClock().tick as Anything).call(new VirtualClock(), ...args),
    () => [5],
  ),
  buggify: entry(call(buggify), () => ['x', 0.5]),
  createTestKit: entry(call(createTestKit), () => [{ messages: 'freeze', seed: 1, askTimeout: 5, metrics: measured() }]),
  // It calls the kit's own methods, and one of those may be what is wrong.
  expectNoFindings: entry(call(expectNoFindings), () => [createTestKit(), { for: 1, mute: [] }], true),
  replayCapsule: entry(call(replayCapsule), () => [capsule, receive(() => same)], true),
  mailboxContract: entry(call(mailboxContract), () => [() => unbounded(), { fifo: true }]),
  seeded: entry(call(seeded), () => [1]),
  simulate: entry(call(simulate), () => [
    () => {},
    { name: 'x', seeds: 1, strategy: 'random', faults: { throw: 0.1 }, duration: 5, grace: 5, maxSteps: 50, onViolation: 'report', shrinkTrials: 0 },
  ]),
}

const methods: Record<string, Entry> = {
  'kit.settle': entry(on(({ kit }) => kit, 'settle')),
  'kit.advance': entry(
    on(({ kit }) => kit, 'advance'),
    () => [5],
  ),
  'kit.expectPhase': entry(
    on(({ kit }) => kit, 'expectPhase'),
    ({ ref }) => [ref, 'running', 5],
  ),
  'kit.until': entry(
    on(({ kit }) => kit, 'until'),
    () => [Promise.resolve(1), 5],
  ),
  'kit.expectLog': entry(
    on(({ kit }) => kit, 'expectLog'),
    () => ['x'],
  ),
  'kit.checkLedger': entry(on(({ kit }) => kit, 'checkLedger')),
  'kit.checkLeaks': entry(on(({ kit }) => kit, 'checkLeaks')),
  'kit.probe': entry(
    on(({ kit }) => kit, 'probe'),
    () => ['x'],
  ),
  'probe.expect': entry(on(probe, 'expect'), () => [{ type: 'x' }]),
  'probe.expectType': entry(on(probe, 'expectType'), () => ['x']),
  'probe.expectNone': entry(on(probe, 'expectNone'), () => [5]),
  'probe.fish': entry(on(probe, 'fish'), () => [() => true, 5], true),
  'probe.next': entry(on(probe, 'next'), () => [5]),
  'probe.watch': entry(on(probe, 'watch'), ({ ref }) => [ref]),
  'probe.expectTerminated': entry(on(probe, 'expectTerminated'), ({ ref }) => [ref, 5]),
  'probe.reply': entry(on(probe, 'reply'), () => [5]),
  'behaviorKit.takeEffects': entry(on(behaviorKit, 'takeEffects')),
  'behaviorKit.expectEffect': entry(on(behaviorKit, 'expectEffect'), () => ['spawned']),
  'behaviorKit.inbox': entry(on(behaviorKit, 'inbox'), () => ['x']),
  'behaviorKit.childInbox': entry(on(behaviorKit, 'childInbox'), () => ['x']),
  'behaviorKit.run': entry(on(behaviorKit, 'run'), () => ['x', refOf()]),
  'behaviorKit.runAsync': entry(on(behaviorKit, 'runAsync'), () => ['x', refOf()]),
  'behaviorKit.signal': entry(on(behaviorKit, 'signal'), () => [{ type: 'PreStop' }]),
  'behaviorKit.runSelf': entry(on(behaviorKit, 'runSelf'), () => [5]),
  'clock.tick': entry(
    on(() => new VirtualClock(), 'tick'),
    () => [5],
  ),
  'clock.moveTo': entry(
    on(() => new VirtualClock(), 'moveTo'),
    () => [5],
  ),
  'fake.spawn': entry(
    faked((ctx) => ctx, 'spawn'),
    () => [ignore, { name: 'x', metrics: measured() }],
  ),
  'fake.stop': entry(
    faked((ctx) => ctx, 'stop'),
    () => [refOf()],
  ),
  'fake.watch': entry(
    faked((ctx) => ctx, 'watch'),
    () => [refOf()],
  ),
  'fake.watchWith': entry(
    faked((ctx) => ctx, 'watchWith'),
    () => [refOf(), 'x'],
  ),
  'fake.unwatch': entry(
    faked((ctx) => ctx, 'unwatch'),
    () => [refOf()],
  ),
  'fake.ask': entry(
    faked((ctx) => ctx, 'ask'),
    () => [refOf(), {}],
  ),
  'fake.reply': entry(
    faked((ctx) => ctx, 'reply'),
    () => ['x'],
  ),
  'fake.forward': entry(
    faked((ctx) => ctx, 'forward'),
    () => [refOf()],
  ),
  'fake.adapt': entry(
    faked((ctx) => ctx, 'adapt'),
    () => [String],
  ),
  'fake.pipeToSelf': entry(
    faked((ctx) => ctx, 'pipeToSelf'),
    () => [Promise.resolve(1), String, String],
  ),
  'fake.setReceiveTimeout': entry(
    faked((ctx) => ctx, 'setReceiveTimeout'),
    () => [5],
  ),
  'fake.handOver': entry(
    faked((ctx) => ctx, 'handOver'),
    () => [5],
  ),
  'fake timers.once': entry(
    faked((ctx) => ctx.timers, 'once'),
    () => ['x', 5, 'x', { to: refOf() }],
  ),
  'fake timers.every': entry(
    faked((ctx) => ctx.timers, 'every'),
    () => ['x', 5, 'x'],
  ),
  'fake stash.add': entry(
    faked((ctx) => ctx.stash, 'add'),
    () => ['x'],
  ),
  'fake stash.unstash': entry(
    faked((ctx) => ctx.stash, 'unstash'),
    () => [1],
  ),
  'sim.choose': entry(simulated('choose'), () => [3]),
  'sim.int': entry(simulated('int'), () => [1, 3]),
  'sim.oneOf': entry(simulated('oneOf'), () => [[1, 2]]),
  'sim.buggify': entry(simulated('buggify'), () => ['x', 0.5]),
  'sim.delay': entry(simulated('delay'), () => [5]),
  'sim.after': entry(simulated('after'), () => [5, () => {}], true),
  'sim.plan': entry(simulated('plan'), () => [2, () => {}], true),
  'sim.calmly': entry(simulated('calmly'), () => [() => 1], true),
  'sim.spare': entry(simulated('spare'), ({ ref }) => [ref]),
  'sim.check': entry(simulated('check'), () => [true, 'x']),
  'sim.eventually': entry(simulated('eventually'), () => ['x', () => true], true),
}

describe('whatever it is given, it is refused with a code or does something sensible:', () => {
  for (const [name, calls] of Object.entries({ ...functions, ...methods })) test(name, () => holds(calls, { runs: 5, each: 5 }))
})

test('there is an entry for every export', () => {
  // Made by the kit or the simulator alone, thrown by them, or a plain value.
  const exempt = new Set(['Probe', 'Simulation', 'SimulationFailed', 'InjectedFault', 'someFaults'])
  expect(Object.keys(kitApi).filter((name) => !(name in functions) && !exempt.has(name))).toEqual([])
})

test('there is an entry for every method', () => {
  const kit = createTestKit()
  const found: Record<string, object> = { kit, probe: kit.probe(), behaviorKit: new BehaviorTestKit(ignore), clock: new VirtualClock() }
  const names = Object.entries(found).flatMap(([of, value]) => methodsOf(value).map((method) => `${of}.${method}`))
  expect(names.filter((name) => !(name in methods) && name !== 'kit.end')).toEqual([])
})
