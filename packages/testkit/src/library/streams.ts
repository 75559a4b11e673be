// The event stream: subscribers that come, restart and go while events are published. In order, none twice, none to the dead.

import { type ActorRef, type Behavior, receive, same, setup, stopped, type Subscription } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Heard = { readonly type: 'news'; readonly n: number } | { readonly type: 'end' | 'fail' | 'wait' }

function run(sim: Simulation): void {
  const subscribers: { ref: ActorRef<Heard>; subscription: Subscription; seen: number[]; from: number; until: number }[] = []
  let published = 0
  const listener = (seen: number[]): Behavior<Heard> =>
    setup<Heard>(() =>
      receive<Heard>((_c, m) => {
        switch (m.type) {
          case 'news':
            sim.check(seen.length === 0 || seen[seen.length - 1]! < m.n, `news ${m.n} came after ${String(seen[seen.length - 1])}`)
            seen.push(m.n)
            return same
          case 'wait':
            return sim.delay().then(() => same)
          case 'fail':
            throw new Error('listener')
          case 'end':
            return stopped
        }
      }),
    )
  const join = (): void => {
    const seen: number[] = []
    const ref = sim.system.spawn(listener(seen), { supervision: sim.oneOf(['restart', 'resume', 'stop']), stopTimeout: 20 })
    subscribers.push({ ref, subscription: sim.system.events.subscribe(ref, 'news'), seen, from: published, until: Infinity })
  }
  const dead = new Set<number>()
  sim.system.events.listen((event) => {
    const { letter } = event as { letter: { message: unknown; recipient: unknown } }
    const news = letter.message as { type?: string; n?: number } | undefined
    if (news?.type === 'news') dead.add(news.n!)
  }, 'message.dead')
  const ended = new Set<unknown>()
  sim.system.events.listen((event) => {
    const { ref, to } = event as { ref: unknown; to: string }
    if (to === 'terminated') ended.add(ref)
  }, 'actor.phase')
  sim.eventually('whoever ended was seen to end', () => subscribers.every((s) => ended.has(s.ref) === (sim.system.phaseOf(s.ref) === 'terminated')))
  join()
  sim.plan(sim.int(2, 24), () => {
    const one = subscribers[sim.choose(subscribers.length)]!
    switch (sim.choose(9)) {
      case 1:
        return subscribers.length < 4 ? join() : undefined
      case 2:
        return one.ref.tell({ type: sim.oneOf(['end', 'fail', 'wait']) })
      case 3:
        one.until = Math.min(one.until, published)
        return one.subscription.cancel()
      case 4:
        return sim.choose(2) === 0 ? one.ref.stop() : sim.system.restart(one.ref)
      default: {
        const gone = subscribers.filter((s) => sim.system.phaseOf(s.ref) === 'terminated')
        const before = dead.size
        sim.system.events.publish({ type: 'news', n: published++ })
        sim.check(gone.length < subscribers.length || dead.size === before, 'news were sent to subscribers that had ended')
        sim.check(
          gone.every((s) => !s.subscription.active),
          'a subscription outlived its actor',
        )
        return undefined
      }
    }
  })
  sim.eventually('those who stayed heard everything since they joined', () =>
    subscribers.every((s) => {
      if (sim.faulted || sim.system.phaseOf(s.ref) !== 'running') return true
      const to = Math.min(s.until, published)
      return s.seen.length === to - s.from
    }),
  )
}

export const streams: LibraryScenario = { name: 'streams', about: 'subscribers come, restart and go while events are published', run }
