// Starts and ends that take their time: nested and async setups, signal handlers that wait, fail or never settle, starts
// that are retried, and everybody who waits for a start or an end. A context whose incarnation is over refuses everything.

import {
  type ActorContext,
  type ActorRef,
  ActorInitializationError,
  type Behavior,
  ContextEnded,
  receive,
  same,
  setup,
  stopped,
  supervise,
  withOptions,
} from '@troupe/core'
import { onRelease } from '@troupe/core/internal'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Life = 'work' | 'fail' | 'become' | 'become-later' | 'fail-in-setup' | 'nonsense' | 'nonsense-later' | 'wait' | 'end' | 'handle'

/** What a context can be asked for, and must refuse once it is over. */
const uses: readonly ((ctx: ActorContext<Life>, other: ActorRef<Life>) => unknown)[] = [
  (c) => c.children,
  (c) => c.parent,
  (c) => c.sender,
  (c) => c.headers,
  (c) => c.incarnation,
  (c) => c.handedOver,
  (c) => c.system,
  (c) => c.log,
  (c) => c.timers,
  (c) => c.stash,
  (c) => c.spawn(receive<never>(() => same)),
  (c) => c.stop(),
  (c, other) => c.watch(other),
  (c, other) => c.watchWith(other, 'work'),
  (c, other) => c.unwatch(other),
  (c, other) => c.ask(other, () => 'work'),
  (c) => c.reply(1),
  (c, other) => c.forward(other),
  (c) => c.adapt(() => 'work'),
  (c) =>
    c.pipeToSelf(
      Promise.resolve(),
      () => 'work',
      () => 'work',
    ),
  (c) => c.setReceiveTimeout(10),
  (c) => c.breathe(),
  (c) => c.handOver(1),
]

