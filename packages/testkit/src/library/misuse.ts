// Wrong arguments, in a running actor and from outside: each is refused with an error that names it, at once, and nothing
// else happens. What is left out is not wrong, and who has no name is found by its path.

import { ActorSystem, type AnyRef, bounded, Cancelled, InvalidOption, NotAllowed, receive, same, setup, supervise, TroupeError } from '@troupe/core'
import type { ActorContext } from '@troupe/core'
import { makeAbortSource } from '@troupe/core/internal'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

const odd = (value: unknown): never => value as never

/** An actor of another system, made when first needed; nobody runs it. */
let stranger: AnyRef | undefined
function foreign(): AnyRef {
  return (stranger ??= ActorSystem.create('elsewhere', { runtime: 'manual', keepAlive: false }).spawn(receive<never>(() => same)))
}

const inside: readonly ((c: ActorContext<string>) => unknown)[] = [
  (c) => c.timers.once('k', -1, 'm'),
  (c) => c.timers.once('k', Number.NaN, 'm'),
  (c) => c.timers.once('k', Number.POSITIVE_INFINITY, 'm'),
  (c) => c.timers.once('k', 1, odd(undefined)),
  (c) => c.timers.once(odd(7), 1, 'm'),
  (c) => c.timers.once('k', 1, 'm', odd({ to: 7 })),
  (c) => c.timers.once('k', 1, 'm', odd({})),
  (c) => c.timers.every('k', 0, 'm'),
  (c) => c.timers.every('k', 5, odd(undefined)),
  (c) => c.setReceiveTimeout(0),
  (c) => c.setReceiveTimeout(Number.NaN),
  (c) => c.watch(c.self),
  (c) => c.watch(odd(undefined)),
  (c) => c.watch(odd({ path: '/user/x' })),
  (c) => c.watchWith(c.self, odd(undefined)),
  (c) => c.adapt(odd(7)),
  (c) => c.adapt(() => 'm', odd({ key: 7 })),
  (c) => c.pipeToSelf(Promise.resolve(), odd(7), () => 'm'),
  (c) => c.stash.add(odd(undefined)),
  (c) => c.forward(odd({})),
  (c) => c.stop(odd({ path: '/user/x' })),
  (c) => c.handOver(1),
  (c) => c.watch(foreign()),
  (c) => c.forward(foreign()),
  (c) => c.stop(foreign()),
  (c) =>
    c.spawn(
      receive<never>(() => same),
      { drain: { redirect: foreign() } },
    ),
  (c) => c.spawn(odd(7)),
]

/** At the edge of what is allowed. */
const allowed: readonly (() => unknown)[] = [
  () => supervise({ backoff: { jitter: 1 } }),
  () => supervise({ backoff: { jitter: 0 } }),
  () => supervise({ backoff: { min: 0, max: 0 } }),
  () => supervise({ backoff: { min: 5, max: 5, factor: 1 } }),
  () => supervise({ limit: { restarts: 0, within: 1 } }),
  () => supervise({}),
]

const policies: readonly (() => unknown)[] = [
  () => supervise(odd({ decide: 7 })),
  () => supervise(odd({ limits: 7 })),
  () => supervise({ limit: odd({ restarts: 1, within: 1, per: 1 }) }),
  () => supervise({ limit: { restarts: -1, within: 10 } }),
  () => supervise({ limit: { restarts: 1.5, within: 10 } }),
  () => supervise({ limit: { restarts: 1, within: 0 } }),
  () => supervise({ onLimit: odd('resume') }),
  () => supervise({ scope: odd('all') }),
  () => supervise({ backoff: { min: -1 } }),
  () => supervise({ backoff: { max: Number.NaN } }),
  () => supervise({ backoff: { min: 20, max: 10 } }),
  () => supervise({ backoff: { factor: 0.5 } }),
  () => supervise({ backoff: { jitter: 2 } }),
  () => supervise({ backoff: { jitter: -0.1 } }),
  () => supervise({ backoff: odd({ least: 1 }) }),
  () => supervise({ retryStart: odd('yes') }),
]

