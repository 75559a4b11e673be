// Actors whose ref outlives each of their lives, as that of a sharded actor does, as threads see them.

import { LastingCell, Lives, taken } from '@troupe/border'
import { type ActorRef, type AnyRef, ignore, receive } from '@troupe/core'
import { type BehaviorNode, coreOf, defaultOptions, LocalRef, type Meta } from '@troupe/core/internal'
import { simulate, type Simulation } from '@troupe/testkit/internal'
import { expect, test } from 'vitest'
import { SimThreads } from './sim/simulated-threads.ts'

/** Notes its messages and its watches; gives no credit back before `letGo`. */
class Lasting extends LastingCell {
  readonly log: string[] = []
  readonly #kept: Meta[] = []
  readonly #sim: Simulation
  #keeps = true
  readonly lives: Lives
  constructor(sim: Simulation) {
    const core = coreOf(sim.system)
    super(new LocalRef(undefined, 'lasting', core.nextUid()), core.dispatchers.fallback, defaultOptions, ignore as BehaviorNode)
    this.#sim = sim
    this.phase = 'running'
    this.lives = new Lives(this, {
      soon: (task) => core.runtime.wake(task),
      watch: () => {
        this.log.push('watched')
        return () => {}
      },
    })
  }
  letGo(): void {
    this.#keeps = false
    for (const meta of this.#kept.splice(0)) taken(meta)
  }
  override put(_message: unknown, meta: Meta): void {
    coreOf(this.#sim.system).ledger.handled++
    this.log.push('told')
    if (this.#keeps) this.#kept.push(meta)
    else taken(meta)
  }
  override rouse(): void {}
  override signal(): void {}
  override command(): void {}
}

const options = { places: true, duration: 600, grace: 1000, maxSteps: 40_000, faults: 'none' } as const
type Order = { readonly ref: AnyRef; readonly tell: number }

test('a watch from a thread does not overtake messages that wait for credit there', async () => {
  const messages = 60
  let waited = 0
  await simulate(
    (sim: Simulation) => {
      const threads = new SimThreads(sim, { size: 1, hangAfter: 1000, ringBytes: 16_384 })
      const teller = threads.define('teller', () =>
        receive<Order>((ctx, { ref, tell }) => {
          for (let n = 0; n < tell; n++) (ref as ActorRef<string>).tell('x'.repeat(50_000))
          ctx.watch(ref)
        }),
      )
      const lasting = new Lasting(sim)
      sim.system.spawn(teller(), { dispatcher: 'parallel' }).tell({ ref: lasting.ref, tell: messages })
      sim.after(300, () => {
        if (lasting.log.length < messages) waited++
        lasting.letGo()
      })
      sim.eventually('it is watched', () => lasting.log.includes('watched'))
      sim.eventually('all came before the watch', () => lasting.log.indexOf('watched') === messages)
    },
    { ...options, seeds: 5, name: 'watch behind credit' },
  )
  expect(waited).toBe(5)
})
