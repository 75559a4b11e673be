// Actors as classes: state made by the constructor is fresh at each restart, calls are answered once, hooks come in order.

import { Actor, type ActorHandle } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

function run(sim: Simulation): void {
  let made = 0
  let open = 0
  class Account extends Actor {
    readonly life: number = ++made
    #balance = 0
    #hooks: string[] = []
    override onStart(): void {
      open++
      this.#hooks.push('start')
    }
    override onStarted(): void {
      sim.check(this.#hooks.join() === 'start', `onStarted came after ${this.#hooks.join()}`)
      this.#hooks.push('started')
    }
    override onStop(): void {
      open--
      sim.check(sim.faulted || this.#hooks[0] === 'start', 'onStop came without onStart')
    }
    override onError(cause: unknown): void {
      this.#hooks.push('error')
      if (String(cause).includes('twice')) throw new Error('in onError')
    }
    add(by: number): void {
      sim.check(this.#hooks.includes('started'), 'a call came before onStarted')
      this.#balance += by
    }
    get(): [life: number, balance: number] {
      return [this.life, this.#balance]
    }
    async slow(): Promise<number> {
      await sim.delay()
      return this.life
    }
    fail(how: 'once' | 'twice'): never {
      throw new Error(how)
    }
    async failLater(): Promise<never> {
      await sim.delay()
      throw new Error('later')
    }
  }
  const account: ActorHandle<Account> = sim.system.spawn(Account, {
    name: 'account',
    supervision: sim.oneOf(['restart', 'resume', 'stop'] as const),
    stopTimeout: 30,
  })
  const added: number[] = []
  let asked = 0
  let settled = 0
  const ask = (call: Promise<unknown>): void => {
    asked++
    call.then(
      () => settled++,
      () => settled++,
    )
  }
  sim.plan(sim.int(2, 20), (i) => {
    const { ask: asks, tell } = account.with({ timeout: 60 })
    switch (sim.choose(8)) {
      case 1:
        return ask(
          asks
            .get()
            .then(([life, balance]) =>
              sim.check(sim.faulted || balance <= added.reduce((a, b) => a + b, 0), `life ${life} has ${balance}, more than was ever added`),
            ),
        )
      case 2:
        return ask(asks.slow())
      case 3:
        return tell.fail(sim.oneOf(['once', 'twice']))
      case 4:
        return ask(asks.failLater())
      case 5:
        return sim.choose(3) === 1 ? sim.system.stop(account) : sim.system.restart(account)
      default:
        added.push(i)
        return tell.add(i)
    }
  })
  sim.eventually('every call that was asked is answered', () => asked === settled)
  sim.eventually('as many lives are open as there are actors', () => sim.faulted || open === (sim.system.phaseOf(account) === 'running' ? 1 : 0))
}

export const classActors: LibraryScenario = { name: 'class actors', about: 'constructors, hooks and calls of class actors under failure', run }