function run(sim: Simulation): void {
  let done = 0
  const user = setup<string>(() =>
    receive<string>((c, m) => {
      if (!m.startsWith('misuse')) return same
      const use = inside[Number(m.slice(6))]!
      const children = c.children.length
      refused(use.toString(), () => use(c))
      // The two ways of watching do not mix; each by itself may be said twice.
      const plain = sim.choose(2) === 0
      const watch = (asMessage: boolean): void => (asMessage ? c.watchWith(c.parent, 'gone') : c.watch(c.parent))
      watch(plain)
      watch(plain)
      refused('a second way of watching', () => watch(!plain), [NotAllowed])
      c.unwatch(c.parent)
      sim.check(c.children.length === children && !c.timers.has('k'), 'something was refused, and done all the same')
      done++
      return same
    }),
  )
  const refused = (what: string, act: () => unknown, kinds: readonly unknown[] = [TroupeError]): void => {
    sim.trace.add('note', 0, 0, what, 0)
    try {
      act()
    } catch (cause) {
      sim.check(
        kinds.some((k) => cause instanceof (k as typeof TroupeError)),
        `${what} is refused with ${String(cause)}`,
      )
      return
    }
    sim.check(false, `${what} is not refused`)
  }
  const spawn = { supervision: 'restart', name: 'user' } as const
  const ref = sim.calmly(() => sim.system.spawn(user, spawn))
  const asks: readonly unknown[] = [
    { timeout: 0 },
    { timeout: -1 },
    { timeout: Number.NaN },
    { timeout: Number.POSITIVE_INFINITY },
    'soon',
    null,
    { signal: 7 },
    { deadlock: 'maybe' },
  ]
  const spawns: readonly unknown[] = [
    { supervision: 'perhaps' },
    { supervision: null },
    { supervision: { scope: 'none' } },
    { supervision: { limit: { restarts: 1, within: 1 } } },
    { stopTimeout: -1 },
    { drain: 'away' },
    { drain: null },
    { mailbox: 7 },
    { speed: 1 },
    7,
    { supervision: { scope: 'one-for-one', limit: { restarts: -1, within: 1 } } },
  ]
  const nameless = sim.calmly(() => [user, user].map((behavior) => sim.system.spawn(behavior)))
  let sent = 0
  let rejected = 0
  let asked = 0
  sim.plan(sim.int(3, 9), () => {
    switch (sim.choose(6)) {
      case 1: {
        sim.oneOf(allowed)()
        const use = sim.oneOf(policies)
        return refused(use.toString(), use, [InvalidOption])
      }
      case 2: {
        asked++
        const options = sim.oneOf(asks)
        const before = sim.tap.handling.handled
        ref
          .ask<number>(() => 'question', odd(options))
          .then(
            () => sim.check(false, 'a question with a wrong option was answered'),
            (cause: unknown) => {
              rejected++
              sim.check(cause instanceof InvalidOption, `a question with ${JSON.stringify(options)} was refused with ${String(cause)}`)
            },
          )
        sim.check(before === sim.tap.handling.handled, 'a question with a wrong option was sent')
        return undefined
      }
      case 3: {
        const options = sim.oneOf(spawns)
        const { active } = sim.system.counts()
        refused(JSON.stringify(options), () => sim.system.spawn(user, odd(options)))
        refused('a capacity of 0', () => bounded(0, 'reject'))
        sim.check(sim.system.counts().active === active, 'a spawn was refused, and something was spawned')
        return undefined
      }
      case 4: {
        // What is left out of the options is not wrong.
        asked++
        const abort = makeAbortSource()
        ref
          .ask<number>(() => 'question', { signal: abort.signal, headers: {} })
          .then(
            () => sim.check(false, 'a question that nobody answers was answered'),
            (cause: unknown) => {
              rejected++
              sim.check(cause instanceof Cancelled, `a question that was taken back was refused with ${String(cause)}`)
            },
          )
        return abort.abort(undefined)
      }
      case 5:
        for (const one of [...nameless, ref]) sim.check(sim.system.find(one.path) === one, `${one.path} is not found by its path`)
        return undefined
      default:
        sent++
        return ref.tell(`misuse${sim.choose(inside.length)}`)
    }
  })
  sim.eventually('all was tried', () => done === sent && asked === rejected)
}

export const misuse: LibraryScenario = {
  name: 'misuse',
  about: 'wrong arguments are refused at once, and nothing else happens',
  run,
  options: { faults: 'none' },
}