function run(sim: Simulation): void {
  const other = sim.calmly(() =>
    sim.system.spawn(
      receive<Life>(() => same),
      { name: 'other' },
    ),
  )
  let openLives = 0
  const slow = sim.choose(2) === 1
  /** Now, later, too late, never, or not at all. */
  const perhaps = (odds: number): Promise<void> | undefined => {
    if (!slow || sim.choose(odds) !== 1) return undefined
    switch (sim.choose(4)) {
      case 0:
        return sim.delay()
      case 1:
        return sim.delay(30)
      case 2:
        return sim.delay().then(() => Promise.reject(new Error('a step')))
      default:
        return sim.never()
    }
  }
  const refuses = (ctx: ActorContext<Life>, timers: ActorContext<Life>['timers'], stash: ActorContext<Life>['stash']): void => {
    const use = sim.oneOf([...uses, () => timers.once('k', 1, 'work'), () => stash.add('work'), () => stash.unstashAll(), () => stash.clear()])
    try {
      use(ctx, other)
      sim.check(false, 'a context whose incarnation is over still acts')
    } catch (cause) {
      sim.check(cause instanceof ContextEnded, `a context that is over refuses with ${String(cause)}`)
    }
    sim.check(ctx.signal.aborted, 'the signal of an incarnation that is over is not aborted')
  }
  const spawn = (name: string): void => {
    let up = false
    let ups = 0
    let old: (() => void) | undefined
    let order: string[] = []
    const behavior = (ctx: ActorContext<Life>): Behavior<Life> =>
      receive<Life>(
        (c, m) => {
          sim.check(c === ctx, 'a handler has another context than its setup')
          sim.check(!c.signal.aborted, 'a handler begins with its signal aborted')
          switch (m) {
            case 'work':
              return same
            case 'handle':
              return behavior(ctx)
            case 'fail':
              throw new Error('asked to')
            case 'become':
              return setup<Life>(() => behavior(ctx))
            case 'become-later':
              return setup<Life>(() => sim.delay().then(() => setup<Life>(() => behavior(ctx))))
            case 'fail-in-setup':
              return setup<Life>(() =>
                sim.choose(2) === 0 ? sim.delay().then(() => Promise.reject(new Error('a setup'))) : sim.delay().then(() => 7 as never),
              )
            case 'nonsense':
              return 7 as never
            case 'nonsense-later':
              return sim.delay().then(() => withOptions(behavior(ctx), {}))
            case 'wait':
              return sim.delay().then(() => same)
            case 'end':
              return stopped
          }
        },
        (c, s) => {
          order.push(s.type)
          if (s.type === 'PreStart') openLives++
          if (s.type === 'PostStart') {
            up = true
            ups++
          }
          if (s.type === 'PostStop') openLives--
          if (s.type === 'PreStop' || s.type === 'PreRestart' || s.type === 'PostStop')
            sim.check(c.signal.aborted, `${s.type} comes, and the signal is not aborted`)
          if (s.type === 'PostStop') sim.check(sim.faulted || c.children.length === 0, 'PostStop comes while there are children')
          if (s.type === 'PreStop' && sim.choose(6) === 1) throw new Error('in PreStop')
          // What the handler of a child's end becomes may take its time too, also while the parent stops.
          if (s.type === 'ChildStopped' && slow && sim.choose(2) === 1)
            return sim.delay().then(() => setup<Life>(() => (sim.choose(3) === 1 ? sim.never() : sim.delay()).then(() => behavior(ctx))))
          if (s.type === 'PreStart' && slow && sim.choose(8) === 1)
            return sim.oneOf([stopped, setup<Life>(() => behavior(ctx)), setup<Life>(() => sim.delay().then(() => behavior(ctx))), 7 as never])
          return perhaps(5) ?? same
        },
      )
    const initial = setup<Life>((ctx) => {
      old?.()
      order = []
      const { timers, stash } = ctx
      held++
      const throws = sim.choose(4) === 1
      let once = false
      onRelease(ctx, {
        release: () => {
          sim.check(!once, 'a resource was let go twice')
          once = true
          released++
          if (!throws) return
          unwilling++
          throw new Error('does not let go')
        },
      })
      old = () => refuses(ctx, timers, stash)
      if (sim.choose(6) === 1) throw new Error('in setup')
      if (slow && sim.choose(3) === 1) ctx.spawn(receive<never>(() => same))
      // Goes with the incarnation, also if that never comes up.
      if (slow && sim.choose(3) === 1) timers.once('early', sim.oneOf([5, 40]), 'work')
      const inner = sim.choose(3) === 1 ? setup<Life>(() => behavior(ctx)) : behavior(ctx)
      const wait = perhaps(4)
      return wait === undefined ? inner : wait.then(() => inner)
    })
    const ref = sim.system.spawn(sim.choose(4) === 1 ? withOptions(initial, { stopTimeout: 10 }) : initial, {
      name,
      startTimeout: 20,
      stopTimeout: 15,
      supervision: sim.oneOf([
        'restart',
        supervise({ retryStart: true, limit: { restarts: 2, within: 200 }, backoff: { min: 5, max: 20, jitter: 0.5 } }),
        'resume',
        'stop',
        supervise({ decide: () => 'restart', limit: { restarts: 1, within: 100 }, backoff: { min: 0, max: 0 } }),
      ]),
    })
    refs.push(ref)
    let waits = 0
    let told = 0
    const wait = (): void => {
      waits++
      const was = ups
      sim.system.started(ref).then(
        () => {
          told++
          sim.check(up && ups >= was, 'somebody was told of a start that did not happen')
        },
        (cause: unknown) => {
          told++
          sim.check(cause instanceof ActorInitializationError, `who waits for a start is told ${String(cause)}`)
          sim.check(
            sim.system.phaseOf(ref) === 'terminated' || sim.system.phaseOf(ref) === 'stopped' || sim.system.phaseOf(ref) === 'stopping',
            'a start is given up, and the actor lives',
          )
        },
      )
      waits++
      void sim.system.whenTerminated(ref).then(({ reason, cause }) => {
        told++
        old?.()
        sim.check(sim.system.phaseOf(ref) === 'terminated', 'somebody was told of an end that did not come')
        sim.check(reason !== 'failure' || cause !== undefined, 'an end by failure has no cause')
        if (!up && reason === 'failure')
          sim.check(cause instanceof ActorInitializationError, `an actor that never came up ended with ${String(cause)}`)
      })
    }
    wait()
    sim.eventually('who waits for a start or an end is told', () => {
      const ended = sim.system.phaseOf(ref) === 'terminated'
      const arrived = up && !sim.tap.living.some((c) => c.ref === ref && c.phase === 'starting')
      return told === waits || (!ended && told >= (arrived ? waits / 2 : 0))
    })
    again.push(wait)
  }
  // One that needs no setup: there is nothing to run, and still somebody may wait.
  let plainStarts = 0
  let plainEnds = 0
  const plain = (): void => {
    const hears = sim.choose(2) === 1
    const behavior = hears
      ? receive<Life>(
          () => same,
          (_c, s) => {
            if (s.type === 'PreStart') plainStarts++
            if (s.type === 'PostStop') plainEnds++
            return same
          },
        )
      : receive<Life>(() => same)
    const ref = sim.system.spawn(behavior, { supervision: 'restart' })
    let told = false
    if (sim.choose(2) === 1)
      sim.system.started(ref).then(
        () => (told = true),
        () => (told = true),
      )
    else told = true
    if (sim.choose(3) === 1) sim.after(sim.choose(20), () => ref.stop())
    sim.eventually('who waits for an actor without a setup is told', () => told)
  }
  sim.eventually('whoever saw PreStart and is gone saw PostStop', () => sim.faulted || plainStarts >= plainEnds)
  let held = 0
  let released = 0
  let unwilling = 0
  const refs: ActorRef<Life>[] = []
  const again: (() => void)[] = []
  spawn('a')
  if (sim.choose(2) === 1) spawn('b')
  const kinds: readonly Life[] = ['work', 'fail', 'wait', 'become', 'become-later', 'fail-in-setup', 'nonsense', 'nonsense-later', 'end', 'handle']
  sim.plan(sim.int(1, 12), () => {
    const i = sim.choose(refs.length)
    const ref = refs[i]!
    switch (sim.choose(10)) {
      case 5:
        return again[i]!()
      case 6:
        return sim.after(sim.choose(60), () => ref.tell(sim.oneOf(kinds)))
      case 7:
        return sim.system.restart(ref)
      case 8:
        return sim.choose(2) === 0 ? ref.stop() : ref.stop({ after: 'queued' })
      case 9:
        return sim.choose(3) === 1 ? sim.system.kill(ref) : sim.after(sim.choose(40), () => sim.system.kill(ref))
      default:
        return ref.tell(sim.oneOf(kinds))
    }
  })
  if (sim.choose(3) === 1) plain()
  sim.eventually('what an incarnation held is let go with it, and the log says if it was unwilling', () => {
    const open = sim.tap.living.filter((c) => refs.includes(c.ref as never) && c.extras?.releases !== undefined).length
    return held - released === open && sim.tap.log.times('letting go of a resource failed') === unwilling
  })
  sim.eventually('as many lives are open as actors are up', () => {
    const live = sim.tap.living.filter((c) => refs.includes(c.ref as never) && (c.phase === 'running' || c.phase === 'suspended')).length
    const between = sim.tap.living.some((c) => refs.includes(c.ref as never) && c.phase !== 'running' && c.phase !== 'suspended')
    return sim.faulted || between || openLives === live
  })
}

export const startsAndStops: LibraryScenario = {
  name: 'starts and stops',
  about: 'starts and ends that wait, fail, are retried or never settle',
  run,
}
