// A runtime on a clock of its own, for tests of who runs when: handlers say what they cost.

import { ActorSystem, ManualRuntime } from '@troupe/core'

/** Notes what ran in each stretch between two yields to the host. */
export class Watched extends ManualRuntime {
  readonly clock: { now: number }
  /** Handlers of each stretch. */
  readonly stretches: number[] = [0]
  /** Clock time of each stretch. */
  readonly lengths: number[] = []
  reads = 0
  enters = 0
  #began = 0
  constructor(clock = { now: 0 }) {
    super({ now: () => clock.now })
    this.clock = clock
  }
  override now(): number {
    this.reads++
    return super.now()
  }
  handled(ms = 0): void {
    this.stretches[this.stretches.length - 1]!++
    this.clock.now += ms
  }
  override enter(task: () => void): void {
    this.enters++
    this.stretches.push(0)
    this.#began = this.clock.now
    super.enter(task)
    this.lengths.push(this.clock.now - this.#began)
  }
}

export const watchedSystem = (options: Parameters<typeof ActorSystem.create>[1] = {}): { system: ActorSystem; runtime: Watched } => {
  const runtime = new Watched()
  return { system: ActorSystem.create('watched', { keepAlive: false, ...options, runtime }), runtime }
}
