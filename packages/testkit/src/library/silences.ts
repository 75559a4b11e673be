// Receive timeouts, to the millisecond: a silence begins when the last message is over, also behind an await; signals do
// not end it; one that was taken back or belongs to an earlier incarnation is never heard of.

import { type Behavior, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Talk = 'talk' | 'wait' | 'shorter' | 'longer' | 'off' | 'off-later' | 'fail' | 'grow' | 'self'

function run(sim: Simulation): void {
  const grown = receive<'end'>((c) => c.stop())
  let heard = 0
  let armed = false
  const listener: Behavior<Talk> = setup<Talk>((ctx) => {
    let ms: number | undefined = 30
    let since = sim.now
    armed = true
    ctx.setReceiveTimeout(ms)
    const set = (next: number | undefined): void => {
      ms = next
      armed = next !== undefined
      since = sim.now
      ctx.setReceiveTimeout(next ?? null)
    }
    return receive<Talk>(
      (c, m) => {
        since = sim.now
        const over = (): Behavior<Talk> => {
          since = sim.now
          return same
        }
        switch (m) {
          case 'talk':
            return same
          case 'self':
            c.self.tell('talk')
            return same
          case 'wait':
            return sim.delay().then(over)
          case 'shorter':
            set(12)
            return same
          case 'longer':
            set(60)
            return same
          case 'off':
            set(undefined)
            return same
          case 'off-later':
            return sim.delay(40).then(() => {
              if (!c.signal.aborted) set(undefined)
              return over()
            })
          case 'fail':
            throw new Error('listener')
          case 'grow': {
            const child = c.spawn(grown)
            c.watch(child)
            sim.after(sim.choose(25), () => child.tell('end'))
            return same
          }
        }
      },
      (_c, s) => {
        if (s.type !== 'ReceiveTimeout') return same
        heard++
        sim.check(ms !== undefined, 'a receive timeout came after it was taken back')
        const quiet = sim.now - since
        sim.check(sim.faulted || quiet === ms, `a receive timeout of ${String(ms)} ms came after ${quiet} ms of silence`)
        since = sim.now
        if (heard % 3 === 0) set(undefined)
        return same
      },
    )
  })
  const ref = sim.system.spawn(listener, { name: 'listener', supervision: 'restart', stopTimeout: 30 })
  const kinds: readonly Talk[] = ['talk', 'wait', 'grow', 'shorter', 'longer', 'self', 'off', 'fail', 'off-later']
  sim.plan(sim.int(1, 10), () => {
    const kind = sim.oneOf(kinds)
    if (sim.choose(2) === 0) sim.after(sim.choose(70), () => ref.tell(kind))
    else ref.tell(kind)
  })
  sim.eventually('silence is noticed until somebody takes it back', () => sim.faulted || sim.system.phaseOf(ref) !== 'running' || !armed)
}

export const silences: LibraryScenario = { name: 'silences', about: 'receive timeouts come when nobody spoke for so long, and not otherwise', run }
